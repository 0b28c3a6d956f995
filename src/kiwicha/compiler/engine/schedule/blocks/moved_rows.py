"""Rows of a tensor in a buffer, where these are not all of the tensor's bytes."""

from collections.abc import Iterator
from dataclasses import dataclass

from kiwicha.compiler.engine.ir.plan import BufferAddress, Transfer
from kiwicha.contract.cfu import ALIGNMENT_BYTES

__all__ = ["MovedRows", "pitch_of"]


def pitch_of(size: int, step: int) -> int:
    """Return how far apart pieces of a size lie in a buffer that are a step apart in DRAM.

    DRAM and scratchpad count bytes of their lines alike.
    """
    return size + (step - size) % ALIGNMENT_BYTES


@dataclass(frozen=True)
class MovedRows:
    """Pieces of a tensor, equally far apart: a transfer each, or one if there is nothing between.

    Parameters
    ----------
    first : int
        Their first byte in the tensor.
    step : int
        Bytes of the tensor from one of them to the next.
    bytes, count : int
        Of each, and how many they are.
    """

    first: int
    step: int
    bytes: int
    count: int

    @property
    def lead(self) -> int:
        """First byte in the buffer."""
        return self.first % ALIGNMENT_BYTES

    @property
    def pitch(self) -> int:
        """Bytes of the buffer from one of them to the next."""
        return pitch_of(self.bytes, self.step)

    @property
    def size(self) -> int:
        """Bytes of the buffer."""
        return self.lead + self.count * self.pitch

    def transfers(
        self, tensor: int, buffer: int, *, is_store: bool, place: int | None = None
    ) -> Iterator[Transfer]:
        """Yield what moves them, from or to a place in a buffer: its lead, if not given."""
        start = self.lead if place is None else place
        is_one = self.bytes == self.step
        for number in range(1 if is_one else self.count):
            yield Transfer(
                tensor=tensor,
                tensor_offset=self.first + number * self.step,
                bytes=self.count * self.bytes if is_one else self.bytes,
                address=BufferAddress(buffer, start + number * self.pitch),
                is_store=is_store,
            )

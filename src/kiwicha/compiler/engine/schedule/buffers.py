"""Events in one order, and the buffers of the scratchpad that they need."""

from kiwicha.compiler.engine.ir.plan import BufferAddress, Compute, Event, Transfer
from kiwicha.compiler.memory.placement import Buffer
from kiwicha.compiler.tflite.graph import NO_TENSOR
from kiwicha.contract.engine import READ_BYTES

__all__ = ["Builder"]


class Builder:
    """Events and the buffers they need."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._names: list[str] = []
        self._sizes: list[int] = []
        self._kept_until: dict[int, int] = {}
        self._fills: dict[int, int] = {}

    def buffer(self, name: str, size: int) -> int:
        """Return the number of a new buffer."""
        self._names.append(name)
        self._sizes.append(size)
        return len(self._names) - 1

    def add(self, event: Event) -> None:
        """Append an event."""
        self.events.append(event)
        for address, end in event.read_ends if isinstance(event, Compute) else ():
            self._sizes[address.buffer] = max(self._sizes[address.buffer], end)

    def fill(self, value: int) -> int:
        """Return the buffer of the equal bytes from which others are filled."""
        if value not in self._fills:
            buffer = self.buffer(f"bytes of {value}", READ_BYTES)
            self._fills[value] = buffer
            self.add(
                Transfer(
                    tensor=NO_TENSOR,
                    tensor_offset=0,
                    bytes=READ_BYTES,
                    address=BufferAddress(buffer),
                    is_store=False,
                    constant=bytes([value & 0xFF]) * READ_BYTES,
                )
            )
        return self._fills[value]

    def keep(self, buffer: int) -> None:
        """Let nothing that the last event needs take a buffer's place."""
        self._kept_until[buffer] = len(self.events) - 1

    def buffers(self) -> list[Buffer]:
        """Return all buffers with the first and last event that needs each."""
        first: dict[int, int] = {}
        last = dict(self._kept_until)
        for number, event in enumerate(self.events):
            for buffer in event.reads | event.writes:
                first.setdefault(buffer, number)
                last[buffer] = max(last.get(buffer, 0), number)
        return [
            Buffer(name, size, first[number], last[number])
            for number, (name, size) in enumerate(zip(self._names, self._sizes, strict=True))
        ]

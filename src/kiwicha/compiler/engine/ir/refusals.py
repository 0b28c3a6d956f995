"""Why something cannot be done by the engine: raised where that is found, and gathered."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

__all__ = ["BrokenLimitError", "RefusedError", "TooLongError", "Troubles"]


class BrokenLimitError(Exception):
    """A layer, in a form, breaks a limit of the engine.

    Parameters
    ----------
    why : str
        What it has, and what the engine takes: a predicate, such as "has 300 kernel rows".
    """

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class RefusedError(Exception):
    """An operation cannot be part of a region in its form.

    Parameters
    ----------
    position : int
        Of its layer.
    why : str
        What it has or needs, and what there is: a predicate, such as "needs 9,000 bytes".
    gaps : frozenset of int
        Tensors that cannot be in the arena because of gaps between their pixels, which may be why.
    """

    def __init__(self, position: int, why: str, gaps: Iterable[int] = ()) -> None:
        super().__init__(f"layer {position} {why}")
        self.position = position
        self.why = why
        self.gaps = frozenset(gaps)


class TooLongError(Exception):
    """A region must be cut; layers with which others can begin."""

    def __init__(self, positions: Sequence[int]) -> None:
        super().__init__(f"the region must be cut at layers {list(positions)}")
        self.positions = tuple(positions)


@dataclass(frozen=True)
class Troubles:
    """What a stage found that has to change before regions can become lists; false if nothing.

    Parameters
    ----------
    refusals : mapping of int to str
        Positions of operations that cannot stay as they are, and why: a predicate.
    cuts : frozenset of int
        Positions of layers at which further regions must begin, because regions are too long.
    gaps : frozenset of int
        Tensors between whose pixels there must be no gaps.
    """

    refusals: Mapping[int, str] = field(default_factory=dict)
    cuts: frozenset[int] = frozenset()
    gaps: frozenset[int] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.refusals or self.cuts or self.gaps)

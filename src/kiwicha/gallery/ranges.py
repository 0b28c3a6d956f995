"""Ranges of activations: measured in a first pass over an architecture, then fixed."""

__all__ = ["Range", "Ranges"]

Range = tuple[float, float]


class Ranges:
    """Ranges by number, in the order in which an architecture asks for them.

    While they are measured, each activation gets the range of its own sample, and some are joined:
    what CONCATENATION reads and writes has one scale in the file. Once they are settled, the same
    questions are answered with the joined ranges.
    """

    def __init__(self) -> None:
        self._measured: list[Range] = []
        self._parents: list[int] = []
        self._joined: list[Range] = []
        self._next = 0

    def take(self, low: float, high: float) -> tuple[int, Range]:
        """Return the number of the next activation and its range, which includes 0.

        Parameters
        ----------
        low, high : float
            Extremes of its sample.
        """
        number = self._next
        self._next += 1
        if self._joined:
            return number, self._joined[number]
        own = min(low, 0.0), max(high, 0.0)
        self._measured.append(own)
        self._parents.append(number)
        return number, own

    def join(self, first: int, second: int) -> None:
        """Give two activations one range."""
        self._parents[self._root(first)] = self._root(second)

    def include(self, number: int, low: float, high: float) -> None:
        """Make a range include these values, too; without effect once ranges are settled."""
        before = self._measured[number]
        self._measured[number] = min(low, before[0]), max(high, before[1])

    def settle(self) -> None:
        """End the pass; from now on ranges are the joined ones."""
        if not self._joined:
            joined: dict[int, Range] = {}
            for number, (low, high) in enumerate(self._measured):
                root = self._root(number)
                before = joined.get(root, (0.0, 0.0))
                joined[root] = min(low, before[0]), max(high, before[1])
            self._joined = [joined[self._root(number)] for number in range(len(self._measured))]
        self._next = 0

    def _root(self, number: int) -> int:
        while self._parents[number] != number:
            number = self._parents[number]
        return number

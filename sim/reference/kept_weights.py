"""The words of weights that an engine keeps from list to list."""

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.layout import Ref
from kiwicha.errors import ProgramError

__all__ = ["KeptWeights"]

Int8s = NDArray[np.int8]


class KeptWeights:
    """A ring of words, and the list that has written them.

    Parameters
    ----------
    size : int
        Words; 0 if the engine keeps none.

    Attributes
    ----------
    owner : Ref or None
        Image of the list that has ended last of those that keep words.
    """

    def __init__(self, size: int = 0) -> None:
        self.size = size
        self.owner: Ref | None = None
        self._words: dict[int, Int8s] = {}

    def write(self, first: int, words: Int8s) -> None:
        """Keep words, int8 [words, bytes], from a place on."""
        for number, word in enumerate(words):
            self._words[(first + number) % self.size] = word

    def read(self, first: int, count: int, word_bytes: int) -> Int8s:
        """Return so many words from a place on.

        Raises
        ------
        ProgramError
            If there is none of that size.
        """
        found = [self._words.get((first + number) % self.size) for number in range(count)]
        words = [word for word in found if word is not None and len(word) == word_bytes]
        if len(words) < count:
            raise ProgramError("weights must be loaded before a job that only holds them")
        return np.stack(words)

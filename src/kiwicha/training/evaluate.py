"""Accuracy of a .tflite file, measured with TensorFlow Lite Micro."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tflite_micro import runtime

__all__ = ["Confusion", "classify"]


@dataclass(frozen=True)
class Confusion:
    """How often which class was taken for which.

    Parameters
    ----------
    counts : numpy.ndarray
        int64 ``[classes, classes]``: row for the true class, column for the answer.
    """

    counts: NDArray[np.int64]

    @classmethod
    def of(cls, labels: NDArray[np.int64], answers: NDArray[np.int64]) -> "Confusion":
        """Count pairs of true class and answer, two classes."""
        counts = np.zeros((2, 2), np.int64)
        np.add.at(counts, (labels, answers), 1)
        return cls(counts)

    def __add__(self, other: "Confusion") -> "Confusion":
        """Join the counts of two sets."""
        return Confusion(self.counts + other.counts)

    def __str__(self) -> str:
        """Say the accuracy and all four counts in one line."""
        (true_no, false_yes), (false_no, true_yes) = self.counts.tolist()
        right, total = int(self.counts.trace()), int(self.counts.sum())
        return (
            f"{right}/{total} right ({right / total:.1%}); "
            f"faces: {true_yes} found, {false_no} missed; "
            f"non-faces: {true_no} rejected, {false_yes} taken for a face"
        )


def classify(model: bytes, pictures: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Classify pictures with TensorFlow Lite Micro.

    Parameters
    ----------
    model : bytes
        A .tflite file's content.
    pictures : numpy.ndarray
        uint8 ``[N, 96, 96]``.

    Returns
    -------
    numpy.ndarray
        int64 ``[N]``: the index of the greatest output.
    """
    interpreter = runtime.Interpreter.from_bytes(model)
    answers = []
    for picture in pictures:
        stored = (picture.astype(np.int16) - 128).astype(np.int8)
        interpreter.set_input(stored[None, :, :, None], 0)
        interpreter.invoke()
        answers.append(int(np.argmax(interpreter.get_output(0))))
    return np.array(answers, np.int64)

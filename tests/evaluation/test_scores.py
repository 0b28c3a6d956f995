"""What answers are worth."""

import numpy as np
import pytest

from kiwicha.evaluation.scores import TOP, Scores


def test_answers_are_counted_by_class() -> None:
    outputs = np.array([[5, 1, 0], [1, 5, 0], [0, 5, 1], [-128, -128, -127]], np.int8)
    scores = Scores.of(outputs, [0, 0, 1, 2])
    assert scores.confusion.tolist() == [[1, 1, 0], [0, 1, 0], [0, 0, 1]]
    assert (scores.examples, scores.correct, scores.accuracy) == (4, 3, 0.75)
    assert scores.confused(0) == (1, 1)
    assert scores.confused(1) is None


def test_of_equal_answers_the_first_counts() -> None:
    assert Scores.of(np.array([[7, 7]], np.uint8), [1]).correct == 0
    assert Scores.of(np.array([[7, 7]], np.uint8), [0]).correct == 1


@pytest.mark.parametrize("seed", range(5))
def test_the_first_few_hold_the_right_class(seed: int) -> None:
    rng = np.random.default_rng(seed)
    outputs = np.stack([rng.permutation(20) for _ in range(50)]).astype(np.int8)
    classes = rng.integers(0, 20, 50)
    # Of a permutation the value itself is the rank.
    wanted = sum(outputs[k, right] >= 20 - TOP for k, right in enumerate(classes))
    assert Scores.of(outputs, classes.tolist()).in_top == wanted

"""Fixtures of the engine's tests."""

import gc
import warnings
from collections.abc import Iterator

import pytest
from amaranth.hdl import UnusedElaboratable


@pytest.fixture(autouse=True)
def forgets_rejected_components() -> Iterator[None]:
    """Collect the components whose parameters were rejected: nobody could use them.

    A traceback keeps them alive until some later test, which Amaranth's warning would fail. What
    was there before a test is not looked through: that takes longer than most tests.
    """
    gc.freeze()
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnusedElaboratable)
        gc.collect()

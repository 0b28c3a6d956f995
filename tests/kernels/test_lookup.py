"""Look-ups of the reference against single values."""

import random

import numpy as np
import pytest

from kiwicha.contract.program import Kernel
from kiwicha.errors import ProgramError
from kiwicha.kernels.lookup import Lookup
from tests.support.programs.one_step import OneStep, int8s


@pytest.mark.parametrize("is_in_place", [False, True])
def test_lookup(is_in_place: bool) -> None:
    rng = random.Random(0)
    x, table = int8s(rng, 5, 70), int8s(rng, 256).tolist()
    build = OneStep()
    source = build.input(x)
    target = source if is_in_place else build.arena(x.size)
    p = Lookup(source, target, build.constant(table, np.int8))
    expected = [table[value & 0xFF] for value in x.reshape(-1).tolist()]
    assert build.run(Kernel.LOOKUP, p, (x.size,)).tolist() == expected


def test_lookup_of_another_size_is_refused() -> None:
    build = OneStep()
    x = int8s(random.Random(0), 8)
    p = Lookup(build.input(x), build.arena(7), build.constant(range(256), np.uint8))
    with pytest.raises(ProgramError, match="output must have an entry of the table"):
        build.run(Kernel.LOOKUP, p, (7,))

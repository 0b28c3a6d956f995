"""The prover itself: what is not so, or does not follow, is not proven."""

from pathlib import Path
from typing import Any

import pytest
from amaranth import Module
from amaranth.hdl import Assert
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from kiwicha.errors import SimulationError
from tests.support.gateware.proof import prove

pytestmark = pytest.mark.synth


class _Counter(wiring.Component):
    """Count to nine while enabled."""

    def __init__(self) -> None:
        super().__init__({"enable": In(1), "count": Out(4)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        with m.If(self.enable & (self.count != 9)):
            m.d.sync += self.count.eq(self.count + 1)
        return m


def _stays_below(component: _Counter, limit: int) -> Any:
    def rules(m: Module, submodules: Any) -> None:
        m.d.comb += Assert(component.count < limit)

    return rules


@pytest.mark.parametrize(
    ("limit", "steps", "is_inductive", "is_proven"),
    [
        (10, 2, True, True),
        (9, 5, False, True),
        (9, 11, False, False),
        (9, 2, True, False),
        # True, but 12 does not follow from 11, which is never reached.
        (12, 2, True, False),
    ],
)
def test_what_is_not_so_is_not_proven(
    tmp_path: Path, limit: int, steps: int, is_inductive: bool, is_proven: bool
) -> None:
    component = _Counter()
    rules = _stays_below(component, limit)
    if is_proven:
        prove(component, rules, tmp_path, steps=steps, is_inductive=is_inductive)
        return
    with pytest.raises(SimulationError, match=r"^not proven: the proof failed "):
        prove(component, rules, tmp_path, steps=steps, is_inductive=is_inductive)

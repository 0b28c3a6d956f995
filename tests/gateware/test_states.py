"""Names of states: those of the sources, also where a machine is reset from outside."""

import re
from pathlib import Path

import pytest

from kiwicha.contract.configs import CONFIGS, ENGINE_CONFIGS
from kiwicha.gateware import engine
from kiwicha.gateware.states import states


@pytest.mark.parametrize(
    ("path", "source", "first"),
    [
        ("cfu.engine.controller.sequencer", "control/sequencer.py", "STOPPED"),
        ("cfu.engine.controller.loader", "weights/weight_loader.py", "IDLE"),
        ("cfu.engine.controller.transfer_unit", "memory/transfer_unit.py", "WAIT"),
    ],
)
def test_states_are_those_of_the_source(path: str, source: str, first: str) -> None:
    names = states(ENGINE_CONFIGS["64"])[path]
    text = (Path(engine.__file__).parent / source).read_text(encoding="utf-8")
    assert sorted(names) == sorted(set(re.findall(r'm\.State\("(\w+)"\)', text)))
    # After a reset the register is 0.
    assert names[0] == first


def test_without_machines_there_are_no_states() -> None:
    assert all(path.startswith("cfu") for path in states(CONFIGS["simd"]))

"""Names of the custom function unit's functions."""

from kiwicha.contract import cfu
from kiwicha.contract.cfu import Group
from kiwicha.contract.engine import EngineOp
from kiwicha.sim.reference.function_names import function_names


def test_functions_have_the_names_of_the_contract() -> None:
    names = function_names()
    assert names[cfu.function_id(Group.MAC, 0, 6)] == "MAC pixel 1 lane 2"
    assert names[cfu.function_id(Group.ENGINE, EngineOp.WAIT)] == "ENGINE WAIT 0"
    assert max(names) < 1 << 10
    assert len(set(names.values())) == len(names)

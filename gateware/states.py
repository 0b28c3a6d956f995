"""The states of the CFU's state machines by name: for waveform viewers."""

from collections.abc import Iterator
from itertools import chain
from typing import Any

from amaranth.hdl import Fragment, Signal

from kiwicha.contract.configs import Config
from kiwicha.gateware.cfu import Cfu

__all__ = ["REGISTER", "states"]

REGISTER = "fsm_state"
"""Name of the register that holds a state."""


def states(config: Config) -> dict[str, list[str]]:
    """Return the names of the states of each component that has some, in the order of their codes.

    Parameters
    ----------
    config : Config
        What is built.

    Returns
    -------
    dict
        By path in the Verilog, from the instance ``cfu`` on; the register there is `REGISTER`.
    """
    found: dict[str, list[str]] = {}

    def visit(fragment: Any, path: str) -> None:
        for statement in chain.from_iterable(fragment.statements.values()):
            # A state machine is a choice on its register; resets around it leave that as it is.
            test = getattr(statement, "test", None)
            if isinstance(test, Signal) and test.name == REGISTER:
                found[path] = list(_names(test))
        for part, name, *_ in fragment.subfragments:
            visit(part, f"{path}.{name}")

    visit(Fragment.get(Cfu(config=config), None), "cfu")
    return found


def _names(register: Signal) -> Iterator[str]:
    for code in range(1 << len(register)):
        try:
            yield register.decoder(code).partition("/")[0]
        except KeyError:
            return

"""Which register resets what: the domain of the whole unit has no reset."""

from collections.abc import Iterator
from typing import Any

import pytest
from amaranth.hdl import Fragment, Signal

from kiwicha.contract.configs import find_config
from kiwicha.gateware.cfu import design

RESETS = {"reset", "clear", "clear_s1"}
"""Signals that reset; of them, what is a register has no reset or is reset by the others."""


def registers(fragment: Any, path: str) -> Iterator[tuple[str, list[Signal], set[str]]]:
    """Yield for each module its path, registers with a reset, and the names of what resets all."""
    statements = fragment.statements.get("sync", [])
    written = [
        signal
        for statement in statements
        for signal in statement._lhs_signals()
        if not signal.reset_less
    ]
    if written:
        resets = set()
        for statement in statements:
            name = getattr(getattr(statement, "test", None), "name", None)
            sets = {id(signal) for signal in statement._lhs_signals()}
            if name in RESETS and sets >= {id(signal) for signal in written}:
                resets.add(name)
        yield path, written, resets
    for part, name, *_ in fragment.subfragments:
        yield from registers(part, f"{path}.{name}")


@pytest.mark.parametrize("config", ["simd", "64", "64-depthwise"])
def test_a_register_resets_each_register(config: str) -> None:
    module, _ = design(find_config(config))
    seen = set()
    for path, written, resets in registers(Fragment.get(module, None), "top"):
        names = {signal.name for signal in written}
        if names <= RESETS:
            continue
        seen |= resets
        assert len(resets) == 1, f"{path}: {sorted(names)} are reset by {sorted(resets)}"
    assert seen == ({"reset"} if config == "simd" else RESETS)

"""Faults that are listed as equivalent: each is one of its module."""

import dataclasses

import pytest

from tools.mutation import equivalents
from tools.mutation.__main__ import source_of
from tools.mutation.equivalents import EQUIVALENTS, Equivalent, equivalent_faults
from tools.mutation.operators import mutants
from tools.mutation.targets import TARGETS

SOURCE = "x = 1 + 1\ny = 1\n"
ENTRY = Equivalent("a", "x = 1 + 1", "1 -> 2", "It is a test", 1)


@pytest.mark.parametrize("module", sorted({item.module for item in EQUIVALENTS}))
def test_each_is_a_fault_of_its_module(module: str) -> None:
    known = mutants(source_of(TARGETS[module]))
    entries = [item for item in EQUIVALENTS if item.module == module]
    # Two entries of one fault would be counted as one.
    assert list(equivalent_faults(module, known).values()) == entries
    assert all(item.reason for item in entries)


def test_a_fault_is_found_by_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(equivalents, "EQUIVALENTS", (ENTRY,))
    known = mutants(SOURCE)
    (number,) = equivalent_faults("a", known)
    assert "x = 1 + 2" in known[number].source
    assert not equivalent_faults("b", known)


@pytest.mark.parametrize("changes", [{"place": 2}, {"text": "y = 2"}, {"change": "1 -> 3"}])
def test_what_is_no_fault_is_refused(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, object]
) -> None:
    monkeypatch.setattr(equivalents, "EQUIVALENTS", (dataclasses.replace(ENTRY, **changes),))
    with pytest.raises(ValueError, match=r"must be one of its faults.*mend tools/mutation"):
        equivalent_faults("a", mutants(SOURCE))

"""Faults in C that are listed as equivalent: each is one of its file."""

import pytest

from kiwicha.firmware.sources import FOLDER
from tools.mutation import c_equivalents
from tools.mutation.c_equivalents import C_EQUIVALENTS, CEquivalent, equivalent_c_faults
from tools.mutation.c_operators import c_faults

SOURCE = "int f(int x) {\n    return x + 1 - 1;\n}\n"


@pytest.mark.parametrize("file", sorted({item.file for item in C_EQUIVALENTS}))
def test_each_is_a_fault_of_its_file(file: str) -> None:
    source = (FOLDER / "kernels" / file).read_text(encoding="utf-8")
    found = [
        *equivalent_c_faults(file, c_faults(source)).values(),
        *equivalent_c_faults(file, c_faults(source, of_checks=True)).values(),
    ]
    assert {*found} == {item for item in C_EQUIVALENTS if item.file == file}
    assert all(item.reason for item in found)


@pytest.mark.parametrize(("place", "count"), [(None, 2), (0, 1), (1, 1), (2, 0)])
def test_a_fault_is_found_by_its_place(
    monkeypatch: pytest.MonkeyPatch, place: int | None, count: int
) -> None:
    item = CEquivalent("f.c", "return x + 1 - 1;", "1 -> 2", "It is a test", place)
    monkeypatch.setattr(c_equivalents, "C_EQUIVALENTS", (item,))
    known = c_faults(SOURCE)
    found = equivalent_c_faults("f.c", known)
    assert len(found) == count
    texts = ("return x + 2 - 1;", "return x + 1 - 2;")
    if place is not None:
        assert all(texts[place] in known[number].source for number in found)
    assert not equivalent_c_faults("g.c", known)

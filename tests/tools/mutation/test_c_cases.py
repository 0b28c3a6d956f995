"""Programs that look for faults in C: what is written for them, and what is right."""

import dataclasses
import struct
from pathlib import Path

import pytest

from kiwicha.contract.cfu import Status
from kiwicha.errors import ToolError
from kiwicha.firmware.sources import FOLDER
from tests.support.programs.copies import copy_program
from tools.mutation.c_cases import CCase, are_right, write_cases
from tools.mutation.c_firmware import CFirmware
from tools.verification.c_programs import CONFIG

DATA = bytes(range(64))
GOOD = CCase(copy_program(CONFIG).to_bytes(), CONFIG.name, 1, [DATA], [DATA])


def test_a_case_is_its_sizes_and_its_parts() -> None:
    statuses = (Status.BAD_BOUNDS, Status.BAD_PARAMETERS)
    raw = CCase(b"program", "simd", 2, [b"a", b"bc"], [b"def"], statuses).pack()
    sizes = (int(statuses[0]), int(statuses[1]), 7, 3, 3, 2, 0, 0)
    assert struct.unpack("<8I", raw[:32]) == sizes
    assert raw[32:] == b"programabcdef"
    assert GOOD.pack()[24:28] == bytes([0xA5, 0, 0, 0])


@pytest.mark.nightly
def test_wrong_bytes_and_statuses_are_seen(tmp_path: Path) -> None:
    firmware, path = CFirmware(CONFIG, tmp_path / "firmware"), tmp_path / "cases"
    copy = FOLDER / "kernels" / "copy.c"
    source = copy.read_text(encoding="utf-8")
    assert firmware.has(copy)
    executable = firmware.build(copy, source)
    assert executable is not None
    broken = dataclasses.replace(GOOD, raw=GOOD.raw[:-4], statuses=(Status.BAD_BOUNDS,) * 2)
    for cases, expected in (
        ([GOOD, GOOD], True),
        ([GOOD, dataclasses.replace(GOOD, outputs=[DATA[:-1] + b"\0"])], False),
        ([GOOD, dataclasses.replace(GOOD, statuses=(Status.BAD_BOUNDS,) * 2)], False),
        ([dataclasses.replace(GOOD, statuses=(Status.BAD_BOUNDS, Status.OK)), GOOD], True),
        ([broken, GOOD], True),
    ):
        write_cases(cases, path)
        assert are_right(executable, path) == expected
    write_cases([GOOD], path)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ToolError, match="must be a file of cases"):
        are_right(executable, path)
    write_cases([GOOD], path)
    assert firmware.build(copy, "no C") is None
    nothing = source.replace("copy_line(p, output + to, input + from);", "")
    assert nothing != source
    executable = firmware.build(copy, nothing)
    assert executable is not None
    assert not are_right(executable, path)

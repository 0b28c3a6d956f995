"""The scratchpad: unaligned reads beside masked writes, on the cycle."""

import re
from pathlib import Path
from typing import Any

import pytest

from kiwicha.gateware.engine.memory.scratchpad import Scratchpad
from tests.support.choices import by_day
from tests.support.gateware import bench

TOP = "scratchpad"
BENCH = "tests.gateware.engine.memory.bench_scratchpad.random_accesses"


@pytest.mark.verilator
@pytest.mark.parametrize(
    ("size_bytes", "spans_lines", "has_second"),
    by_day(
        (7168, False, False),
        (8192, True, True),
        (8192, False, False),
        (7168, True, False),
        (7168, False, True),
    ),
)
def test_equals_an_array_of_bytes(
    tmp_path: Path, size_bytes: int, spans_lines: bool, has_second: bool
) -> None:
    scratchpad = Scratchpad(size_bytes=size_bytes, spans_lines=spans_lines, has_second=has_second)
    simulator = bench.build(bench.component_verilog(scratchpad, TOP), TOP)
    values = {"seed": size_bytes, "size_bytes": size_bytes, "count": 15_000}
    values |= {"spans_lines": spans_lines, "has_second": has_second}
    bench.run(simulator, TOP, BENCH, values, tmp_path)


@pytest.mark.parametrize("size_bytes", [0, -1024, 512, 3000, 512 * 1024, 65536.0, "64"])
def test_rejects_bad_size(size_bytes: Any) -> None:
    message = f"size_bytes must be a multiple of 1024 up to 262144, not {size_bytes!r}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        Scratchpad(size_bytes=size_bytes)

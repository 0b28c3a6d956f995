"""Sections about faults in netlists and in C say what is recorded."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tools.documents.c_faults_section import c_faults_section
from tools.documents.netlist_faults_section import netlist_faults_section
from tools.mutation.c_equivalents import C_EQUIVALENTS

RECORDS = Path("docs") / "results" / "verification"


def write(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def fault(module: str, signal: str, result: str) -> dict[str, Any]:
    return {"module": module, "signal": signal, "change": "inv", "result": result}


def test_netlists(tmp_path: Path) -> None:
    assert not [*netlist_faults_section(tmp_path)]
    port = "controller.port"
    rows = [
        fault(port, "turn[0]", "killed"),
        fault(f"{port}.tags", "level[1]", "survived"),
        fault(port, "takes[0]", "hangs"),
        fault(port, "is_last[0]", "equivalent"),
        fault("datapath", "is_busy[0]", "killed") | {"found_by": "tests/gateware/test_it.py"},
        fault("datapath", "done[0]", "killed") | {"found_by": "lists"},
    ]
    write(tmp_path / RECORDS / "netlist_faults" / "engine.jsonl", rows)
    write(tmp_path / RECORDS / "netlist_faults" / "Mac.jsonl", [fault("", "sum[3]", "killed")])
    lines = [*netlist_faults_section(tmp_path)]
    assert "| `controller.port` | 3 | 2 | 1 | 1 | 66% | 0 |" in lines
    assert "| all | 5 | 4 | 1 | 1 | 80% | 1 |" in lines
    assert "- `controller.port`: `tags.level[1]` inv" in lines
    assert "| `Mac` | `tests/gateware/instructions/test_mac.py` | 1 | 1 | 0 | 0 | 100% |" in lines


def test_c(tmp_path: Path) -> None:
    assert not [*c_faults_section(tmp_path)]
    rows = [
        {"file": name, "line": 3, "change": "1 -> 2", "result": result}
        for name, result in (
            ("add.c", "killed"),
            ("add.c", "killed"),
            ("mul.c", "survived"),
            ("mul.c", "broken"),
        )
    ]
    rows.append({**rows[0], "result": "equivalent"})
    write(tmp_path / RECORDS / "c_faults.jsonl", rows)
    text = "\n".join(c_faults_section(tmp_path))
    assert "| kernels | 2 | 3 | 2 | 1 | 1 | 66% |" in text
    assert "- `mul.c`, line 3: `1 -> 2`" in text
    assert "checks of parameters |" not in text
    checks = [{**rows[0], "file": "check.c", "line": 9, "result": "survived"}]
    write(tmp_path / RECORDS / "c_check_faults.jsonl", checks)
    text = "\n".join(c_faults_section(tmp_path))
    assert "| checks of parameters | 1 | 1 | 0 | 0 | 1 | 0% |" in text
    assert "- `check.c`, line 9: `1 -> 2`" in text
    for item in C_EQUIVALENTS:
        assert f"- `{item.file}`, in `{item.text}`: `{item.change}`: {item.reason}." in text

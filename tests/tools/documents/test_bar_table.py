"""The table of what models take at best."""

from kiwicha.contract.memories import MEMORIES
from tools.documents.bar_table import bar_table
from tools.results.bars import CYCLES


def test_the_fastest_run_stands_beside_the_aim() -> None:
    aim = CYCLES["kws"][64]
    slower = {"model": "kws", "config": "64", "cycles": 2 * aim}
    faster = {"model": "kws", "config": "64-depthwise", "cycles": aim * 3 // 4}
    other = {"model": "no model with an aim", "config": "64", "cycles": 1}
    slow_memory = {**faster, "cycles": 1, "memory": list(MEMORIES)[-1]}
    files = {"a.json": [slower, other, slow_memory], "b.json": [faster], "c.json": {"area": 1}}
    assert bar_table(files).splitlines() == [
        "| model | products | aim | cycles | of the aim | with |",
        "|---|---:|---:|---:|---:|---|",
        f"| kws | 64 | {aim:,} | {aim * 3 // 4:,} | 75.0 % | `64-depthwise` |",
    ]

"""Puts faults into the netlist of one component of a bench: a plugin of pytest."""

import json
import os
from pathlib import Path
from typing import Any

from tests.support.gateware import bench
from tools.mutation.netlist_faults import FaultyNetlist, faulty_netlist
from tools.yosys import component_rtlil

__all__ = ["CHOICE", "netlist_of"]

CHOICE = "KIWICHA_FAULTY_BENCH"
"""Environment variable: a JSON file, of what `tools.mutation.benches` has chosen."""
_usual = bench.component_verilog


def netlist_of(text: str, top: str, *, part: str, count: int, seed: int) -> FaultyNetlist:
    """Return a component with faults in all of it, or in a part; see `faulty_netlist`.

    Parameters
    ----------
    text, top, count, seed : str, str, int, int
        See `faulty_netlist`.
    part : str
        Name of a submodule; empty for all.
    """
    return faulty_netlist(
        text,
        top,
        lambda path: "" if not part or path.split(".")[0] == part else None,
        count=count,
        seed=seed,
    )


def component_verilog(component: Any, top: str) -> str:
    """Return the Verilog of a component; of the chosen one, with faults.

    Designs of its class are kept in the file in the order in which they are first asked for; one of
    them is chosen, and others are as they are.
    """
    path = Path(os.environ[CHOICE])
    choice = json.loads(path.read_text(encoding="utf-8"))
    if type(component).__name__ != choice["component"]:
        return _usual(component, top)
    text = component_rtlil(component, top)
    if text not in choice["designs"]:
        choice = choice | {"designs": [*choice["designs"], text], "top": top}
        path.write_text(json.dumps(choice), encoding="utf-8")
    if choice["designs"].index(text) != choice["number"]:
        return _usual(component, top)
    chosen = {name: choice[name] for name in ("part", "count", "seed")}
    return netlist_of(text, top, **chosen).verilog


if os.environ.get(CHOICE):
    bench.component_verilog = component_verilog

"""Whether a fault changes nothing that its component's ports show."""

import shutil
import subprocess
import tempfile
from pathlib import Path

from kiwicha.errors import ToolError
from tools.mutation.netlist_faults import Fault, FaultyNetlist
from tools.yosys import equality_script, run_yosys

__all__ = ["is_equivalent"]

_SECONDS = 60
_PREPARATIONS = (
    # Memories of one name stay whole: what is written to them is proven to be the same.
    "opt_clean",
    "memory_map; opt_clean",
    # Registers that keep their first value for ever, or that nothing reads, have no part in it.
    "memory_map; opt -full; opt_dff -sat -nodffe -nosdff; simplemap; opt_clean -purge",
)
"""Of both netlists; a proof behind any of them is one."""


def is_equivalent(netlist: FaultyNetlist, fault: Fault) -> bool:
    """Return whether the component is proven to compute the same with the fault.

    Parameters
    ----------
    netlist : FaultyNetlist
    fault : Fault
        One of its.
    """
    with tempfile.TemporaryDirectory(prefix="kiwicha-miter-") as name:
        # Yosys in WebAssembly sees its own folder, not all of the machine's.
        shutil.copy(netlist.good, Path(name) / "good.il")
        return any(_is_proven(fault, prepare, Path(name)) for prepare in _PREPARATIONS)


def _is_proven(fault: Fault, prepare: str, folder: Path) -> bool:
    module = fault.cell_module
    prepare = f"hierarchy -top {module}; flatten; {prepare}"
    script = "; ".join([
        f"read_rtlil good.il; {prepare}; rename {module} gold; design -stash gold",
        f"read_rtlil good.il; {fault.command}; {prepare}; rename {module} gate",
        "design -stash gate",
        equality_script(),
    ])
    try:
        run_yosys(["-p", script], folder, _SECONDS)
    except (ToolError, subprocess.TimeoutExpired):
        return False
    return True

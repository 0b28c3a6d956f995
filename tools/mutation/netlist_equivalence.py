"""Whether a fault changes nothing that its component's ports show."""

import shutil
import subprocess
import tempfile
from pathlib import Path

from kiwicha.errors import ToolError
from tools.mutation.netlist_faults import Fault, FaultyNetlist
from tools.yosys import equality_script, run_yosys

__all__ = ["is_equivalent"]

_SECONDS = 30


def is_equivalent(netlist: FaultyNetlist, fault: Fault) -> bool:
    """Return whether the component is proven to compute the same with the fault.

    Parameters
    ----------
    netlist : FaultyNetlist
    fault : Fault
        One of its.
    """
    module = fault.cell_module
    prepare = f"hierarchy -top {module}; flatten; memory_map; opt_clean"
    script = "; ".join([
        f"read_rtlil good.il; {prepare}; rename {module} gold; design -stash gold",
        f"read_rtlil good.il; {fault.command}; {prepare}; rename {module} gate",
        "design -stash gate",
        equality_script(),
    ])
    with tempfile.TemporaryDirectory(prefix="kiwicha-miter-") as name:
        # Yosys in WebAssembly sees its own folder, not all of the machine's.
        shutil.copy(netlist.good, Path(name) / "good.il")
        try:
            run_yosys(["-p", script], Path(name), _SECONDS)
        except (ToolError, subprocess.TimeoutExpired):
            return False
    return True

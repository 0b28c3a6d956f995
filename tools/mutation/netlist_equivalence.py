"""Whether a fault changes nothing that its component's ports show."""

import shutil
import subprocess
import tempfile
from pathlib import Path

from kiwicha.errors import ToolError
from tools.mutation.netlist_faults import Fault, FaultyNetlist, run_yosys

__all__ = ["is_equivalent"]

_SECONDS = 30
_STEPS = 4


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
        "design -stash gate; design -copy-from gold gold; design -copy-from gate gate",
        # Registers of one name are taken for the same, and proven to be.
        "equiv_make gold gate both; hierarchy -top both; opt_clean",
        f"equiv_simple -seq {_STEPS}; equiv_induct -seq {_STEPS}; equiv_status -assert",
    ])
    with tempfile.TemporaryDirectory(prefix="kiwicha-miter-") as name:
        # Yosys in WebAssembly sees its own folder, not all of the machine's.
        shutil.copy(netlist.good, Path(name) / "good.il")
        try:
            run_yosys(["-q", "-p", script], Path(name), _SECONDS)
        except (ToolError, subprocess.TimeoutExpired):
            return False
    return True

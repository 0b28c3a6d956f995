"""First values of registers in netlists with faults."""

from typing import Any

from tools.verification.nets import Nets

__all__ = ["keep_first_values"]


def keep_first_values(netlist: dict[str, Any], good: dict[str, Any]) -> None:
    """Let registers start as without faults.

    Yosys knows first values by the names of wires: ``mutate`` takes them away from a register
    behind whose output it puts a fault.

    Parameters
    ----------
    netlist, good : dict
        The module with and without faults, as Yosys writes it in JSON. The first one is changed.
    """
    values = Nets(good).first
    for word in netlist["netnames"].values():
        word["attributes"].pop("init", None)
    for name, cell in good["cells"].items():
        outputs = cell["connections"].get("Q")
        other = netlist["cells"].get(name)
        if outputs is None or other is None:
            continue
        init = "".join(values.get(bit, "x") for bit in reversed(outputs))
        netlist["netnames"][f"first_of_{name}"] = {
            "hide_name": 0,
            "bits": other["connections"]["Q"],
            "attributes": {"init": init},
        }

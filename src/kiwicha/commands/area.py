"""``kiwicha area``: what the CFU takes of an FPGA."""

from typing import Annotated

import typer

from kiwicha.boards.family import Family
from kiwicha.commands.options import BuildConfig
from kiwicha.errors import UsageError

__all__ = ["area"]

_TOP = "Cfu"


def area(
    config: BuildConfig = "simd",
    family: Annotated[Family, typer.Option(help="Xilinx 7 series, or Lattice ECP5.")] = Family.XC7,
    json: Annotated[str | None, typer.Option(help="Receives the counts; - is stdout.")] = None,
) -> None:
    """Synthesise the CFU for an FPGA family and count LUT, FF, DSP and block RAM by module."""
    from rich.table import Table

    from kiwicha.boards.capacity import refusal
    from kiwicha.commands import console
    from kiwicha.contract.configs import CONFIGS, ENGINE_CONFIGS, find_config

    console.require_writable(json)
    hardware = find_config(config)
    reason = refusal(family, hardware)
    if reason or not hardware.has_simd:
        known = (CONFIGS | ENGINE_CONFIGS).values()
        fitting = [one.name for one in known if one.has_simd and not refusal(family, one)]
        what = f"one for {family.value}" if reason else "one with a CFU"
        text = f"config must be {what} ({' or '.join(fitting)}), not {config!r}"
        raise UsageError(f"{text}: {reason}" if reason else text)

    from kiwicha.boards.flow import yowasp
    from kiwicha.boards.flow.fingerprint import core_fingerprint
    from kiwicha.boards.flow.synthesis import VENDORS, core_utilization
    from kiwicha.gateware.cfu import verilog

    versions = yowasp.require(yowasp.YOSYS)
    with console.display() as show:
        show.stage(f"synthesising the CFU of {config}")
        design = verilog(hardware, VENDORS[family])
        resources, modules, seconds = core_utilization(design, _TOP, family)
    # Cells keep the name of their module where optimization does not join modules.
    modules = {name: counts for name, counts in modules.items() if any(counts.values())}
    if json is not None:
        found = {
            "config": config,
            "family": family.value,
            "versions": versions,
            "inputs": core_fingerprint(hardware, _TOP, family),
            "seconds": round(seconds),
            "resources": resources,
            "modules": modules,
        }
        console.write_json(json, found)
    if json != console.STDOUT:
        table = Table(title=f"CFU of {config} on {family.value}")
        table.add_column("module")
        for name in resources:
            table.add_column(name, justify="right")
        for module, counts in modules.items():
            table.add_row(module, *(f"{count:,g}" for count in counts.values()))
        table.add_section()
        table.add_row("all", *(f"{count:,g}" for count in resources.values()))
        console.stdout().print(table)

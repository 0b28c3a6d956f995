"""``kiwicha area``: what the CFU takes of an FPGA."""

from typing import Annotated

import typer

from kiwicha.errors import UsageError

__all__ = ["area"]

_TOP = "Cfu"
_FAMILY = "xc7"


def area(
    config: Annotated[str, typer.Option(help="A configuration with a CFU.")] = "simd",
    json: Annotated[str | None, typer.Option(help="Receives the counts; - is stdout.")] = None,
) -> None:
    """Synthesise the CFU for Xilinx 7 series and count LUT, FF, DSP and block RAM by module."""
    from rich.table import Table

    from kiwicha.commands import console
    from kiwicha.configs import find_config
    from kiwicha.isa import CONFIGS, ENGINE_CONFIGS

    console.require_writable(json)
    hardware = find_config(config)
    if not hardware.has_simd:
        with_cfu = " or ".join(
            name for name, known in (CONFIGS | ENGINE_CONFIGS).items() if known.has_simd
        )
        raise UsageError(f"config must be one with a CFU ({with_cfu}), not {config!r}")

    from kiwicha.boards import yowasp
    from kiwicha.boards.synthesis import synth_xilinx_utilization, xilinx_fingerprint
    from kiwicha.gateware.cfu import verilog
    from kiwicha.gateware.engine.multiply_accumulate import Vendor

    versions = yowasp.require(yowasp.YOSYS)
    with console.display() as show:
        show.stage(f"synthesising the CFU of {config}")
        design = verilog(hardware, Vendor.XILINX7)
        resources, modules = synth_xilinx_utilization(design, _TOP)
    # Cells keep the name of their module where optimization does not join modules.
    modules = {name: counts for name, counts in modules.items() if any(counts.values())}
    if json is not None:
        found = {
            "config": config,
            "family": _FAMILY,
            "versions": versions,
            "inputs": xilinx_fingerprint(design, _TOP),
            "resources": resources,
            "modules": modules,
        }
        console.write_json(json, found)
    if json != console.STDOUT:
        table = Table(title=f"CFU of {config}, synth_xilinx -family {_FAMILY}")
        table.add_column("module")
        for name in resources:
            table.add_column(name, justify="right")
        for module, counts in modules.items():
            table.add_row(module, *(f"{count:,g}" for count in counts.values()))
        table.add_section()
        table.add_row("all", *(f"{count:,g}" for count in resources.values()))
        console.stdout().print(table)

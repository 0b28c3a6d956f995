"""Options that several commands have."""

from typing import Annotated

import typer

from kiwicha.contract.configs import CONFIG_HELP
from kiwicha.contract.detect import Detect
from kiwicha.contract.goal import Goal

__all__ = ["BoardName", "ConfigName", "DetectBy", "Eliminate", "Optimize"]

ConfigName = Annotated[str, typer.Option("--config", help=CONFIG_HELP)]
BoardName = Annotated[
    str | None,
    typer.Option(
        "--board", help="Compile for a board's memory, and simulate that; by default Arty A7's."
    ),
]
Optimize = Annotated[
    Goal,
    typer.Option(
        "--optimize",
        help="With an engine: code weights where that costs no cycles, or wherever it saves bytes.",
    ),
]
Eliminate = Annotated[
    bool,
    typer.Option(
        "--eliminate/--no-eliminate", help="With an engine: remove channels that are constant."
    ),
]
DetectBy = Annotated[
    Detect,
    typer.Option(
        "--detect",
        help="Of a detector: make boxes on the host, or on the device, as part of the Program.",
    ),
]

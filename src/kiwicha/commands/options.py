"""Options that several commands have."""

from typing import Annotated

import typer

from kiwicha.boards.memories import BOARD_MEMORIES
from kiwicha.commands import completion
from kiwicha.contract.configs import CONFIG_HELP
from kiwicha.contract.detect import Detect
from kiwicha.contract.goal import Goal

__all__ = [
    "BoardName",
    "BuildConfig",
    "BuiltBoard",
    "ConfigName",
    "ConfigNames",
    "DetectBy",
    "Eliminate",
    "ModelName",
    "ModelNames",
    "Optimize",
]

ModelName = Annotated[
    str,
    typer.Argument(
        help="A .tflite or .onnx file, a name of the zoo or gallery, or demo.",
        autocompletion=completion.models,
    ),
]
ModelNames = Annotated[
    list[str],
    typer.Argument(help="Models; all of them count equally.", autocompletion=completion.models),
]
ConfigName = Annotated[
    str, typer.Option("--config", help=CONFIG_HELP, autocompletion=completion.configs)
]
ConfigNames = Annotated[
    str,
    typer.Option(
        "--config",
        metavar="C,C,...",
        help=f"Configurations, comma separated: {CONFIG_HELP}",
        autocompletion=completion.configs,
    ),
]
BuildConfig = Annotated[
    str,
    typer.Option("--config", help="A configuration with a CFU.", autocompletion=completion.configs),
]
BuiltBoard = Annotated[
    str,
    typer.Argument(help=f"One of {', '.join(BOARD_MEMORIES)}.", autocompletion=completion.boards),
]
BoardName = Annotated[
    str | None,
    typer.Option(
        "--board",
        help="Compile for a board's memory, and simulate that; by default Arty A7's.",
        autocompletion=completion.boards,
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

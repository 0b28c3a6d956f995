"""Hashes of what resources and clock of a design depend on, besides the tools' versions."""

from collections.abc import Mapping

from kiwicha import cache
from kiwicha.boards.board import Board
from kiwicha.boards.family import Family
from kiwicha.boards.flow.place_and_route import arguments
from kiwicha.boards.flow.synthesis import CORE_SOURCE, VENDORS, script
from kiwicha.boards.flow.system import CONSTRAINTS, SOURCES, TOP
from kiwicha.contract.configs import Config
from kiwicha.sim.soc.hardware_hash import cfu_hash, verilog_hash

__all__ = ["core_fingerprint", "options_hash", "system_fingerprint"]

_CFU = "cfu.v"


def core_fingerprint(config: Config, top: str, family: Family) -> dict[str, str]:
    """Return hashes of what the resources of a CFU alone depend on.

    Parameters
    ----------
    config : Config
        What it has.
    top : str
        Its top module.
    family : Family
        What it is made of.

    Returns
    -------
    dict
        ``hardware``: its netlist, names aside; ``options``: the commands of the synthesis.
    """
    commands = script([CORE_SOURCE], top=top, family=family, has_pads=False)
    return {"hardware": cfu_hash(config, VENDORS[family]), "options": cache.digest([commands])}


def system_fingerprint(
    board: Board, config: Config, files: Mapping[str, bytes], *, speed_grade: int | None = None
) -> dict[str, str]:
    """Return hashes of what resources and clock of a board's system depend on.

    Parameters
    ----------
    board : Board
        Where it runs.
    config : Config
        What the CFU has.
    files : mapping
        Contents of the system's files by name: `SOURCES` and constraints count. What the on-chip
        memory holds changes the bitstream and neither resources nor clock.
    speed_grade : int or None
        On ECP5, another than the part's, for its timing.

    Returns
    -------
    dict
        ``hardware``: the netlist of the CFU and the Verilog of the rest, names aside; ``pins``: the
        constraints; ``options``: commands of the synthesis and arguments of place and route.
    """
    texts = {name: files[name].decode() for name in SOURCES if name != _CFU}
    cfu = cfu_hash(config, VENDORS[board.family])
    return {
        "hardware": cache.digest([cfu, verilog_hash(texts)]),
        "pins": cache.digest([files[CONSTRAINTS[board.family]]]),
        "options": options_hash(board, SOURCES, speed_grade),
    }


def options_hash(board: Board, sources: tuple[str, ...], speed_grade: int | None = None) -> str:
    """Return a hash of the commands of a synthesis and the arguments of place and route.

    Parameters
    ----------
    board : Board
        Where the design runs.
    sources : tuple of str
        Names of its Verilog files.
    speed_grade : int or None
        On ECP5, another than the part's, for its timing.
    """
    words = [script(sources, top=TOP, family=board.family)]
    if board.family is Family.ECP5:
        words += arguments(board.part, speed_grade)
    return cache.digest(words)

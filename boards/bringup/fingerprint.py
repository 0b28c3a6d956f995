"""Hashes of what resources and clock of a bring-up design depend on, besides tools' versions."""

from collections.abc import Mapping

from kiwicha import cache
from kiwicha.boards.board import Board
from kiwicha.boards.bringup.top import SOURCE, bring_up_rtlil
from kiwicha.boards.flow.fingerprint import options_hash
from kiwicha.boards.flow.system import CONSTRAINTS
from kiwicha.contract.configs import Config
from kiwicha.gateware.netlist_hash import netlist_hash

__all__ = ["bring_up_fingerprint"]


def bring_up_fingerprint(
    board: Board, config: Config, files: Mapping[str, bytes], *, baud: int
) -> dict[str, str]:
    """Return hashes of what resources and clock of a bring-up design depend on.

    Parameters
    ----------
    board, config, baud
        As for `kiwicha.boards.bringup.top.bring_up_files`.
    files : mapping
        What that function returned: constraints count.

    Returns
    -------
    dict
        As `kiwicha.boards.flow.fingerprint.system_fingerprint` does.
    """
    return {
        "hardware": netlist_hash(bring_up_rtlil(board, config, baud)),
        "pins": cache.digest([files[CONSTRAINTS[board.family]]]),
        "options": options_hash(board, (SOURCE,)),
    }

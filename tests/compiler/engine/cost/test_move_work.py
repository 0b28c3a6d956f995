"""Predicted cycles of MOVE jobs: each line that a piece touches, and a list without weights."""

import dataclasses

import numpy as np
import pytest

from kiwicha.compiler.engine.cost.cycles import predict_list
from kiwicha.compiler.engine.cost.move_work import move_cycles, move_lines
from kiwicha.contract.engine import LINE_BYTES, TRANSFER_FLAG, EngineTransfer
from kiwicha.contract.latencies import MOVE_DRAIN_CYCLES, MOVE_START_CYCLES
from tests.gateware.engine.move_jobs import Move, move_job, random_move

LOADED = 28 + 4096 / 14.2
"""Cycles of a load of 4 KiB, roughly."""


@pytest.mark.parametrize("seed", range(40))
def test_lines_are_those_of_each_piece(seed: int) -> None:
    rng = np.random.default_rng(seed)
    move, target = random_move(rng), int(rng.integers(200))
    lines = 0
    for _, place in move.pieces():
        octets = range(target + place, target + place + move.piece)
        lines += len({octet // LINE_BYTES for octet in octets})
    assert move_lines(move_job(move, 0, target)) == lines


def test_a_list_of_moves_needs_no_weights() -> None:
    move = move_job(Move((1, 1, 8, 16), (0, 0, 256, 16), (0, 0, 128, 16), 16), 0, 4096)
    transfers = [
        EngineTransfer(0, 0, 4096, 0, 0),
        EngineTransfer(8192, 4096, 1024 | TRANSFER_FLAG, 2, 0),
    ]
    total, (first, second) = predict_list([move, move], transfers, 64)
    least = move_cycles(move) + MOVE_START_CYCLES + MOVE_DRAIN_CYCLES
    assert move_cycles(move) == 128
    assert least <= first.end - first.start <= least + 10
    assert second.start == first.end
    assert (first.moves, first.busy, first.weights, first.bound) == (128, 0, 0, "moves")
    assert total > second.end
    waiting = dataclasses.replace(move, wait_transfers=1)
    _, (late, _) = predict_list([waiting, move], transfers, 64)
    assert late.transfers > LOADED - 10
    assert late.bound == "transfers"

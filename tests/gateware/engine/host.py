"""The CPU's side of the engine in cocotb: a script of instructions."""

import random
from collections.abc import Generator
from typing import Any

from kiwicha.contract.engine import EngineOp

__all__ = ["Command", "EngineHost", "Script"]

Command = tuple[EngineOp, int, int, int]
"""Op, index, inputs_0, inputs_1."""
Script = Generator[Command, int, None]
"""Yields instructions, receives their answers."""


class EngineHost:
    """Driver of ``commands`` and ``responses`` that executes a script.

    Parameters
    ----------
    dut : cocotb handle
    script : Script
    rng : random.Random
    stall : float
        Share of the cycles, 0 to 1, in which neither side moves.
    """

    def __init__(self, dut: Any, script: Script, rng: random.Random, stall: float) -> None:
        self.dut, self.script, self.rng, self.stall = dut, script, rng, stall
        self.is_done = False
        self.cycle = 0
        self._waits_response = False
        self._offers = False
        self._command: Command | None = next(script)

    def drive(self) -> None:
        """Offer the command, then be ready for its response."""
        dut, rng = self.dut, self.rng
        moves = rng.random() >= self.stall
        if not self._offers:
            self._offers = self._command is not None and not self._waits_response and moves
        payload = rng.getrandbits(len(dut.commands__payload))
        if self._offers and self._command is not None:
            op, index, inputs_0, inputs_1 = self._command
            payload = op | index << 3 | inputs_0 << 7 | inputs_1 << 39
        dut.commands__valid.value = int(self._offers)
        dut.commands__payload.value = payload
        self._is_ready = moves
        dut.responses__ready.value = int(moves)

    def sample(self, cycle: int) -> None:
        """Go on with the script when a response comes."""
        self.cycle = cycle
        dut = self.dut
        has_response = bool(int(dut.responses__valid.value))
        assert self._waits_response or not has_response, "a response without a command"
        if self._offers and int(dut.commands__ready.value):
            self._offers, self._waits_response = False, True
        elif has_response and self._is_ready:
            self._waits_response = False
            try:
                self._command = self.script.send(int(dut.responses__payload.value))
            except StopIteration:
                self._command, self.is_done = None, True

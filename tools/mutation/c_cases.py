"""Programs for faults in C: good ones with their outputs, and bad ones with their status."""

import dataclasses
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kiwicha.contract.cfu import Status
from kiwicha.errors import ToolError
from kiwicha.firmware.native import run_native
from kiwicha.kernels.element_types import numpy_type
from kiwicha.sim.reference.executor import Session
from tests.support.programs.broken_parameters import broken_programs
from tools.verification.c_programs import CProgram, c_programs

__all__ = ["CCase", "bad_cases", "good_cases"]

_SECONDS = 10.0
"""What a Program may take, many times as long as without a fault."""


@dataclass(frozen=True)
class CCase:
    """A Program, its inputs, and what it must come to.

    Parameters
    ----------
    raw : bytes
        The Program.
    config : str
        Name of its configuration.
    inputs, outputs : sequence of bytes
        Of all inferences.
    statuses : tuple of Status
        The firmware's answer: one of these.
    """

    raw: bytes
    config: str
    inputs: Sequence[bytes] = ()
    outputs: tuple[bytes, ...] = ()
    statuses: tuple[Status, ...] = (Status.OK,)

    def is_right(self, executable: Path) -> bool:
        """Whether it comes to what it must."""
        try:
            found = run_native(
                executable,
                self.raw,
                self.inputs,
                outputs=len(self.outputs),
                timeout_seconds=_SECONDS,
            )
        except (ToolError, subprocess.TimeoutExpired):
            return False
        return found.status in self.statuses and found.outputs == self.outputs


def good_cases(*, seeds: int, steps: int) -> Iterator[CCase]:
    """Give Programs with the outputs of the reference executor.

    Parameters
    ----------
    seeds, steps : int
        As for `c_programs`.
    """
    return map(_good, c_programs(seeds=seeds, steps=steps))


def _good(item: CProgram) -> CCase:
    program, session = item.program, Session(item.program)
    outputs: list[bytes] = []
    for one in item.sets:
        arrays = [
            np.frombuffer(raw, numpy_type(tensor.dtype)).reshape(tensor.shape)
            for raw, tensor in zip(one, program.inputs, strict=True)
        ]
        outputs += [output.tobytes() for output in session.run(arrays)]
    return CCase(program.to_bytes(), program.config.name, item.inputs, tuple(outputs))


def bad_cases() -> Iterator[CCase]:
    """Give Programs that are refused, with the status that tests of the firmware ask for."""
    for item in broken_programs():
        program = dataclasses.replace(item.program, inputs=(), outputs=())
        statuses = (item.status, item.other)
        yield CCase(program.to_bytes(), program.config.name, statuses=statuses)

"""Programs for faults in C: good ones with their outputs, and bad ones with their status."""

import dataclasses
import resource
import struct
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kiwicha.contract.cfu import Status
from kiwicha.errors import ToolError
from kiwicha.kernels.element_types import numpy_type
from kiwicha.sim.reference.executor import Session
from tests.support.programs.broken_parameters import broken_programs
from tools.verification.c_programs import CProgram, c_programs

__all__ = ["CCase", "are_right", "bad_cases", "good_cases", "write_cases"]

_SECONDS = 30
"""Of processor time, what all Programs may take: many times as long as without a fault."""
_EXIT_USAGE = 64
_POISON = 0xA5


@dataclass(frozen=True)
class CCase:
    """A Program, its inputs, and what it must come to.

    Parameters
    ----------
    raw : bytes
        The Program.
    config : str
        Name of its configuration.
    inferences : int
        How many there are.
    inputs, outputs : sequence of bytes
        Of all inferences.
    statuses : tuple of Status
        The firmware's answer: one of these two.
    """

    raw: bytes
    config: str
    inferences: int = 1
    inputs: Sequence[bytes] = ()
    outputs: Sequence[bytes] = ()
    statuses: tuple[Status, Status] = (Status.OK, Status.OK)

    def pack(self) -> bytes:
        """Return it as ``c_cases.c`` reads it."""
        inputs, outputs = b"".join(self.inputs), b"".join(self.outputs)
        # Of zeros any check that follows a missing one may pass.
        fill = _POISON if Status.OK in self.statuses else 0
        sizes = (len(self.raw), len(inputs), len(outputs), self.inferences, fill, 0)
        head = struct.pack("<8I", *(int(status) for status in self.statuses), *sizes)
        return head + self.raw + inputs + outputs


def write_cases(cases: Iterable[CCase], path: Path) -> None:
    """Write cases to a file."""
    path.write_bytes(b"".join(case.pack() for case in cases))


def are_right(executable: Path, cases: Path) -> bool:
    """Whether all Programs of a file come to what they must, in time and without a finding.

    Parameters
    ----------
    executable : Path
        The firmware with ``c_cases.c``.
    cases : Path
        Of `write_cases`.

    Raises
    ------
    ToolError
        If the file cannot be read.
    """

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    done = subprocess.run(
        [str(executable), str(cases)], capture_output=True, check=False, preexec_fn=limit
    )
    if done.returncode == _EXIT_USAGE:
        raise ToolError(f"{cases} must be a file of cases")
    return not done.returncode


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
    count = len(item.sets)
    return CCase(program.to_bytes(), program.config.name, count, item.inputs, outputs)


def bad_cases() -> Iterator[CCase]:
    """Give Programs that are refused, with the status that tests of the firmware ask for."""
    for item in broken_programs():
        program = dataclasses.replace(item.program, inputs=(), outputs=())
        statuses = (item.status, item.other)
        yield CCase(program.to_bytes(), program.config.name, statuses=statuses)

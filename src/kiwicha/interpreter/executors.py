"""What can execute the model of an interpreter."""

import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kiwicha.firmware.native_library import NativeModel
from kiwicha.program.image import Program
from kiwicha.program.parts import IoTensor
from kiwicha.sim.reference import executor as reference
from kiwicha.sim.verilator.program_run import SimulatedRun, run_program

__all__ = ["TARGETS", "Arrays", "Executor", "executor_of", "numpy_type"]

TARGETS = ("native", "reference", "sim")
"""What can execute a model: our C kernels on this machine, numpy, or the simulated system on chip.

All give the same bytes."""
_LOG = logging.getLogger(__name__)
Arrays = list[NDArray[Any]]
"""Inputs or outputs of one inference, in the model's order."""


class Executor(Protocol):
    """Executes a model, and keeps what the model keeps between inferences.

    Attributes
    ----------
    cycles : int or None
        Of the last inference; None where cycles are not counted.
    result : SimulatedRun or None
        Of the last simulation; None if there was none.
    """

    cycles: int | None
    result: SimulatedRun | None

    def prepare(self) -> None:
        """Build what takes a moment."""

    def reset(self) -> None:
        """Give what the model keeps between inferences its first values."""

    def run(self, sets: Sequence[Arrays]) -> list[Arrays]:
        """Return the outputs of each set of inputs; a model with states takes one set."""


class Reference:
    """The Program in numpy, step by step."""

    cycles: int | None = None
    result: SimulatedRun | None = None

    def __init__(self, program: Program) -> None:
        self._session = reference.Session(program)

    def prepare(self) -> None:
        """Do nothing."""

    def reset(self) -> None:
        """Give what the model keeps between inferences its first values."""
        self._session.reset()

    def run(self, sets: Sequence[Arrays]) -> list[Arrays]:
        """Return the outputs of each set of inputs, one set after the other."""
        return [self._session.run(inputs) for inputs in sets]


class Native:
    """The portable kernels on this machine.

    Parameters
    ----------
    program : Program
        Of `kiwicha.firmware.native_library.NATIVE_CONFIG`.
    threads : int
        How many sets of inputs are computed at a time.
    """

    cycles: int | None = None
    result: SimulatedRun | None = None

    def __init__(self, program: Program, threads: int) -> None:
        self._program = program
        self._threads = threads
        self._models: list[NativeModel] = []

    def prepare(self) -> None:
        """Compile and load the kernels."""
        if not self._models:
            self._models.append(NativeModel(self._program))

    def reset(self) -> None:
        """Give what the model keeps between inferences its first values."""
        for model in self._models:
            model.reset()

    def run(self, sets: Sequence[Arrays]) -> list[Arrays]:
        """Return the outputs of each set of inputs."""
        self.prepare()
        count = min(self._threads, len(sets))
        if count == 1:
            return [self._outputs(self._models[0], inputs) for inputs in sets]
        while len(self._models) < count:
            self._models.append(self._models[0].twin())
        found: list[Arrays] = [[] for _ in sets]

        def run_share(first: int) -> None:
            for number in range(first, len(sets), count):
                found[number] = self._outputs(self._models[first], sets[number])

        with ThreadPoolExecutor(count) as pool:
            for _ in pool.map(run_share, range(count)):
                pass
        return found

    def _outputs(self, model: NativeModel, inputs: Arrays) -> Arrays:
        return _arrays(self._program, model.run(inputs))


class Simulated:
    """The simulated system on chip."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._kept = tuple(program.first_values())
        self.cycles: int | None = None
        self.result: SimulatedRun | None = None

    def prepare(self) -> None:
        """Do nothing: a simulator takes minutes to build, and is built when it is needed."""

    def reset(self) -> None:
        """Give what the model keeps between inferences its first values."""
        self._kept = tuple(self._program.first_values())

    def run(self, sets: Sequence[Arrays]) -> list[Arrays]:
        """Return the outputs of each set of inputs, a simulation for each."""
        found = []
        for inputs in sets:
            raw_inputs = [value.tobytes() for value in inputs]
            program = self._program.with_first_values(self._kept)
            result = run_program(program, raw_inputs, on_build=_LOG.warning)
            self.cycles, self._kept, self.result = result.last_cycles, result.states, result
            raw = [np.frombuffer(output, np.uint8) for output in result.outputs]
            found.append(_arrays(self._program, raw))
        return found


def executor_of(target: str, program: Program, threads: int) -> Executor:
    """Return what executes a Program.

    Parameters
    ----------
    target : str
        One of `TARGETS`.
    program : Program
        For ``native`` of `kiwicha.firmware.native_library.NATIVE_CONFIG`.
    threads : int
        How many sets of inputs ``native`` computes at a time.
    """
    if target == "native":
        return Native(program, threads)
    return Reference(program) if target == "reference" else Simulated(program)


def numpy_type(tensor: IoTensor) -> type[np.generic]:
    """Return numpy's name of a tensor's element type."""
    return reference.NUMPY_TYPES[tensor.dtype]


def _arrays(program: Program, outputs: Sequence[NDArray[np.uint8]]) -> Arrays:
    return [
        raw.view(numpy_type(tensor)).reshape(tensor.shape)
        for raw, tensor in zip(outputs, program.outputs, strict=True)
    ]

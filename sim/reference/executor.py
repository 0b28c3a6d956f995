"""Reference executor: runs a Program in numpy, bit for bit what firmware computes."""

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.engine import EngineCall
from kiwicha.contract.layout import Ref
from kiwicha.errors import ProgramError, UsageError
from kiwicha.kernels.element_types import NUMPY_TYPES
from kiwicha.kernels.registry import KERNELS
from kiwicha.program.image import Program
from kiwicha.program.parts import IoTensor, Layer, Step
from kiwicha.sim.reference.custom import run_custom
from kiwicha.sim.reference.engine import Engine
from kiwicha.sim.reference.kept_weights import KeptWeights
from kiwicha.sim.reference.memory import Memory, check_overlap
from kiwicha.sim.reference.overlap import check_overlapped
from kiwicha.sim.reference.written import PartObserver, Written

__all__ = ["NUMPY_TYPES", "Session", "StepObserver", "run", "trace", "written_parts"]

StepObserver = Callable[[int, Step, NDArray[Any]], None]
"""Called after each step with its index, the step, and a copy of what it wrote."""


class Session:
    """A Program that is executed as often as wanted, and what it keeps between inferences.

    Parameters
    ----------
    program : Program
        For any configuration.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._kept = program.first_values()
        self._weights = KeptWeights(program.config.resident_words)

    @property
    def values(self) -> list[bytes]:
        """What is kept now, of each state."""
        return list(self._kept)

    def reset(self) -> None:
        """Give all states the values that they had at first."""
        self._kept = self._program.first_values()

    def run(
        self,
        inputs: Sequence[NDArray[Any] | bytes],
        on_step: StepObserver | None = None,
        on_part: PartObserver | None = None,
    ) -> list[NDArray[Any]]:
        """Execute the Program once.

        Parameters
        ----------
        inputs : sequence of ndarray or bytes
            One per input tensor, in the model's order: raw bytes, or an array of the tensor's type
            that has its shape or is flat.
        on_step : callable, optional
            See `StepObserver`.
        on_part : callable, optional
            See `PartObserver`.

        Returns
        -------
        list of ndarray
            One per output tensor, of its type and shape.

        Raises
        ------
        UsageError
            If number, type or size of the inputs is wrong, or a custom operator's reference raises
            or gives something else than its output.
        ProgramError
            If a step contradicts itself, leaves its memory, reads what nothing has written, or
            writes what it reads.
        """
        program = self._program
        if len(inputs) != len(program.inputs):
            names = ", ".join(repr(tensor.name) for tensor in program.inputs)
            raise UsageError(
                f"number of inputs must be {len(program.inputs)} ({names}), not {len(inputs)}"
            )
        memory = Memory(program.arena_bytes, program.constants)
        engine = Engine(
            has_blocks=program.config.has_blocks,
            has_int16=program.config.has_int16,
            has_recurrent=program.config.has_recurrent,
            kept=self._weights,
        )
        for state, kept in zip(program.states, self._kept, strict=True):
            memory.store(state.ref, np.frombuffer(kept, np.uint8))
        for number, (tensor, value) in enumerate(zip(program.inputs, inputs, strict=True)):
            memory.store(_inner(program, tensor), _input_array(number, tensor, value))
        for number, step in enumerate(program.steps):
            try:
                if isinstance(step.params, EngineCall):
                    check_overlapped(memory, program.steps, number)
                output = _execute(memory, engine, step, program.layers[step.layer], on_part)
            except ProgramError as error:
                raise ProgramError(f"step {number} ({step.kernel.name}): {error}") from error
            if on_step is not None:
                on_step(number, step, output)
        self._kept = [
            memory.load(state.ref, np.uint8, (state.ref.bytes,)).tobytes()
            for state in program.states
        ]
        return [
            memory.load(_inner(program, tensor), NUMPY_TYPES[tensor.dtype], tensor.shape)
            for tensor in program.outputs
        ]


def _inner(program: Program, tensor: IoTensor) -> Ref:
    """Return where an inference has an input or output."""
    return dataclasses.replace(tensor.ref, offset=tensor.ref.offset + program.inner_bytes)


def run(
    program: Program,
    inputs: Sequence[NDArray[Any] | bytes],
    on_step: StepObserver | None = None,
) -> list[NDArray[Any]]:
    """Execute a Program once, from the first values of its states on; see `Session.run`."""
    return Session(program).run(inputs, on_step)


def trace(program: Program, inputs: Sequence[NDArray[Any] | bytes]) -> list[NDArray[Any]]:
    """Execute a Program once and return what each step wrote, in order of execution."""
    written: list[NDArray[Any]] = []
    run(program, inputs, lambda number, step, output: written.append(output))
    return written


def written_parts(
    program: Program, inputs: Sequence[NDArray[Any] | bytes]
) -> dict[int, list[Written]]:
    """Execute a Program once and return what the parts of each list wrote, by the step's number."""
    found: dict[int, list[Written]] = {}
    parts: list[Written] = []

    def on_step(number: int, step: Step, output: NDArray[Any]) -> None:
        if isinstance(step.params, EngineCall):
            found[number] = parts.copy()
            parts.clear()

    Session(program).run(inputs, on_step, parts.append)
    return found


def _execute(
    memory: Memory,
    engine: Engine,
    step: Step,
    layer: Layer,
    on_part: PartObserver | None,
) -> NDArray[Any]:
    declaration = KERNELS[step.kernel]
    if not isinstance(step.params, declaration.params):
        raise ProgramError(f"parameters must be those of the kernel, not {step.params}")
    params: Any = step.params
    if isinstance(params, EngineCall):
        return engine.run(memory, params, on_part)
    check_overlap(
        params,
        may_be_in_place=declaration.is_in_place,
        may_slide=declaration.may_slide(params),
    )
    if declaration.reference is not None:
        output = declaration.reference(memory, params)
    else:
        output = run_custom(memory, params, layer)
    if getattr(params, "scratch", None):
        memory.spoil(params.scratch)
    if not declaration.writes_output:
        memory.store(params.output, output)
    return output


def _input_array(number: int, tensor: IoTensor, value: NDArray[Any] | bytes) -> NDArray[Any]:
    dtype = np.dtype(NUMPY_TYPES[tensor.dtype])
    count = math.prod(tensor.shape)
    rule = (
        f"input {number} {tensor.name!r} must be {dtype} {list(tensor.shape)}, "
        f"{count * dtype.itemsize} bytes, not"
    )
    if not isinstance(value, np.ndarray):
        if len(value) != count * dtype.itemsize:
            raise UsageError(f"{rule} {len(value)} bytes")
        return np.frombuffer(value, dtype.newbyteorder("<"))
    if value.dtype != dtype or value.shape not in {tensor.shape, (count,)}:
        raise UsageError(f"{rule} {value.dtype} {list(value.shape)}, {value.nbytes} bytes")
    return value

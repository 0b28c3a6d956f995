"""What native firmware keeps from one inference to the next, under sanitizers."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import compile_model
from kiwicha.contract.cfu import Status
from kiwicha.contract.layout import Ref
from kiwicha.contract.program import ProgramHeader, StateRecord
from kiwicha.firmware import native
from kiwicha.program.image import Program
from kiwicha.sim.reference.executor import Session
from tests.firmware.test_runtime import signed
from tests.support.choices import by_day
from tests.support.models.recurrent import RECURRENT
from tests.support.models.signal_streams import STREAMS
from tests.support.models.streaming import STREAMING, sets

INFERENCES = 4
KINDS = {**STREAMING, **RECURRENT}


def expected(program: Program, inputs: Any, reset_at: int | None = None) -> list[bytes]:
    session, found = Session(program), []
    for number, one in enumerate(inputs):
        if number == reset_at:
            session.reset()
        found += [output.tobytes() for output in session.run(one)]
    return found


@pytest.mark.parametrize("has_two", [False, True])
@pytest.mark.parametrize("config", ["baseline", "simd"])
@pytest.mark.parametrize("seed", by_day(*range(6)))
@pytest.mark.parametrize("kind", KINDS)
def test_each_inference_continues(
    executables: dict[str, Path], kind: str, seed: int, config: str, has_two: bool
) -> None:
    model = KINDS[kind](random.Random(f"{kind}{seed}"))
    program = compile_model(model.model, config, double_buffer=has_two)
    inputs = sets(model, INFERENCES, seed)
    raw = [one[0].tobytes() for one in inputs]
    count = INFERENCES * len(program.outputs)
    result = native.run_native(executables[config], program.to_bytes(), raw, outputs=count)
    assert result.status is Status.OK, result.log
    assert list(result.outputs) == expected(program, inputs)


@pytest.mark.parametrize("kind", STREAMS)
def test_streams_of_sound_continue(executables: dict[str, Path], kind: str) -> None:
    for seed in range(4):
        item = STREAMS[kind](np.random.default_rng([seed, 1]))
        program = compile_model(item.model, "simd")
        raw = [one[0].tobytes() for one in item.inputs]
        count = len(raw) * len(program.outputs)
        result = native.run_native(executables["simd"], program.to_bytes(), raw, outputs=count)
        assert result.status is Status.OK, result.log
        assert list(result.outputs) == expected(program, item.inputs)


@pytest.mark.parametrize("kind", ["total", *RECURRENT])
def test_a_reset_gives_the_first_values_again(executables: dict[str, Path], kind: str) -> None:
    model = KINDS[kind](random.Random(f"{kind}1"))
    program = compile_model(model.model, "simd")
    inputs = sets(model, 1) * INFERENCES
    raw = [one[0].tobytes() for one in inputs]
    count = INFERENCES * len(program.outputs)
    wanted = expected(program, inputs, reset_at=2)
    assert wanted != expected(program, inputs)
    result = native.run_native(
        executables["simd"], program.to_bytes(), raw, outputs=count, reset_at=2
    )
    assert list(result.outputs) == wanted


def small() -> Program:
    """Give a Program with one state."""
    model = STREAMING["total"](random.Random("total1"))
    program = compile_model(model.model, "simd")
    assert len(program.states) == 1
    return program


def with_state(program: Program, **changes: Any) -> bytes:
    """Give the stored Program with other fields in the record of its state."""
    raw = bytearray(program.to_bytes())
    at = ProgramHeader.unpack(raw).states_offset
    fields = vars(StateRecord.unpack(raw[at:])) | changes
    raw[at : at + StateRecord.size_bytes()] = StateRecord(**fields).pack()
    return signed(bytes(raw))


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"tensor": Ref(2**30, 16)}, Status.BAD_BOUNDS),
        ({"tensor": Ref(0, 2**30)}, Status.BAD_BOUNDS),
        ({"tensor": Ref(0, 16, is_constant=True)}, Status.BAD_BOUNDS),
        ({"first": Ref(2**30, 1, is_constant=True)}, Status.BAD_BOUNDS),
        ({"first": Ref(2**30, 1)}, Status.BAD_BOUNDS),
        ({"first": Ref(0, 2)}, Status.BAD_PARAMETERS),
    ],
)
def test_a_state_outside_its_memory_is_refused(
    executables: dict[str, Path], changes: dict[str, Ref], status: Status
) -> None:
    program = small()
    raw = [np.zeros(item.ref.bytes, np.int8).tobytes() for item in program.inputs]
    options: Any = {"outputs": len(program.outputs)}
    for fields, wanted in (({}, Status.OK), (changes, status)):
        stored = with_state(program, **fields)
        assert native.run_native(executables["simd"], stored, raw, **options).status is wanted


@pytest.mark.parametrize(("field", "value"), [("state_count", 2**27), ("states_offset", 2**31)])
def test_a_table_of_states_outside_the_program_is_refused(
    executables: dict[str, Path], field: str, value: int
) -> None:
    program = small()
    raw = bytearray(program.to_bytes())
    header = ProgramHeader.unpack(raw)
    raw[: header.size_bytes()] = ProgramHeader(**(vars(header) | {field: value})).pack()
    result = native.run_native(executables["simd"], signed(bytes(raw)), [], outputs=0)
    assert result.status is Status.BAD_BOUNDS

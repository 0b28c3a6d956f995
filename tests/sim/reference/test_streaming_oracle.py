"""What is kept between inferences, against both interpreters, inference by inference."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import compile_model
from kiwicha.program.image import Program
from kiwicha.sim.reference.executor import Session
from tests.support.choices import by_day
from tests.support.models.streaming import STREAMING, sets
from tests.support.oracle.oracle import LITERT, MICRO, Interpreter
from tests.support.oracle.sequences import Arrays, ask_in_a_row

MODEL = "microwakeword_okay_nabu_v2"
FRAME = (1, 3, 40)
INFERENCES = 4
BLOCK = 3
"""Random models that one test asks the oracle about."""


def session(model: bytes, config: str, *, double_buffer: bool = False) -> Session:
    program = compile_model(model, config, double_buffer=double_buffer)
    return Session(Program.from_bytes(program.to_bytes()))


def differing(found: Arrays, expected: Arrays) -> bool:
    return any(not np.array_equal(a, b) for a, b in zip(found, expected, strict=True))


@pytest.mark.parametrize("interpreter", by_day(MICRO, LITERT))
@pytest.mark.parametrize("first", by_day(*range(0, 25 * BLOCK, BLOCK)))
@pytest.mark.parametrize("kind", STREAMING)
def test_random_models(kind: str, first: int, interpreter: Interpreter) -> None:
    models = [STREAMING[kind](random.Random(f"{kind}{first + k}")) for k in range(BLOCK)]
    cases = [(item.model, sets(item, INFERENCES, first)) for item in models]
    for number, ((model, inputs), answer) in enumerate(
        zip(cases, ask_in_a_row(cases, interpreter), strict=True)
    ):
        for config in ("simd", "64"):
            for has_two in (False, True):
                kept = session(model, config, double_buffer=has_two)
                found = [tuple(kept.run(one)) for one in inputs]
                wrong = [k for k in range(INFERENCES) if differing(found[k], answer[k])]
                assert not wrong, (kind, first + number, config, has_two)


def golden(find: Callable[[str], list[Any]]) -> tuple[list[bytes], bytes]:
    """Give the 60 frames of the golden sequence, and the 60 answers."""
    (sequence,) = find(MODEL)
    count = len(sequence.output)
    size = len(sequence.input) // count
    return [sequence.input[k * size :][:size] for k in range(count)], sequence.output


@pytest.mark.parametrize("config", by_day("64", "baseline", "simd", "32", "128"))
def test_a_wake_word(
    config: str, zoo_model: Callable[[str], Path], golden_cases: Callable[[str], list[Any]]
) -> None:
    frames, expected = golden(golden_cases)
    kept = session(zoo_model(MODEL).read_bytes(), config)
    assert b"".join(kept.run([frame])[0].tobytes() for frame in frames) == expected
    # These answers need what has been kept.
    kept.reset()
    assert b"".join(kept.run([frame])[0].tobytes() for frame in frames[30:33]) != expected[30:33]
    kept.reset()
    assert b"".join(kept.run([frame])[0].tobytes() for frame in frames[:3]) == expected[:3]


def with_kept_outputs(model: bytes) -> bytes:
    """Give the model with what it reads from variables as further outputs."""
    schema = pytest.importorskip("ai_edge_litert.schema_py_generated")
    flatbuffers = pytest.importorskip("flatbuffers")
    content = schema.ModelT.InitFromPackedBuf(model)
    main = content.subgraphs[0]
    code = schema.BuiltinOperator.READ_VARIABLE
    codes = [max(item.builtinCode, item.deprecatedBuiltinCode) for item in content.operatorCodes]
    read = [item.outputs[0] for item in main.operators if codes[item.opcodeIndex] == code]
    main.outputs = [*main.outputs, *read]
    content.signatureDefs = None
    builder = flatbuffers.Builder(1 << 16)
    builder.Finish(content.Pack(builder), b"TFL3")
    return bytes(builder.Output())


@pytest.mark.parametrize("config", by_day("64", "simd"))
def test_what_a_wake_word_keeps(config: str, zoo_model: Callable[[str], Path]) -> None:
    model = zoo_model(MODEL).read_bytes()
    rng = np.random.default_rng(1)
    frames = [(rng.integers(-128, 128, FRAME).astype(np.int8),) for _ in range(25)]
    (answer,) = ask_in_a_row([(with_kept_outputs(model), frames)], LITERT)
    program = compile_model(model, config)
    kept = Session(program)
    for frame, (_, *read) in zip(frames, answer, strict=True):
        wanted = sorted(value.tobytes() for value in read)
        assert sorted(kept.values) == wanted
        kept.run(frame)
    assert len({value.tobytes() for value in answer[-1][1:]}) == len(program.states) == 6


@pytest.mark.parametrize("interpreter", by_day(MICRO, LITERT))
@pytest.mark.parametrize(
    ("config", "count"), by_day(("64", 60), *((name, 2000) for name in ("64", "simd", "32", "128")))
)
def test_random_frames_of_a_wake_word(
    config: str, count: int, interpreter: Interpreter, zoo_model: Callable[[str], Path]
) -> None:
    model = zoo_model(MODEL).read_bytes()
    rng = np.random.default_rng(0)
    frames = [(rng.integers(-128, 128, FRAME).astype(np.int8),) for _ in range(2000)]
    (answer,) = ask_in_a_row([(model, frames)], interpreter)
    kept = session(model, config)
    wrong = [k for k in range(count) if differing(tuple(kept.run(frames[k])), answer[k])]
    assert not wrong

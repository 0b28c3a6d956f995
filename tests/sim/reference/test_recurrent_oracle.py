"""Layers that keep tensors of their own, against TensorFlow Lite Micro, inference by inference."""

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import compile_model
from kiwicha.program.image import Program
from kiwicha.sim.reference.executor import NUMPY_TYPES, Session
from tests.support.choices import at_night, by_day
from tests.support.models.recurrent import RECURRENT, both_ways, lstm_of_shorts
from tests.support.models.streaming import sets
from tests.support.models.wide_integers import requantized, short_probabilities
from tests.support.oracle.sequences import Arrays, ask_in_a_row

MODELS = ("mnist_lstm_int8", "keyword_scrambled_8bit")
CONFIGS = ("baseline", "simd", "64", "64-recurrent")
OTHER_CONFIGS = {
    "lstm of shorts": ("baseline", "64-int16", "64-recurrent", "128-recurrent"),
    "both ways": ("simd", "64-recurrent"),
}
"""Where other ones differ by nothing."""
INFERENCES = 5
BLOCK = 8
"""Random models that one test asks the oracle about."""


def session(model: bytes, config: str, *, double_buffer: bool = False) -> Session:
    program = compile_model(model, config, double_buffer=double_buffer)
    return Session(Program.from_bytes(program.to_bytes()))


def differing(kept: Session, inputs: Sequence[Arrays], answers: Sequence[Arrays]) -> list[int]:
    """List the inferences whose outputs are not those of the oracle."""
    return [
        number
        for number, (one, answer) in enumerate(zip(inputs, answers, strict=True))
        if any(not np.array_equal(a, b) for a, b in zip(kept.run(one), answer, strict=True))
    ]


@pytest.mark.parametrize("first", by_day(*range(0, 62 * BLOCK, BLOCK)))
@pytest.mark.parametrize(
    "kind", [at_night(kind) if kind in OTHER_CONFIGS else kind for kind in RECURRENT]
)
def test_random_models(kind: str, first: int) -> None:
    models = [RECURRENT[kind](random.Random(f"{kind}{first + k}")) for k in range(BLOCK)]
    cases = [(item.model, sets(item, INFERENCES, first)) for item in models]
    found: set[int] = set()
    for number, ((model, inputs), answers) in enumerate(
        zip(cases, ask_in_a_row(cases), strict=True)
    ):
        found |= {int(value) for (output,) in answers for value in output.flat}
        for config in OTHER_CONFIGS.get(kind, CONFIGS):
            kept = session(model, config, double_buffer=number % 2 == 0)
            assert not differing(kept, inputs, answers), (kind, first + number, config)
    # Not only extremes.
    assert len(found) > 128


@pytest.mark.parametrize("config", ["64-int16", "64-recurrent"])
def test_what_an_lstm_of_int16_keeps(config: str) -> None:
    models = [lstm_of_shorts(random.Random(f"kept{seed}")) for seed in range(4)]
    cases = [(item.model, sets(item, 3)) for item in models]
    for (model, inputs), answers in zip(cases, ask_in_a_row(cases), strict=True):
        kept = session(model, config)
        assert not differing(kept, inputs, answers)
        # The next inference begins otherwise than the first one did.
        assert differing(kept, inputs[:1], answers[:1])


@pytest.mark.parametrize("config", ["simd", "64"])
@pytest.mark.parametrize("make", [requantized, short_probabilities])
def test_wide_integers(make: Callable[[random.Random], tuple[bytes, Arrays]], config: str) -> None:
    made = [make(random.Random(f"wide{seed}")) for seed in range(60)]
    cases = [(model, [inputs]) for model, inputs in made]
    for number, ((model, inputs), answers) in enumerate(
        zip(cases, ask_in_a_row(cases), strict=True)
    ):
        assert not differing(session(model, config), inputs, answers), number


def test_both_ways_of_a_sequence() -> None:
    """One of int8 and one of int16, as Keras's Bidirectional becomes operators."""
    models = [both_ways(random.Random(f"way{seed}")) for seed in range(6)]
    chosen = [next(item for item in models if item.kind is kind) for kind in (np.int8, np.int16)]
    cases = [(item.model, sets(item, 3)) for item in chosen]
    for (model, inputs), answers in zip(cases, ask_in_a_row(cases), strict=True):
        assert not differing(session(model, "64-recurrent"), inputs, answers)


def with_all_outputs(model: bytes) -> bytes:
    """Give the model with what each of its operators computes as further outputs."""
    schema = pytest.importorskip("ai_edge_litert.schema_py_generated")
    flatbuffers = pytest.importorskip("flatbuffers")
    content = schema.ModelT.InitFromPackedBuf(model)
    main = content.subgraphs[0]
    computed = [index for item in main.operators for index in item.outputs]
    main.outputs = [*main.outputs, *(index for index in computed if index not in main.outputs)]
    content.signatureDefs = None
    builder = flatbuffers.Builder(1 << 16)
    builder.Finish(content.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def frames(model: bytes, count: int) -> list[Arrays]:
    """Give loud and quiet inputs: such numbers leave other answers than extremes."""
    (tensor,) = compile_model(model, "baseline").inputs
    kind = NUMPY_TYPES[tensor.dtype]
    limits = np.iinfo(kind)
    rng = np.random.default_rng(0)
    spreads = [limits.max / 2 ** (1 + k % 7) for k in range(count)]
    found = [rng.normal(0, spread, tensor.shape) for spread in spreads]
    return [(values.clip(limits.min, limits.max).astype(kind),) for values in found]


@pytest.mark.parametrize("config", by_day("64-recurrent", "64", "baseline", "simd", "128"))
@pytest.mark.parametrize("name", MODELS)
def test_public_models(
    name: str,
    config: str,
    zoo_model: Callable[[str], Path],
    golden_cases: Callable[[str], list[Any]],
) -> None:
    model = zoo_model(name).read_bytes()
    kept = session(model, config)
    for case in golden_cases(name):
        kept.reset()
        assert b"".join(output.tobytes() for output in kept.run([case.input])) == case.output
    kept.reset()
    shown = with_all_outputs(model)
    inputs = frames(model, 20)
    (answers,) = ask_in_a_row([(shown, inputs)])
    kept = session(shown, config)
    assert not differing(kept, inputs, answers)
    # The weights of the other model are not those that were trained: its layers give extremes.
    if name == "mnist_lstm_int8":
        # What was kept matters.
        assert len({answer[1].tobytes() for answer in answers}) == len(inputs)
        assert differing(kept, inputs[:5], answers[:5])
    kept.reset()
    assert not differing(kept, inputs[:5], answers[:5])

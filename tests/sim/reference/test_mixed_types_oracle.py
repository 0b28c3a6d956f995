"""Models of int8 and uint8 tensors, with QUANTIZE between them, against the oracles bit for bit.

On the way from one type to the other both interpreters agree. Parts of int8 are ruled by TensorFlow
Lite Micro, which takes uint8 at the edges only; LiteRT agrees with it about the layers used here.
"""

from collections.abc import Iterable

import numpy as np
import pytest

from kiwicha.compiler import compile_model, compile_stages
from kiwicha.contract import configs
from kiwicha.contract.program import Kernel
from kiwicha.program.image import Program
from kiwicha.sim.reference import executor as reference
from tests.support.models import random_networks
from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle import oracle

pytestmark = pytest.mark.slow

CONFIGS = [*configs.CONFIGS, *configs.ENGINE_CONFIGS]
WAYS = [(np.uint8, np.int8), (np.int8, np.uint8)]
ORACLES = [oracle.MICRO, oracle.LITERT]
SCALES_PER_MODEL = 8
SEEDS = range(4)
WITHOUT_BIAS = ("has_bias was not true", "optional but was expected")
"""LiteRT refuses CONV_2D without a bias."""


def of_all_bytes(source: type, target: type, seed: int) -> oracle.Case:
    """Give a model that quantizes all bytes anew, to several scales and zero points.

    Each scale is another kind of ratio: one, a power of two, the number beside one, anything.
    """
    rng = np.random.default_rng(seed)
    low_in, low_out = np.iinfo(source).min, np.iinfo(target).min
    scale, point = np.float32(10 ** rng.uniform(-3, 1)), int(rng.integers(256))
    builder = ModelBuilder()
    x = builder.tensor((1, 256), source, scale=scale, zero_point=point + low_in)
    outputs = []
    for number in range(SCALES_PER_MODEL):
        ratio = 2.0 ** rng.uniform(-9, 9)
        kinds = [scale, scale * 2.0 ** rng.integers(-6, 7), np.nextafter(scale, np.float32(99))]
        new_scale = kinds[number] if number < len(kinds) else scale * ratio
        new_point = point if number % 2 == 0 else int(rng.integers(256))
        quantization = {"scale": new_scale, "zero_point": new_point + low_out}
        outputs.append(builder.tensor((1, 256), target, **quantization))
        builder.operator("QUANTIZE", [x], [outputs[-1]])
    values = np.arange(256, dtype=np.uint8).view(source)[None]
    return oracle.Case(builder.build([x], outputs), (values,))


def check(
    cases: list[oracle.Case], interpreter: oracle.Interpreter, configs: Iterable[str] = CONFIGS
) -> None:
    """Compare with the oracle; name every case that differs."""
    problems, compared = [], 0
    for number, (case, answer) in enumerate(
        zip(cases, oracle.ask(cases, interpreter), strict=True)
    ):
        if answer.outputs is None:
            assert any(text in answer.error for text in WITHOUT_BIAS), answer.error
            continue
        for config in configs:
            program = Program.from_bytes(compile_model(case.model, config).to_bytes())
            found = reference.run(program, case.inputs)
            for expected, actual in zip(answer.outputs, found, strict=True):
                compared += 1
                if actual.dtype != expected.dtype or not np.array_equal(actual, expected):
                    problems.append(f"case {number} {config} differs")
    assert not problems
    assert compared


@pytest.mark.parametrize("interpreter", ORACLES, ids=lambda item: item.package)
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way[0].__name__)
def test_all_bytes_at_many_scales(way: tuple[type, type], interpreter: oracle.Interpreter) -> None:
    check([of_all_bytes(*way, seed) for seed in SEEDS], interpreter)


def test_int8_network_between_uint8_edges() -> None:
    cases = [random_networks.network_of_types(s, parts=3, is_unsigned=True) for s in SEEDS]
    check(cases, oracle.MICRO)


@pytest.mark.parametrize("is_unsigned", [False, True], ids=["int8_edges", "uint8_edges"])
def test_networks_of_both_types(is_unsigned: bool) -> None:
    cases = [random_networks.network_of_types(s, parts=5, is_unsigned=is_unsigned) for s in SEEDS]
    check(cases, oracle.LITERT)


def test_edges_are_read_and_written_by_one_table_each() -> None:
    case = random_networks.network_of_types(0, parts=3, is_unsigned=True)
    kernels = [step.kernel for step in compile_stages(case.model, "baseline").program.steps]
    assert kernels.count(Kernel.LOOKUP) == 2
    assert kernels[0] is kernels[-1] is Kernel.LOOKUP

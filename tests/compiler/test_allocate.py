"""Memory plans: never a collision, and no larger than needed."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import random_models
from support.tflite_builder import ModelBuilder

from kiwicha.compiler import compile_stages
from kiwicha.compiler.allocate import Buffer, lower_bound, place
from kiwicha.errors import CapacityError
from kiwicha.isa import ALIGNMENT_BYTES

UNSIGNED_MODELS = [
    "mobilenet_v1_0.25_128_quant",
    "mobilenet_v2_1.0_224_quant",
    "ssd_mobilenet_v1_coco_quant",
]
INT8_MODELS = [
    "cfu_mobilenetv2_160_035",
    "hello_world_int8",
    "micro_speech_quantized",
    "mlperf_ad01_int8",
    "mlperf_kws_ref_model",
    "mlperf_pretrainedResnet_quant",
    "mlperf_vww_96_int8",
    "person_detect",
]


@st.composite
def buffers(draw: st.DrawFn) -> Buffer:
    first = draw(st.integers(-1, 12))
    return Buffer("b", draw(st.integers(1, 5000)), first, first + draw(st.integers(0, 6)))


def peak(wanted: list[Buffer]) -> int:
    """Count, step by step, what is needed at least."""
    steps = range(-1, max(b.last for b in wanted) + 1)
    return max(
        sum(
            (b.bytes + ALIGNMENT_BYTES - 1) // ALIGNMENT_BYTES * ALIGNMENT_BYTES
            for b in wanted
            if b.first <= step <= b.last
        )
        for step in steps
    )


@settings(deadline=None)
@given(st.lists(buffers(), min_size=1, max_size=30))
def test_no_two_buffers_collide(wanted: list[Buffer]) -> None:
    offsets = place(wanted)
    occupied: dict[tuple[int, int], int] = {}
    for number, (buffer, offset) in enumerate(zip(wanted, offsets, strict=True)):
        assert offset >= 0
        assert offset % ALIGNMENT_BYTES == 0
        blocks = range(offset // ALIGNMENT_BYTES, -(-(offset + buffer.bytes) // ALIGNMENT_BYTES))
        for step in range(buffer.first, buffer.last + 1):
            for block in blocks:
                assert occupied.setdefault((step, block), number) == number


@settings(deadline=None)
@given(st.lists(buffers(), min_size=1, max_size=30))
def test_plan_is_near_its_bound(wanted: list[Buffer]) -> None:
    bound = lower_bound(wanted)
    assert bound == peak(wanted)
    top = max(b.aligned_bytes + o for b, o in zip(wanted, place(wanted), strict=True))
    assert bound <= top <= 1.5 * bound


def test_nearly_all_plans_reach_their_bound() -> None:
    generator = random.Random(7)
    reached = 0
    for _ in range(100):
        wanted = []
        for _ in range(generator.randint(5, 30)):
            first = generator.randint(-1, 12)
            last = first + generator.randint(0, 6)
            wanted.append(Buffer("b", generator.randint(1, 5000), first, last))
        top = max(b.aligned_bytes + o for b, o in zip(wanted, place(wanted), strict=True))
        reached += top == lower_bound(wanted)
    assert reached >= 85


@pytest.mark.parametrize("config", ["baseline", "simd", "64", "128"])
@pytest.mark.parametrize("name", [*INT8_MODELS, UNSIGNED_MODELS[0]])
def test_public_models_reach_the_bound(name: str, config: str, zoo_model) -> None:
    plan = compile_stages(zoo_model(name), config).memory
    assert plan.arena_bytes == plan.lower_bound_bytes == peak([p.buffer for p in plan.placements])


@pytest.mark.parametrize(
    "config", ["baseline", "simd", pytest.param("64", marks=pytest.mark.nightly)]
)
@pytest.mark.parametrize("name", UNSIGNED_MODELS[1:])
def test_large_public_models_reach_the_bound(name: str, config: str, zoo_model) -> None:
    test_public_models_reach_the_bound(name, config, zoo_model)


@pytest.mark.parametrize("config", ["baseline", "simd", "64"])
def test_plans_of_random_models_are_near_their_bound(config: str) -> None:
    for seed in range(40):
        for make in (random_models.network, random_models.engine_network):
            plan = compile_stages(make(seed).model, config).memory
            assert plan.arena_bytes <= 1.1 * plan.lower_bound_bytes, f"{make.__name__} {seed}"


@pytest.mark.parametrize("seed", range(20))
def test_branches_never_collide(seed: int) -> None:
    compilation = compile_stages(random_models.network(seed).model, "simd")
    network, plan = compilation.network, compilation.memory
    # What each step reads must not have been overwritten since it was written.
    content: dict[int, int] = {}

    def write(tensor: int) -> None:
        start = plan.tensors[tensor]
        for byte in range(start, start + network.graph.tensors[tensor].elements):
            content[byte] = tensor

    for tensor in network.graph.inputs:
        write(tensor)
    for step, item in enumerate(compilation.tiles):
        stored = {n: network.storage(t) for n, t in item.tensors.items()}
        for name, tensor in stored.items():
            if name != "output" and not tensor.is_constant:
                start = plan.tensors[tensor.index]
                owners = {content[b] for b in range(start, start + tensor.elements)}
                assert owners == {tensor.index}
        if item.scratch_bytes:
            start = plan.scratch[step]
            for byte in range(start, start + item.scratch_bytes):
                content[byte] = -1
            for name, tensor in stored.items():
                if name != "output" and not tensor.is_constant:
                    assert content[plan.tensors[tensor.index]] == tensor.index
        write(stored["output"].index)
    for output in network.graph.outputs:
        tensor = network.storage(output)
        start = plan.tensors[tensor.index]
        assert {content[b] for b in range(start, start + tensor.elements)} == {tensor.index}


def test_late_inputs_are_kept() -> None:
    """An input that is first read by the last step is in memory from the start."""
    builder = ModelBuilder()
    x, z, y = (builder.tensor((1, 64), name=name, scale=1 / 256) for name in ("x", "z", "y"))
    middle = builder.tensor((1, 64), name="middle", scale=1 / 256, zero_point=-128)
    builder.operator("SOFTMAX", [x], [middle], beta=1.0)
    builder.operator("ADD", [middle, z], [y])
    program = compile_stages(builder.build([x, z], [y]), "simd").program
    softmax, _ = program.steps
    late = program.inputs[1].ref
    for ref in (program.inputs[0].ref, softmax.params.output):
        assert abs(ref.offset - late.offset) >= 64


def sum_model(*, keeps_input: bool = False, shape: tuple[int, ...] = (1, 8, 8, 4)) -> bytes:
    """Return y = (x + c) + c, with or without x + c as a second model output."""
    builder = ModelBuilder()
    x, middle, y = (builder.tensor(shape, name=name, scale=0.1) for name in ("x", "m", "y"))
    size = int(np.prod(shape))
    values = np.zeros(size if size < 10**6 else 1, np.int8)
    constant = builder.tensor(shape if size < 10**6 else (1,), scale=0.1, data=values)
    builder.operator("ADD", [x, constant], [middle])
    builder.operator("ADD", [middle, constant], [y])
    return builder.build([x], [y, middle] if keeps_input else [y])


def test_sums_are_in_place() -> None:
    compilation = compile_stages(sum_model(), "simd")
    assert compilation.memory.arena_bytes == 256
    refs = {ref for s in compilation.program.steps for ref in (s.params.input_1, s.params.output)}
    assert len(refs) == 1


def test_outputs_are_not_overwritten() -> None:
    compilation = compile_stages(sum_model(keeps_input=True), "simd")
    assert compilation.memory.arena_bytes == 512
    y, middle = compilation.program.outputs
    assert y.ref.offset != middle.ref.offset


def test_refuses_what_memory_cannot_hold() -> None:
    model = sum_model(shape=(1, 20000, 20000, 1))
    with pytest.raises(
        CapacityError,
        match=r"^the model's tensors must fit 268431360 bytes of memory, not 400000000$",
    ):
        compile_stages(model, "simd")

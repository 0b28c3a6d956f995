"""Memory plans: never a collision, and no larger than needed."""

import itertools
import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kiwicha.compiler import Compilation, compile_stages
from kiwicha.compiler.memory.placement import Buffer, Slice, lower_bound, place
from kiwicha.contract.cfu import ALIGNMENT_BYTES
from kiwicha.errors import CapacityError
from tests.support.choices import INT8_MODELS, by_day
from tests.support.models import random_moves, random_networks
from tests.support.models.tflite_builder import ModelBuilder

UNSIGNED_MODELS = [
    "mobilenet_v1_0.25_128_quant",
    "mobilenet_v2_1.0_224_quant",
    "ssd_mobilenet_v1_coco_quant",
]
SMALL_MODELS = ["hello_world_int8", "micro_speech_quantized"]


@st.composite
def buffers(draw: st.DrawFn) -> Buffer:
    first = draw(st.integers(-1, 12))
    last = first + draw(st.integers(0, 6))
    size = draw(st.integers(1, 5000))
    blocks = -(-size // ALIGNMENT_BYTES)
    if draw(st.booleans()):
        return Buffer("b", size, first, last)
    cuts = sorted(draw(st.sets(st.integers(1, blocks), max_size=3)) | {0, blocks})
    slices = []
    for start, stop in itertools.pairwise(cuts):
        begin = draw(st.integers(first, last))
        end = draw(st.integers(begin, last))
        slices.append(Slice(start * ALIGNMENT_BYTES, (stop - start) * ALIGNMENT_BYTES, begin, end))
    return Buffer("b", size, first, last, tuple(slices))


def peak(wanted: list[Buffer]) -> int:
    """Count, step by step, what is needed at least."""
    steps = range(-1, max(b.last for b in wanted) + 1)
    needs = [need for b in wanted for need in b.needs]
    return max(sum(n.bytes for n in needs if n.first <= step <= n.last) for step in steps)


@settings(deadline=None)
@given(st.lists(buffers(), min_size=1, max_size=30))
def test_no_two_buffers_collide(wanted: list[Buffer]) -> None:
    offsets = place(wanted)
    occupied: dict[tuple[int, int], int] = {}
    for number, (buffer, offset) in enumerate(zip(wanted, offsets, strict=True)):
        assert offset >= 0
        assert offset % ALIGNMENT_BYTES == 0
        for need in buffer.needs:
            start = (offset + need.offset) // ALIGNMENT_BYTES
            for step in range(need.first, need.last + 1):
                for block in range(start, start + need.bytes // ALIGNMENT_BYTES):
                    assert occupied.setdefault((step, block), number) == number


@settings(deadline=None)
@given(st.lists(buffers(), min_size=1, max_size=30))
def test_plan_is_near_its_bound(wanted: list[Buffer]) -> None:
    bound = lower_bound(wanted)
    assert bound == peak(wanted)
    top = max(b.aligned_bytes + o for b, o in zip(wanted, place(wanted), strict=True))
    if not any(b.slices for b in wanted):
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


@pytest.mark.slow
@pytest.mark.parametrize("config", ["baseline", "simd", "64", "128"])
@pytest.mark.parametrize("name", [*INT8_MODELS, *SMALL_MODELS, UNSIGNED_MODELS[0]])
def test_public_models_reach_the_bound(name: str, config: str, zoo_model) -> None:
    plan = compile_stages(zoo_model(name), config).memory
    assert plan.arena_bytes == plan.lower_bound_bytes == peak([p.buffer for p in plan.placements])


@pytest.mark.parametrize(
    "config", ["baseline", "simd", pytest.param("64", marks=pytest.mark.nightly)]
)
@pytest.mark.parametrize("name", UNSIGNED_MODELS[1:])
def test_large_public_models_reach_the_bound(name: str, config: str, zoo_model) -> None:
    test_public_models_reach_the_bound(name, config, zoo_model)


@pytest.mark.slow
@pytest.mark.parametrize("config", ["baseline", "simd", "64"])
def test_plans_of_random_models_are_near_their_bound(config: str) -> None:
    for seed in range(40):
        for make in (random_networks.network, random_networks.engine_network):
            plan = compile_stages(make(seed).model, config).memory
            assert plan.arena_bytes <= 1.1 * plan.lower_bound_bytes, f"{make.__name__} {seed}"


def live_bytes(compilation: Compilation) -> int:
    """Count, block by block, what the busiest step needs: what was written and is still read."""
    network, plan = compilation.network, compilation.memory
    spans: dict[int, tuple[int, int]] = {}

    def use(number: int, step: int) -> None:
        tensor = network.tensors[number]
        if not tensor.is_constant:
            first, last = spans.get(tensor.index, (step, step))
            spans[tensor.index] = (min(first, step), max(last, step))

    for number in network.graph.inputs:
        use(number, -1)
    for step, item in enumerate(compilation.calls):
        for number in item.tensors.values():
            use(number, step)
            use(number, step + getattr(item, "overlapped_steps", 0))
    for number in network.outputs:
        use(number, len(compilation.calls))
    needed: set[tuple[int, int]] = set()

    def need(offset: int, size: int, steps: range) -> None:
        blocks = range(offset // ALIGNMENT_BYTES, -(-(offset + size) // ALIGNMENT_BYTES))
        needed.update((step, block) for block in blocks for step in steps)

    for placed in plan.placements:
        inside = [t for t in spans if network.tensors[t].name in placed.buffer.name]
        end = placed.offset + placed.buffer.bytes
        here = [t for t in inside if placed.offset <= plan.tensors[t] < end]
        for start in range(placed.offset, end, ALIGNMENT_BYTES):
            over = [
                spans[t]
                for t in here
                if plan.tensors[t] < start + ALIGNMENT_BYTES
                and start < plan.tensors[t] + network.tensors[t].stored_bytes
            ]
            if over:
                steps = range(min(first for first, _ in over), max(last for _, last in over) + 1)
                need(start, ALIGNMENT_BYTES, steps)
    for step, offset in plan.scratch.items():
        need(offset, compilation.calls[step].scratch_bytes, range(step, step + 1))
    return ALIGNMENT_BYTES * max(Counter(step for step, _ in needed).values())


@pytest.mark.parametrize("config", by_day("simd", "64"))
def test_what_no_view_needs_any_more_is_used_again(config: str) -> None:
    for seed in range(60):
        compilation = compile_stages(random_moves.network(seed).model, config)
        arena = compilation.memory.arena_bytes
        assert arena <= 1.1 * live_bytes(compilation), seed


@pytest.mark.parametrize("seed", range(20))
def test_branches_never_collide(seed: int) -> None:
    compilation = compile_stages(random_networks.network(seed).model, "simd")
    network, plan = compilation.network, compilation.memory
    # What each step reads must not have been overwritten since it was written.
    content: dict[int, int] = {}

    def write(tensor: int) -> None:
        start = plan.tensors[tensor]
        for byte in range(start, start + network.tensors[tensor].elements):
            content[byte] = tensor

    for tensor in network.graph.inputs:
        write(tensor)
    for step, item in enumerate(compilation.calls):
        stored = {n: network.tensors[t] for n, t in item.tensors.items()}
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
    for output in network.outputs:
        tensor = network.tensors[output]
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
        match=(
            r"^the model's tensors must fit 268,431,360 bytes of memory, not 400,000,000 "
            r"\(operator [01] ADD has most at once\); make its inputs smaller$"
        ),
    ):
        compile_stages(model, "simd")

"""From calls and a `MemoryPlan` to a `Program`."""

import dataclasses
from collections.abc import Mapping

import numpy as np

from kiwicha.compiler.engine.ir.engine_list import EngineList, ListPart
from kiwicha.compiler.lower.network import Network, Values
from kiwicha.compiler.memory.plan import MemoryPlan
from kiwicha.compiler.steps.calls import ListCall, PlannedStep
from kiwicha.compiler.tflite.element_types import DTYPES
from kiwicha.compiler.tflite.graph import Graph, State
from kiwicha.compiler.tflite.tensor import Tensor
from kiwicha.contract import cfu, configs
from kiwicha.contract.engine import ComputedListCall
from kiwicha.contract.layout import Ref
from kiwicha.contract.program import Where
from kiwicha.program.image import Program
from kiwicha.program.parts import IoTensor, StateTensor, Step
from kiwicha.program.parts import Layer as LayerReport

__all__ = ["emit"]


class _Constants:
    """Aligned byte strings, each stored once."""

    def __init__(self) -> None:
        self.raw = bytearray()
        self._refs: dict[bytes, Ref] = {}
        self._lists: dict[ListPart, Ref] = {}

    def add(self, values: Values) -> Ref:
        raw = np.ascontiguousarray(values).tobytes()
        if raw not in self._refs:
            self.raw.extend(bytes(-len(self.raw) % cfu.ALIGNMENT_BYTES))
            self._refs[raw] = Ref(len(self.raw), len(raw), is_constant=True)
            self.raw.extend(raw)
        return self._refs[raw]

    def add_list(self, part: ListPart, tensors: Mapping[int, int]) -> Ref:
        """Add the lists of a region behind each other; each reaches to the end of the streams."""
        if part not in self._lists:
            images = part.whole.images(tensors)
            self._note(part.whole, self.add(np.frombuffer(b"".join(images), np.uint8)))
        return self._lists[part]

    def _note(self, whole: EngineList, ref: Ref) -> None:
        """Note where the lists of a region are, and those that they bring to the arena."""
        constants = ref.offset + whole.list_bytes + len(whole.streams)
        for member in whole.parts:
            self._lists[member] = ref
            size = member.list_bytes
            ref = Ref(ref.offset + size, ref.bytes - size, is_constant=True)
        for item in whole.brought:
            size = item.whole.stored_bytes
            self._note(item.whole, Ref(constants + item.start, size, is_constant=True))


def emit(
    network: Network, calls: tuple[PlannedStep, ...], plan: MemoryPlan, config: configs.Config
) -> Program:
    """Return the Program."""
    constants = _Constants()

    def tensor_ref(index: int) -> Ref:
        tensor = network.tensors[index]
        if tensor.data is not None:
            return constants.add(tensor.data)
        return Ref(plan.tensors[index], tensor.stored_bytes)

    # Tables of the CPU come before what the engine reads: close to the parameters of steps, their
    # lines of the data cache meet neither these nor, in small Programs, the stack's.
    for item in calls:
        if not isinstance(item, ListCall):
            for values in item.constants.values():
                constants.add(values)
    steps = []
    for number, item in enumerate(calls):
        if isinstance(item, ListCall):
            image = constants.add_list(item.part, plan.tensors)
            params = dataclasses.replace(item.params, image=image)
            tensor = item.part.whole.region.list_tensor
            if isinstance(params, ComputedListCall) and tensor is not None:
                place = Ref(plan.tensors[tensor], item.images[tensor])
                params = dataclasses.replace(params, computed=place)
            steps.append(Step(item.kernel, item.layer, params, item.part.far_layers))
            continue
        refs = {name: constants.add(values) for name, values in item.constants.items()}
        refs |= {name: tensor_ref(index) for name, index in item.tensors.items()}
        for name, (first, count) in item.ranges.items():
            whole = refs[name]
            assert first + count <= whole.bytes
            refs[name] = dataclasses.replace(whole, offset=whole.offset + first, bytes=count)
        if item.scratch_bytes:
            refs["scratch"] = Ref(plan.scratch[number], item.scratch_bytes)
        steps.append(Step(item.kernel, item.layer, dataclasses.replace(item.params, **refs)))

    graph = network.graph
    # Whole lines of the data cache: see `kiwicha_wait_engine`.
    window_bytes = -(-plan.arena_bytes // cfu.CACHE_LINE_BYTES) * cfu.CACHE_LINE_BYTES
    states = graph.states
    inner_bytes = 2 * plan.shift_bytes if states else 0

    def edge_ref(index: int) -> Ref:
        """Return where callers find an input or output."""
        ref = tensor_ref(index)
        return dataclasses.replace(ref, offset=ref.offset - inner_bytes)

    places = {layer: item.kernel.where for item in calls for layer in item.layers}
    program = Program(
        config_hash=config.hash,
        arena_bytes=window_bytes + (0 if states else plan.shift_bytes),
        inputs=tuple(_io_tensor(graph.tensors[i], edge_ref(i)) for i in graph.inputs),
        outputs=tuple(
            _io_tensor(graph.tensors[name], edge_ref(index))
            for name, index in zip(graph.outputs, network.outputs, strict=True)
        ),
        layers=tuple(
            LayerReport(
                layer.operator,
                layer.name,
                _shape(graph, layer.operator),
                layer.macs,
                places.get(position, Where.NONE),
            )
            for position, layer in enumerate(network.layers)
        ),
        steps=tuple(steps),
        states=tuple(
            StateTensor(state.name, tensor_ref(state.before), constants.add(_first(state)))
            for state in states
        ),
        constants=bytes(constants.raw),
        shift_bytes=plan.shift_bytes,
        memory=config.memory,
    )
    _verify(program)
    return program


def _first(state: State) -> Values:
    """Return the first value of a state, as one byte if all are equal."""
    raw = np.frombuffer(state.first, np.uint8)
    return raw[:1] if (raw == raw[0]).all() else raw


def _shape(graph: Graph, operator: int) -> tuple[int, ...]:
    """Return the shape of an operator's first output; () if it has none."""
    outputs = graph.operators[operator].outputs
    return graph.tensors[outputs[0]].shape if outputs else ()


def _io_tensor(tensor: Tensor, ref: Ref) -> IoTensor:
    dtype, quantization = DTYPES[tensor.type], tensor.quantization
    if dtype.size_bytes != 1 or quantization is None:
        return IoTensor(tensor.name, ref, dtype, tensor.shape, 0.0, 0)
    return IoTensor(
        tensor.name, ref, dtype, tensor.shape, quantization.scale, quantization.zero_point
    )


def _verify(program: Program) -> None:
    """Assert that references lie inside the arena or the constants, and every number is stored."""
    for step in program.steps:
        for name, kind, _ in step.params.layout():
            if kind.base == "ref":
                ref = getattr(step.params, name)
                size = len(program.constants) if ref.is_constant else program.window_bytes
                assert ref.offset + ref.bytes <= size, (step, name)
    for tensor in (*program.inputs, *program.outputs):
        assert not tensor.ref.is_constant
    raw = program.to_bytes()
    assert type(program).from_bytes(raw).to_bytes() == raw

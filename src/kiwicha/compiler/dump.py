"""What each stage gave, as text."""

import dataclasses
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from kiwicha.compiler.cpu.calls import KernelCall
from kiwicha.compiler.driver import Compilation
from kiwicha.compiler.engine.ir.engine_list import EngineList
from kiwicha.compiler.engine.ir.operations import Operation
from kiwicha.compiler.engine.ir.plan import Transfer
from kiwicha.compiler.lower.network import Network
from kiwicha.compiler.steps.calls import ListCall
from kiwicha.compiler.tflite.graph import NO_TENSOR, Graph
from kiwicha.compiler.tflite.tensor import Tensor
from kiwicha.contract.layout import Struct
from kiwicha.errors import UsageError
from kiwicha.program.listing import listing, shape_text

__all__ = ["STAGES", "Stage", "dump"]

Lines = Iterator[str]


@dataclasses.dataclass(frozen=True)
class Stage:
    """A stage that can be printed.

    Parameters
    ----------
    text : str
        What it gives, for the documentation.
    lines : callable
        Gives its lines.
    """

    text: str
    lines: Callable[[Compilation], Lines]


def dump(compilation: Compilation, stage: str) -> str:
    """Return what a stage gave.

    Parameters
    ----------
    compilation : Compilation
        From `kiwicha.compiler.compile_stages`.
    stage : str
        One of `STAGES`.

    Raises
    ------
    UsageError
        If there is no such stage.
    """
    if stage not in STAGES:
        raise UsageError(f"stage must be one of {', '.join(STAGES)}, not {stage}")
    return "\n".join(STAGES[stage].lines(compilation)) + "\n"


def _graph(graph: Graph) -> Lines:
    yield f"inputs {list(graph.inputs)}, outputs {list(graph.outputs)}"
    yield ""
    for tensor in graph.tensors:
        yield f"tensor {tensor.index:3} {_tensor(tensor)}"
    yield ""
    for operator in graph.operators:
        inputs = ", ".join("-" if i == NO_TENSOR else str(i) for i in operator.inputs)
        outputs = ", ".join(map(str, operator.outputs))
        settings = " ".join(_changed(operator.options))
        yield f"operator {operator.index:3} {operator.name} ({inputs}) -> {outputs}  {settings}"
    for number, other in enumerate(graph.others, 1):
        yield ""
        yield f"subgraph {number}:"
        yield from _graph(other)


def _checked(compilation: Compilation) -> Lines:
    yield from _graph(compilation.graph)
    if compilation.detection is not None:
        yield ""
        yield f"the host finds boxes in the outputs: {compilation.detection.settings}"


def _tensor(tensor: Tensor) -> str:
    parts = ["uint8 - 128" if tensor.is_shifted else tensor.type.text, shape_text(tensor.shape)]
    if tensor.quantization is not None:
        scales = tensor.quantization.scales
        more = f" ({len(scales)} scales)" if len(scales) > 1 else ""
        parts.append(f"scale {scales[0]:.9g}{more} zero point {tensor.quantization.zero_point}")
    if tensor.data is not None:
        parts.append(f"constant of {len(tensor.data)} bytes")
    return "  ".join([*parts, tensor.name])


def _changed(settings: object) -> Lines:
    """Yield the settings of a dataclass that differ from their defaults."""
    assert dataclasses.is_dataclass(settings)
    for field in dataclasses.fields(settings):
        value = getattr(settings, field.name)
        if value != field.default:
            yield f"{field.name}={getattr(value, 'name', value)}"


def _network(network: Network) -> Lines:
    yield f"inputs {list(network.graph.inputs)}, outputs {list(network.outputs)}"
    for position, layer in enumerate(network.layers):
        kernel = "no call" if layer.kernel is None else layer.kernel.name
        number = f"operator {layer.operator:3}"
        yield f"layer {position:3} {number} {layer.name} -> {kernel}, {layer.macs} MACs"
        for call in layer.calls:
            yield from _call(call.params, dict(call.tensors), dict(call.constants))
    for tensor, source in network.aliases.items():
        yield f"tensor {tensor} has the bytes of tensor {source}"
    for tensor, (whole, first) in network.parts.items():
        yield f"tensor {tensor} lies in tensor {whole}, from byte {first} on"
    for state in network.graph.states:
        yield f"state {state.name}: tensor {state.before}, tensor {state.after} at the end"


def _selection(compilation: Compilation) -> Lines:
    decisions = compilation.engine.selection.decisions
    yield f"{sum(decision.chosen is not None for decision in decisions)} layers for the engine"
    for position, decision in enumerate(decisions):
        yield f"layer {position:3} {compilation.network.layers[position].name}"
        for number, candidate in enumerate(decision.candidates):
            form = f" {candidate.form}" if candidate.form else ""
            use = "chosen" if not number else "next"
            yield f"    {use}: {candidate.operation.kind.name}{form}"
        for refusal in decision.refusals:
            yield f"    not: {refusal.text}"


def _operations(compilation: Compilation) -> Lines:
    yield f"{len(compilation.engine.operations)} operations of the engine"
    for operation in compilation.engine.operations:
        yield from _operation(operation)


def _operation(operation: Operation) -> Lines:
    merged = f", with layers {list(operation.merged)}" if operation.merged else ""
    parts = operation.job_operations
    flags = f" {parts[0].flags.name}" if len(parts) == 1 and parts[0].flags else ""
    tensors = f"({', '.join(map(str, operation.inputs))}) -> {operation.output}"
    yield f"layer {operation.position:3} {operation.kind.name}{flags} {tensors}{merged}"
    yield f"    {' '.join(_changed(operation.window))}"
    if len(parts) > 1:
        yield f"    in {len(parts)} pieces"


def _regions(compilation: Compilation) -> Lines:
    yield f"{len(compilation.engine.regions)} regions of the engine"
    for number, region in enumerate(compilation.engine.regions):
        layers = ", ".join(str(operation.position) for operation in region.operations)
        yield f"region {number:3} layers {layers}"
        yield f"    loads tensors {sorted(region.loads)}, stores tensors {sorted(region.stores)}"


def _plans(compilation: Compilation) -> Lines:
    yield f"{len(compilation.engine.plans)} plans of the engine"
    for number, plan in enumerate(compilation.engine.plans):
        yield f"region {number:3} {plan.scratchpad_bytes} bytes of the scratchpad"
        for cascade in plan.cascades:
            layers = ", ".join(map(str, cascade.positions))
            yield f"    cascade of layers {layers}: {cascade.jobs} jobs"
        for tensor in plan.streamed:
            yield f"    tensor {tensor} is streamed"
        for tensor in plan.passed:
            yield f"    tensor {tensor} is never whole"
        for item, offset in zip(plan.buffers, plan.offsets, strict=True):
            yield f"    byte {offset:6} {item.bytes:6} bytes {item.name}"


def _lists(lists: Sequence[EngineList]) -> Lines:
    yield f"{len(lists)} lists of the engine"
    for number, found in enumerate(lists):
        jobs, transfers = iter(found.jobs), map(found.transfers.__getitem__, found.event_transfers)
        yield (
            f"list {number:3} {len(found.jobs)} jobs, {len(found.transfers)} transfers, "
            f"{len(found.streams)} bytes of weight streams"
        )
        for event in found.plan.events:
            if isinstance(event, Transfer):
                planned = next(transfers)
                what = "a constant" if event.constant else f"tensor {planned.tensor}"
                yield f"    transfer of {what}: {_numbers(planned.transfer)}"
            else:
                yield f"    job of layer {event.operation.position}: {_numbers(next(jobs))}"
        for item in found.brought:
            size, first = item.whole.stored_bytes, item.transfers.start
            yield f"    transfers {first} and {first + 1} bring the next list, {size} bytes"


def _kernels(compilation: Compilation) -> Lines:
    yield f"{len(compilation.kernel_calls)} kernel calls"
    for call in compilation.kernel_calls:
        yield from _kernel_call("call", call)


def _kernel_call(what: str, call: KernelCall) -> Lines:
    scratch = f", {call.scratch_bytes} bytes of scratch" if call.scratch_bytes else ""
    yield f"{what} of layer {call.layer:3} {call.kernel.name}{scratch}"
    yield from _call(call.params, dict(call.tensors), dict(call.constants))


def _steps(compilation: Compilation) -> Lines:
    yield f"{len(compilation.calls)} steps"
    beside = 0
    for number, call in enumerate(compilation.calls):
        where = ", beside the engine" if beside else ""
        layers = ", ".join(map(str, call.layers))
        yield f"step {number:3} {call.kernel.name} layers {layers}{where}"
        beside = call.overlapped_steps if isinstance(call, ListCall) else max(beside - 1, 0)


def _call(
    params: Struct,
    tensors: dict[str, int],
    constants: dict[str, np.ndarray[tuple[int, ...], np.dtype[np.generic]]],
) -> Lines:
    for name, tensor in tensors.items():
        yield f"    {name:14} tensor {tensor}"
    for name, values in constants.items():
        yield f"    {name:14} {values.dtype} {shape_text(values.shape)}"
    yield "    " + _numbers(params)


def _numbers(params: Struct) -> str:
    return " ".join(
        f"{name}={getattr(params, name)}" for name, kind, _ in params.layout() if kind.base != "ref"
    )


def _memory(compilation: Compilation) -> Lines:
    plan = compilation.memory
    yield f"arena {plan.arena_bytes} bytes, lower bound {plan.lower_bound_bytes}"
    if plan.shift_bytes:
        yield f"every second inference {plan.shift_bytes} bytes further"
    yield f"{'offset':>9} {'bytes':>9}  steps      what"
    for item in sorted(plan.placements, key=lambda p: (p.buffer.first, p.offset)):
        buffer = item.buffer
        steps = f"{buffer.first} to {buffer.last}"
        yield f"{item.offset:9} {buffer.bytes:9}  {steps:9}  {buffer.name}"


def _program(compilation: Compilation) -> Lines:
    yield listing(compilation.program)


STAGES: dict[str, Stage] = {
    "read": Stage("the graph as it is in the file", lambda c: _graph(c.file)),
    "fold": Stage("the graph with its arithmetic on shapes done", lambda c: _graph(c.folded)),
    "check": Stage("the graph that is supported, without what the host does", _checked),
    "lower": Stage("the network: layers as kernel calls", lambda c: _network(c.lowered)),
    "eliminate": Stage("the network without dead channels", lambda c: _network(c.network)),
    "select": Stage(
        "forms in which the engine can compute each layer, and why not in others", _selection
    ),
    "operations": Stage("what the engine computes, in its terms", _operations),
    "regions": Stage("which operations are one list", _regions),
    "schedule": Stage("cascades, and the scratchpad, of each region", _plans),
    "generate": Stage("jobs and transfers of each list", lambda c: _lists(c.engine.lists)),
    "code": Stage("the lists with coded weights", lambda c: _lists(c.lists)),
    "kernels": Stage("kernel calls of the CPU", _kernels),
    "overlap": Stage("steps in the order in which they start", _steps),
    "allocate": Stage("where the tensors lie in DRAM", _memory),
    "emit": Stage("the listing of the Program", _program),
}
"""The stages by name, in order."""

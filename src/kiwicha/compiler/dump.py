"""What each pass gave, as text."""

import dataclasses
from collections.abc import Callable, Iterator

import numpy as np

from kiwicha.compiler.driver import Compilation
from kiwicha.compiler.tflite.graph import NO_TENSOR, Tensor
from kiwicha.contract.layout import Struct
from kiwicha.errors import UsageError
from kiwicha.program.listing import listing, shape_text

__all__ = ["STAGES", "dump"]


def dump(compilation: Compilation, stage: str) -> str:
    """Return what a pass gave.

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
    return "\n".join(STAGES[stage](compilation)) + "\n"


def _graph(compilation: Compilation) -> Iterator[str]:
    graph = compilation.graph
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


def _tensor(tensor: Tensor) -> str:
    parts = ["uint8 - 128" if tensor.is_shifted else tensor.type.text, shape_text(tensor.shape)]
    if tensor.quantization is not None:
        scales = tensor.quantization.scales
        more = f" ({len(scales)} scales)" if len(scales) > 1 else ""
        parts.append(f"scale {scales[0]:.9g}{more} zero point {tensor.quantization.zero_point}")
    if tensor.data is not None:
        parts.append(f"constant of {len(tensor.data)} bytes")
    return "  ".join([*parts, tensor.name])


def _changed(settings: object) -> Iterator[str]:
    """Yield the settings of a dataclass that differ from their defaults."""
    assert dataclasses.is_dataclass(settings)
    for field in dataclasses.fields(settings):
        value = getattr(settings, field.name)
        if value != field.default:
            yield f"{field.name}={getattr(value, 'name', value)}"


def _layers(compilation: Compilation) -> Iterator[str]:
    network = compilation.network
    for layer in network.layers:
        kernel = "no step" if layer.kernel is None else layer.kernel.name
        yield f"layer {layer.operator:3} {layer.name} -> {kernel}, {layer.macs} MACs"
        for call in layer.calls:
            yield from _call(call.params, dict(call.tensors), dict(call.constants))
    for tensor, source in network.aliases.items():
        yield f"tensor {tensor} shares the memory of tensor {source}"
    for tensor, (whole, first) in network.parts.items():
        yield f"tensor {tensor} lies in tensor {whole}, from byte {first} on"


def _tiles(compilation: Compilation) -> Iterator[str]:
    for number, item in enumerate(compilation.tiles):
        scratch = f", {item.scratch_bytes} bytes of scratch" if item.scratch_bytes else ""
        yield f"step {number:3} layer {item.layer:3} {item.kernel.name}{scratch}"
        yield from _call(item.params, dict(item.tensors), dict(item.constants))


def _call(
    params: Struct,
    tensors: dict[str, int],
    constants: dict[str, np.ndarray[tuple[int, ...], np.dtype[np.generic]]],
) -> Iterator[str]:
    for name, tensor in tensors.items():
        yield f"    {name:14} tensor {tensor}"
    for name, values in constants.items():
        yield f"    {name:14} {values.dtype} {shape_text(values.shape)}"
    numbers = [
        f"{name}={getattr(params, name)}" for name, kind, _ in params.layout() if kind.base != "ref"
    ]
    yield "    " + " ".join(numbers)


def _memory(compilation: Compilation) -> Iterator[str]:
    plan = compilation.memory
    yield f"arena {plan.arena_bytes} bytes, lower bound {plan.lower_bound_bytes}"
    yield f"{'offset':>9} {'bytes':>9}  steps      what"
    for item in sorted(plan.placements, key=lambda p: (p.buffer.first, p.offset)):
        buffer = item.buffer
        steps = f"{buffer.first} to {buffer.last}"
        yield f"{item.offset:9} {buffer.bytes:9}  {steps:9}  {buffer.name}"


def _program(compilation: Compilation) -> Iterator[str]:
    yield listing(compilation.program)


STAGES: dict[str, Callable[[Compilation], Iterator[str]]] = {
    "graph": _graph,
    "layers": _layers,
    "tiles": _tiles,
    "memory": _memory,
    "program": _program,
}
"""Names of the stages, in order, and what prints them."""

"""Disassembler of Programs."""

from collections.abc import Iterator, Mapping, Sequence

from kiwicha.contract.layout import Ref, Struct
from kiwicha.errors import ProgramError
from kiwicha.program.image import Program
from kiwicha.program.parts import IoTensor

__all__ = ["listing", "note_lines", "shape_text"]


def listing(
    program: Program, notes: Mapping[int, str] | None = None, *, last_step: str = ""
) -> str:
    """Return a Program as text: tensors, layers and steps with all parameters.

    Parameters
    ----------
    program : Program
        For any configuration.
    notes : mapping of int to str, optional
        Why layers are on the CPU, by their position: lines under the table of layers.
    last_step : str
        What the host does with the outputs: another line there.
    """
    return "\n".join(_lines(program, notes or {}, last_step))


def note_lines(program: Program, notes: Mapping[int, str]) -> list[str]:
    """Return notes on layers, a line for each."""
    layers = [(program.layers[position], note) for position, note in sorted(notes.items())]
    return [f"layer {layer.index} {layer.operator} is on the CPU: {note}" for layer, note in layers]


def shape_text(shape: Sequence[int]) -> str:
    """Return a shape such as ``1x96x96x1``; ``scalar`` for ()."""
    return "x".join(map(str, shape)) or "scalar"


def _lines(program: Program, notes: Mapping[int, str], last_step: str) -> Iterator[str]:
    yield f"configuration {_config(program)}"
    yield (
        f"{len(program.to_bytes())} bytes, {len(program.constants)} of them constants; "
        f"arena of {program.arena_bytes} bytes; "
        + (f"every second inference {program.shift_bytes} further; " if program.shift_bytes else "")
        + f"{sum(layer.macs for layer in program.layers)} MACs"
    )
    for what, tensors in (("input", program.inputs), ("output", program.outputs)):
        for number, tensor in enumerate(tensors):
            yield f"{what} {number}: {_io(tensor)}"
    for number, state in enumerate(program.states):
        yield f"state {number}: {state.name}  {_ref(state.ref)}, first {_ref(state.first)}"
    yield ""
    yield f"{'layer':>5}  {'operator':18} {'output':16} {'MACs':>10}  where"
    for layer in program.layers:
        yield (
            f"{layer.index:5}  {layer.operator:18} {shape_text(layer.shape):16} "
            f"{layer.macs:10}  {layer.where.text}"
        )
    yield from note_lines(program, notes)
    if last_step:
        yield last_step
    for number, step in enumerate(program.steps):
        yield ""
        layer = program.layers[step.layer]
        yield f"step {number}: {step.kernel.name} for layer {layer.index} {layer.operator}"
        yield from _params(step.params)


def _config(program: Program) -> str:
    try:
        return f"{program.config.name} ({program.config_hash:08x})"
    except ProgramError:
        return f"{program.config_hash:08x}, unknown to this version"


def _io(tensor: IoTensor) -> str:
    return (
        f"{tensor.name}  {tensor.dtype.name.lower()} {shape_text(tensor.shape)}  "
        f"scale {tensor.scale:.9g} zero point {tensor.zero_point}  {_ref(tensor.ref)}"
    )


def _params(params: Struct) -> Iterator[str]:
    numbers = []
    for name, kind, _ in params.layout():
        value = getattr(params, name)
        if kind.base == "ref":
            yield f"    {name:14} {_ref(value)}"
        else:
            numbers.append(f"{name}={','.join(map(str, value)) if kind.count > 1 else value}")
    yield "    " + " ".join(numbers)


def _ref(ref: Ref) -> str:
    if not ref.bytes:
        return "none"
    where = "constants" if ref.is_constant else "arena"
    return f"{where}[{ref.offset:#x}..{ref.offset + ref.bytes:#x}] {ref.bytes} bytes"

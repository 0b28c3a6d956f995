"""Layers that only move data in the engine's terms: copies of bytes, and tables on their way."""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from kiwicha.compiler.engine.ir.limits import limit, require
from kiwicha.compiler.engine.ir.move_operations import MoveOperation, moved
from kiwicha.compiler.engine.ir.operations import Operation, OperationSequence, internal_tensor
from kiwicha.compiler.engine.ir.plane_forms import plane_forms
from kiwicha.compiler.engine.ir.selection import Candidate
from kiwicha.compiler.engine.ir.strided_copies import Loop, StridedCopy, in_order
from kiwicha.compiler.engine.ir.window import Image
from kiwicha.compiler.engine.select.elements.elementwise import table_lookup
from kiwicha.compiler.engine.select.moves.short_rows import has_long_rows, in_short_rows
from kiwicha.compiler.lower.network import Layer, Network
from kiwicha.compiler.tflite.operators import Family, of_family
from kiwicha.compiler.tflite.tensor import Tensor
from kiwicha.compiler.tflite.variables import ASSIGN, READ
from kiwicha.contract.engine import LINE_BYTES
from kiwicha.contract.program import Kernel
from kiwicha.kernels.copy import Copy

__all__ = ["MOVE_LIMITS", "image_of", "is_move", "move_candidates", "move_operation"]

_OPERATORS = (
    *(name for name in of_family(Family.MOVE) if name not in of_family(Family.RESHAPE)),
    *(ASSIGN, READ),
)
_KERNELS = frozenset({Kernel.COPY, Kernel.LOOKUP})
FILLING_BYTES = 1024
"""Of a constant with which a part of a tensor is filled: longer ones gain little."""


def is_move(layer: Layer) -> bool:
    """Whether a layer only moves data, some of it through tables."""
    kernels = {call.kernel for call in layer.calls}
    is_plain = len(layer.calls) == 1 and not layer.ranges
    return kernels <= _KERNELS and (Kernel.COPY in kernels or (bool(kernels) and not is_plain))


@dataclass
class _Steps:
    """What a layer does, as far as it is known."""

    network: Network
    position: int
    operations: list[Operation] = field(default_factory=list)
    copies: dict[int, list[StridedCopy]] = field(default_factory=dict)
    images: dict[int, Image] = field(default_factory=dict)
    names: dict[int, int] = field(default_factory=dict)
    """What working memory is called: it is another tensor when it is written anew."""
    read: set[int] = field(default_factory=set)
    constants: dict[int, bytes] = field(default_factory=dict)
    """What constants hold that are read."""
    patterns: dict[int, bytes] = field(default_factory=dict)
    """Constants that are a number of several bytes, which is written again and again."""

    def image(self, tensor: int) -> Image:
        """Return the shape of a tensor."""
        return self.images.get(tensor) or image_of(self.network.tensors[tensor])

    def source(self, tensor: int) -> int:
        """Return what a tensor that is read is called."""
        self.read.add(self.names.get(tensor, tensor))
        data = self.network.tensors[tensor].data
        if data is not None:
            self.constants[tensor] = data.tobytes()
        return self.names.get(tensor, tensor)

    def target(self, tensor: int, size: int, rows: int) -> int:
        """Return what a tensor that is written is called; how large it is, if it is unknown."""
        layer = self.network.layers[self.position]
        operator = self.network.graph.operators[layer.operator]
        own = {t for call in layer.calls for name, t in call.tensors.items() if name != "output"}
        outputs = {self.network.aliases.get(t, t) for t in operator.outputs}
        if tensor not in own or tensor in outputs or self.is_between(tensor):
            return tensor
        if self.names.get(tensor) in {None, *self.read}:
            self.names[tensor] = self.new(Image(rows, 1, size // rows))
        return self.names[tensor]

    def is_between(self, tensor: int) -> bool:
        """Whether one copy writes all of a tensor: it may lie in the arena, for two passes."""
        calls = self.network.layers[self.position].calls
        written = [call for call in calls if call.tensors["output"] == tensor]
        size = self.network.tensors[tensor].stored_bytes
        return {call.kernel for call in calls} == {Kernel.COPY} and [
            call.ranges["output"] for call in written
        ] == [(0, size)]

    def new(self, image: Image) -> int:
        """Return a tensor of a shape that only this layer knows."""
        tensor = internal_tensor(self.position, len(self.images))
        self.images[tensor] = image
        return tensor

    def constant(self, values: bytes, image: Image) -> int:
        """Return a tensor that holds a constant which only this layer knows."""
        tensor = self.new(image)
        self.constants[tensor] = values
        return tensor


@limit(*_OPERATORS)
def byte_tables(layer: Layer) -> str | None:
    """What goes through a table on its way is int8 or uint8."""
    tables = [call.constants["table"] for call in layer.calls if call.kernel is Kernel.LOOKUP]
    if all(table.dtype == np.int8 for table in tables):
        return None
    return "makes float32 of what it moves"


@limit(*_OPERATORS)
def whole_outputs(steps: _Steps) -> str | None:
    """A layer writes whole tensors, or contiguous parts of one."""
    for tensor, copies in steps.copies.items():
        size = steps.image(tensor).bytes
        written = sum(copy.bytes for copy in copies)
        if written != size and not all(map(_is_contiguous, copies)):
            return f"writes {written:,} of the {size:,} bytes of a tensor; the others are there"
    return None


_STEP_LIMITS = (whole_outputs,)
MOVE_LIMITS = (byte_tables, *_STEP_LIMITS)
"""What must hold for layers that only move data."""


def move_operation(network: Network, position: int) -> Operation:
    """Return a layer that only moves data.

    Parameters
    ----------
    network : Network
        The model.
    position : int
        Position of a layer for which `is_move` holds.

    Raises
    ------
    BrokenLimitError
        If the engine cannot do it.
    """
    layer = network.layers[position]
    require([byte_tables], layer)
    steps = _Steps(network, position)
    for call in layer.calls:
        if call.kernel is Kernel.LOOKUP:
            _look_up(steps, call)
        else:
            _copy(steps, call)
    require(_STEP_LIMITS, steps)
    operations: list[Operation] = []
    for tensor in steps.copies:
        operations += (
            _in_parts(steps, tensor) if _is_in_parts(steps, tensor) else [_whole(steps, tensor)]
        )
    return OperationSequence.of([*steps.operations, *operations])


def _is_contiguous(copy: StridedCopy) -> bool:
    """Whether a copy writes every byte from its first to its last."""
    first, end = copy.target_span
    return end - first == copy.bytes


def _is_in_parts(steps: _Steps, tensor: int) -> bool:
    """Whether a tensor is written in contiguous parts, one after the other.

    So it must be if it is not written as a whole, or only filled with a number, and is if tables
    are in between: nothing of it has to stay in the scratchpad for another part.
    """
    copies = steps.copies[tensor]
    is_partial = sum(copy.bytes for copy in copies) != steps.image(tensor).bytes
    is_partial = is_partial or all(copy.source is None for copy in copies)
    is_looked_up = bool(steps.operations) and len(copies) > 1
    return is_partial or (is_looked_up and tensor >= 0 and all(map(_is_contiguous, copies)))


def _whole(steps: _Steps, tensor: int) -> MoveOperation:
    """Return the move that writes a whole tensor."""
    copies = steps.copies[tensor]
    images = {copy.source: steps.image(copy.source) for copy in copies if copy.source is not None}
    return moved(steps.position, copies, images, tensor, steps.image(tensor), steps.constants)


def _in_parts(steps: _Steps, tensor: int) -> Iterator[Operation]:
    """Yield moves that write a part of a tensor each, and before each what makes its source."""
    for copy in steps.copies[tensor]:
        if copy.source is None or copy.source in steps.patterns:
            yield from _filled(steps, copy, tensor)
            continue
        makers = [item for item in steps.operations if item.output == copy.source]
        yield from makers
        steps.operations = [item for item in steps.operations if item not in makers]
        source = steps.image(copy.source)
        size = copy.bytes
        rows = source.rows if size % source.rows == 0 else 1
        image = source if source.bytes == size else Image(rows, 1, size // rows)
        there = dataclasses.replace(copy, target_start=0)
        part = steps.new(image)
        sources = {copy.source: source}
        move = moved(steps.position, [there], sources, part, image, steps.constants)
        yield move.with_place((tensor, copy.target_start))


def _filled(steps: _Steps, copy: StridedCopy, tensor: int) -> Iterator[Operation]:
    """Yield moves that fill a contiguous part of a tensor with a number: whole rows, and the rest.

    A constant of some of these numbers is loaded once, and serves all of them.
    """
    value = bytes([copy.fill & 0xFF]) if copy.source is None else steps.patterns[copy.source]
    count = min(FILLING_BYTES, -(-copy.bytes // LINE_BYTES) * LINE_BYTES)
    source = steps.constant(value * (count // len(value)), Image(1, 1, count))
    images = {source: steps.image(source)}
    rows = copy.bytes // count
    place = copy.target_start
    for image in (Image(rows, 1, count), Image(1, 1, copy.bytes % count)):
        if not image.bytes:
            continue
        loops = (Loop(image.rows, 0, count),) if image.rows > 1 else ()
        part = steps.new(image)
        copies = [StridedCopy(source, 0, 0, loops, image.row_bytes)]
        move = moved(steps.position, copies, images, part, image, steps.constants)
        yield dataclasses.replace(move, place=(tensor, place))
        place += image.bytes


def move_candidates(network: Network, position: int) -> Iterator[Candidate]:
    """Yield the forms of a layer that only moves data; see `move_operation`."""
    operation = move_operation(network, position)
    yield Candidate("", operation)
    if isinstance(operation, MoveOperation):
        output = operation.output
        shape = network.tensors[output].shape if output >= 0 else ()
        for form in plane_forms(operation, shape):
            yield Candidate(f"with output rows of {form.planes} parts", form)
    if has_long_rows(operation):
        yield Candidate("in short rows", in_short_rows(operation))


def image_of(tensor: Tensor) -> Image:
    """Return a tensor as an image; see `Image.of_shape`."""
    return Image.of_shape(tensor.shape, tensor.stored_bytes // max(tensor.elements, 1))


def _copy(steps: _Steps, call: Layer) -> None:
    """Note a call of COPY."""
    p: Copy = call.params
    source, fill = None, 0
    rows = 1
    if "input" in call.tensors:
        source = steps.source(call.tensors["input"])
        rows = steps.image(source).rows
    else:
        value = call.constants["input"].tobytes()
        fill = int(np.frombuffer(value, np.int8)[0])
        if len(set(value)) > 1:
            source = steps.constant(value, Image(1, 1, len(value)))
            steps.patterns[source] = value
    output = call.tensors["output"]
    size = steps.network.tensors[output].stored_bytes
    target = steps.target(output, size, rows if size % rows == 0 else 1)
    first, _ = call.ranges.get("input", (0, 0))
    # What fills gaps has no place; with the target's steps its loops become as few as can be.
    strides = p.input_strides if source is not None else p.output_strides
    loops = map(Loop, p.shape, strides, p.output_strides)
    ordered, piece = in_order(loops, p.piece_bytes)
    steps.copies.setdefault(target, []).append(
        StridedCopy(
            source=source,
            source_start=first + p.input_start,
            target_start=call.ranges.get("output", (0, 0))[0],
            loops=ordered,
            piece_bytes=piece,
            fill=fill,
        )
    )


def _look_up(steps: _Steps, call: Layer) -> None:
    """Note a call of LOOKUP: a table, and a copy to where its results go if that is a part."""
    source = steps.source(call.tensors["input"])
    image = steps.image(source)
    first, size = call.ranges.get("output", (0, image.bytes))
    target = steps.target(call.tensors["output"], size, image.rows)
    is_whole = steps.image(target).bytes == size
    if source in steps.constants:
        _look_up_constant(steps, call, source, target, first)
        return
    result = target if is_whole else steps.new(image)
    if result < 0:
        steps.images[result] = image
    steps.operations.append(
        table_lookup(steps.position, source, result, image, call.constants["table"])
    )
    if not is_whole:
        steps.read.add(result)
        steps.copies.setdefault(target, []).append(StridedCopy(result, 0, first, (), image.bytes))


def _look_up_constant(steps: _Steps, call: Layer, source: int, target: int, first: int) -> None:
    """Note the results of a table as a constant, and a copy of it unless only this layer has it."""
    values = np.frombuffer(steps.constants[source], np.uint8)
    found = call.constants["table"][values].tobytes()
    image = steps.image(source)
    if target < 0 and steps.image(target).bytes == image.bytes:
        steps.constants[target] = found
        return
    result = steps.constant(found, image)
    steps.read.add(result)
    steps.copies.setdefault(target, []).append(StridedCopy(result, 0, first, (), image.bytes))

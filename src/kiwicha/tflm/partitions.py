"""Which operators of a model become Programs, and which stay TensorFlow Lite Micro's own."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from kiwicha.compiler import Compilation, compile_stages
from kiwicha.compiler.check.check import violations
from kiwicha.compiler.tflite.detectors import NAME as DETECTION
from kiwicha.compiler.tflite.graph import NO_TENSOR, Graph
from kiwicha.compiler.tflite.reader import IDENTIFIER, read
from kiwicha.compiler.tflite.shape_folding import fold_shapes
from kiwicha.compiler.tflite.tensor import TensorType
from kiwicha.contract.configs import Config
from kiwicha.contract.detect import Detect
from kiwicha.contract.goal import Goal
from kiwicha.errors import UnsupportedModelError, UsageError
from kiwicha.tflite_writer.builder import ModelBuilder
from kiwicha.tflm.source import Source, read_source

__all__ = ["Partition", "Partitioned", "divide"]

_Compile = Callable[[bytes], Compilation]
_HANDLES = (TensorType.RESOURCE, TensorType.VARIANT)
"""Types of tensors that stand for what is elsewhere."""


@dataclass(frozen=True, eq=False)
class Partition:
    """Operators that one Program computes.

    Parameters
    ----------
    operators : range
        Their indices, one after the other.
    inputs, outputs : tuple of int
        Tensors that the Program reads and gives, in its order.
    compilation : Compilation
        Of a model of these operators.
    """

    operators: range
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    compilation: Compilation


@dataclass(frozen=True, eq=False)
class Partitioned:
    """A model, and what is computed of it by Programs.

    Parameters
    ----------
    source : Source
        The file.
    partitions : tuple of Partition
        In order of execution.
    """

    source: Source
    partitions: tuple[Partition, ...]

    @property
    def left(self) -> tuple[str, ...]:
        """Names of the operators that stay TensorFlow Lite Micro's own, in order, with index."""
        taken = {index for item in self.partitions for index in item.operators}
        return tuple(
            f"{index} {item.code[0]}"
            for index, item in enumerate(self.source.operators)
            if index not in taken
        )


def divide(
    raw: bytes,
    config: Config,
    *,
    optimize: Goal = Goal.CYCLES,
    eliminate: bool = True,
    detect: Detect = Detect.HOST,
) -> Partitioned:
    """Compile what is supported of a model: all of it, or runs of operators.

    Parameters
    ----------
    raw : bytes
        Of a ``.tflite`` file.
    config : Config
        What Programs run on.
    optimize, eliminate, detect
        As of `kiwicha.compiler.compile_model`. With ``host``, a detector's last operator stays
        TensorFlow Lite Micro's own.

    Raises
    ------
    UsageError
        If it is another kind of file.
    ModelError
        If the file is not well-formed, or has what cannot be copied.
    UnsupportedModelError
        If nothing is supported, or not all of a model of several subgraphs.
    """
    if raw[4:8] != IDENTIFIER:
        raise UsageError("--format tflite must be given a .tflite model: it stays one")

    def compiled(model: bytes) -> Compilation:
        return compile_stages(model, config, optimize=optimize, eliminate=eliminate, detect=detect)

    graph = read(raw)
    source = read_source(raw, graph)
    refusal = None
    try:
        whole = compiled(raw)
    except UnsupportedModelError as error:
        refusal = error
    else:
        # An operator gives each of its outputs once, and none of its inputs.
        is_plain = len({*graph.inputs, *graph.outputs}) == len(graph.inputs + graph.outputs)
        if whole.detection is None and (is_plain or graph.others):
            every = Partition(range(len(graph.operators)), graph.inputs, graph.outputs, whole)
            return Partitioned(source, (every,))
    if graph.others:
        raise refusal or UnsupportedModelError(violations(graph))
    refused = _refused(graph)
    runs = _runs(range(len(graph.operators)), refused)
    found = tuple(item for run in runs for item in _compiled(source, run, compiled))
    if not found:
        raise refusal or UnsupportedModelError(violations(graph))
    return Partitioned(source, found)


def _refused(graph: Graph) -> set[int]:
    """Return the operators that no Program computes, as far as each can be told by itself."""
    folded = fold_shapes(graph)
    refused = {item.operator for item in violations(folded) if item.operator is not None}
    users = Counter(
        index
        for item in graph.operators
        for index in {*item.inputs, *item.outputs} - {NO_TENSOR}
        if graph.tensors[index].is_variable
    )
    shared = {index for index, count in users.items() if count > 1}
    for item in graph.operators:
        operands = {*item.inputs, *item.outputs} - {NO_TENSOR}
        has_handle = any(graph.tensors[index].type in _HANDLES for index in operands)
        # What is kept between inferences has one owner.
        if item.name == DETECTION or has_handle or operands & shared:
            refused.add(item.index)
    return refused


def _runs(run: range, refused: Iterable[int]) -> Iterator[range]:
    """Yield the longest runs without those that are refused."""
    start = run.start
    for index in (*sorted(set(refused) & set(run)), run.stop):
        if index > start:
            yield range(start, index)
        start = index + 1


def _compiled(source: Source, run: range, compiled: _Compile) -> Iterator[Partition]:
    """Yield the Programs of a run, which is cut where a rule for whole models is broken."""
    inputs, outputs = _border(source, run)
    if not inputs or not outputs:
        return
    try:
        stages = compiled(_cut(source, run, inputs, outputs))
    except UnsupportedModelError as error:
        refused = {run.start + v.operator for v in error.violations if v.operator is not None}
        names = {v.tensor for v in error.violations if v.operator is None and v.tensor}
        refused |= {index for index in run if names & _names(source, index)}
        for part in _runs(run, refused or run):
            yield from _compiled(source, part, compiled)
    else:
        yield Partition(run, inputs, outputs, stages)


def _names(source: Source, index: int) -> set[str]:
    operator = source.operators[index]
    operands = {*operator.inputs, *operator.outputs} - {NO_TENSOR}
    return {source.tensors[operand].name for operand in operands}


def _border(source: Source, run: range) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the tensors that a run of operators reads from others, and those that it gives."""
    inside = [source.operators[index] for index in run]
    written = dict.fromkeys(index for item in inside for index in item.outputs)
    read = dict.fromkeys(index for item in inside for index in item.inputs)
    needed = {*source.outputs}
    for index, item in enumerate(source.operators):
        if index not in run:
            needed.update(item.inputs)
    inputs = tuple(
        index
        for index in read
        if index != NO_TENSOR
        and index not in written
        and source.tensors[index].data is None
        and not source.tensors[index].is_variable
    )
    return inputs, tuple(index for index in written if index in needed)


def _cut(source: Source, run: range, inputs: tuple[int, ...], outputs: tuple[int, ...]) -> bytes:
    """Return a model of a run of operators."""
    builder = ModelBuilder("")
    places: dict[int, int] = {NO_TENSOR: NO_TENSOR}

    def placed(indices: Iterable[int]) -> tuple[int, ...]:
        for index in indices:
            if index not in places:
                places[index] = len(builder.tensors)
                builder.tensors.append(source.tensors[index])
        return tuple(places[index] for index in indices)

    ends = placed(inputs), placed(outputs)
    for index in run:
        item = source.operators[index]
        builder.operators.append(
            replace(item, inputs=placed(item.inputs), outputs=placed(item.outputs))
        )
    return builder.build(*ends)

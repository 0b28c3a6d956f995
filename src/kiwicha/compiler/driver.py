"""The compiler from end to end: every stage, in order.

Each stage is a function from one frozen record to the next, which it has verified.
"""

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kiwicha.compiler.check.check import check
from kiwicha.compiler.cpu.calls import KernelCall
from kiwicha.compiler.cpu.layers import choose_kernels, layer_cycles
from kiwicha.compiler.engine.codegen.generate import Generator
from kiwicha.compiler.engine.codegen.parameter_sharing import share_parameters
from kiwicha.compiler.engine.codegen.residency import keep_weights_of_one
from kiwicha.compiler.engine.codegen.weight_coding import code_weights
from kiwicha.compiler.engine.cost.cycles import predict_program
from kiwicha.compiler.engine.ir.engine_list import EngineList
from kiwicha.compiler.engine.ir.operations import Operation
from kiwicha.compiler.engine.ir.plan import Plan
from kiwicha.compiler.engine.ir.region import Region
from kiwicha.compiler.engine.ir.selection import NOTHING_SELECTED, Selection
from kiwicha.compiler.engine.schedule.regions import Scheduler
from kiwicha.compiler.engine.select.elements.table_composition import compose_tables
from kiwicha.compiler.engine.select.moves.gaps import close_gaps
from kiwicha.compiler.engine.select.moves.shapes import shape_moves
from kiwicha.compiler.engine.select.partition import padding_troubles, partition
from kiwicha.compiler.engine.select.products.composition import compose_moves
from kiwicha.compiler.engine.select.recurrent import without_gates
from kiwicha.compiler.engine.select.resize.column_blocks import resize_in_blocks
from kiwicha.compiler.engine.select.select import select
from kiwicha.compiler.engine.select.shorts.whole_planes import with_whole_planes
from kiwicha.compiler.engine.select.small_lists import small_list_troubles
from kiwicha.compiler.lower.lower import COPIED_BYTES, lower
from kiwicha.compiler.lower.network import Network
from kiwicha.compiler.memory.plan import MemoryPlan
from kiwicha.compiler.onnx.formats import read
from kiwicha.compiler.optimize.byte_functions import merge_byte_functions
from kiwicha.compiler.optimize.dead_channels import eliminate_dead_channels
from kiwicha.compiler.optimize.packed_order import order_for_packing
from kiwicha.compiler.optimize.pair_functions import merge_pair_functions
from kiwicha.compiler.optimize.position_parts import find_positions_in_parts
from kiwicha.compiler.optimize.short_lines import merge_short_lines
from kiwicha.compiler.optimize.sound_frames import merge_frames
from kiwicha.compiler.optimize.transpositions import cancel_transpositions
from kiwicha.compiler.optimize.two_passes import transpose_in_two_passes
from kiwicha.compiler.steps.allocate import allocate
from kiwicha.compiler.steps.calls import PlannedStep, in_order
from kiwicha.compiler.steps.emit import emit
from kiwicha.compiler.steps.overlap import overlap
from kiwicha.compiler.tflite.control_flow import with_inlined_calls
from kiwicha.compiler.tflite.detectors import detach_detector, keep_detector
from kiwicha.compiler.tflite.graph import Graph
from kiwicha.compiler.tflite.shape_folding import fold_shapes
from kiwicha.contract.configs import Config, find_config
from kiwicha.contract.detect import Detect
from kiwicha.contract.engine import has_packed
from kiwicha.contract.goal import Goal
from kiwicha.detection.boxes import Detection
from kiwicha.errors import KiwichaError, UsageError, reason
from kiwicha.program.image import Program

__all__ = [
    "Compilation",
    "EnginePlan",
    "compile_model",
    "compile_stages",
    "plan_engine",
    "require_supported",
    "with_double_buffer",
]


@dataclass(frozen=True, eq=False)
class EnginePlan:
    """What the engine computes, and how.

    Parameters
    ----------
    selection : Selection
        What was decided for each layer, and why.
    operations : tuple of Operation
        What it computes, in its terms, in order.
    regions : tuple of Region
        Operations one after the other, without the CPU; in order.
    plans : tuple of Plan
        How each region is done.
    lists : tuple of EngineList
        Jobs and transfers of each region; no weight stream is coded.
    """

    selection: Selection = NOTHING_SELECTED
    operations: tuple[Operation, ...] = ()
    regions: tuple[Region, ...] = ()
    plans: tuple[Plan, ...] = ()
    lists: tuple[EngineList, ...] = ()


@dataclass(frozen=True, eq=False)
class Compilation:
    """What every stage gave, in order.

    Parameters
    ----------
    config : Config
        What the Program runs on.
    file : Graph
        The model as it is in the file.
    folded : Graph
        With the results of its arithmetic on shapes.
    graph : Graph
        Without what the host does with the outputs; supported.
    detection : Detection or None
        What the host does with the outputs, if the model ends in boxes.
    lowered : Network
        Its operators as kernel calls, functions of single bytes as one table.
    network : Network
        Without channels that are constant or not needed.
    engine : EnginePlan
        What the engine computes; its streams are not coded. Empty without an engine.
    lists : tuple of EngineList
        Lists of the engine, coded where that serves the goal.
    kernel_calls : tuple of KernelCall
        What the CPU computes.
    calls : tuple of KernelCall or ListCall
        Of CPU and engine, in the order in which they start.
    memory : MemoryPlan
        The arena.
    program : Program
        The result.
    """

    config: Config
    file: Graph
    folded: Graph
    graph: Graph
    detection: Detection | None
    lowered: Network
    network: Network
    engine: EnginePlan
    lists: tuple[EngineList, ...]
    kernel_calls: tuple[KernelCall, ...]
    calls: tuple[PlannedStep, ...]
    memory: MemoryPlan
    program: Program


def compile_model(
    model: str | Path | bytes,
    config: str | Config,
    *,
    eliminate: bool = True,
    has_tables: bool = True,
    optimize: Goal | str = Goal.CYCLES,
    double_buffer: bool = False,
    detect: Detect | str = Detect.HOST,
) -> Program:
    """Compile a model.

    Parameters
    ----------
    model : str, Path or bytes
        Path of a ``.tflite`` or ``.onnx`` file, or its content.
    config : str or Config
        What it will run on, or its name.
    eliminate : bool
        For an engine, take out channels that are constant.
    has_tables : bool
        The engine does element-wise jobs.
    optimize : Goal or str
        For an engine, what counts first where weights can be coded: ``cycles`` or ``size``.
    double_buffer : bool
        Have two places in the arena for inputs and outputs, which inferences take in turn: the
        inputs of the next one can be written while one runs.
    detect : Detect or str
        Who makes boxes of what a detector gives: the ``host``, or the ``device`` as part of the
        Program.

    Returns
    -------
    Program
        The same bytes for the same model and configuration, always.

    Raises
    ------
    UsageError
        If the file cannot be read, or there is no such configuration or goal.
    ModelError
        If the file is not a well-formed TFLite or ONNX model.
    UnsupportedModelError
        If the model asks for what is not supported; lists everything.
    CapacityError
        If the model needs more memory than there is.

    Notes
    -----
    Errors about what a file holds begin with its path.
    """
    return compile_stages(
        model,
        config,
        eliminate=eliminate,
        has_tables=has_tables,
        optimize=optimize,
        double_buffer=double_buffer,
        detect=detect,
    ).program


def compile_stages(
    model: str | Path | bytes,
    config: str | Config,
    *,
    eliminate: bool = True,
    has_tables: bool = True,
    optimize: Goal | str = Goal.CYCLES,
    double_buffer: bool = False,
    detect: Detect | str = Detect.HOST,
) -> Compilation:
    """Compile a model and return what every stage gave; see `compile_model`."""
    target, goal = find_config(config), _goal(optimize)
    raw = _content(model)
    with _naming(model):
        # The model.
        file = read(raw)
        folded = fold_shapes(with_inlined_calls(file))
        if _detect(detect) is Detect.DEVICE:
            check(folded)
            graph, detection = keep_detector(folded), None
        else:
            graph, detection = detach_detector(folded)
            check(graph)
        compilations = [
            _compilation(
                (file, folded, graph, detection),
                network,
                target,
                goal,
                eliminate=eliminate,
                has_tables=has_tables,
                double_buffer=double_buffer,
            )
            for network in _lowered(graph, target)
        ]
    # What shares more memory comes first.
    return min(compilations, key=_predicted_cycles)


def _lowered(graph: Graph, target: Config) -> list[Network]:
    """Return the forms of a network: for an engine one without short tensors in others, too.

    Where one tensor becomes part of another, a list ends; but copies take time as well. So do two
    layers more, where positions are found part by part.
    """
    if not target.engine_macs:
        return [lower(graph)]
    least = COPIED_BYTES
    shared = lower(graph, least_ring_bytes=least)
    copied = lower(graph, least_ring_bytes=least, least_part_bytes=least)
    forms = [shared] if copied.parts == shared.parts else [shared, copied]
    divided = [(form, find_positions_in_parts(form)) for form in forms]
    return [*forms, *(found for form, found in divided if found is not form)]


def _predicted_cycles(compilation: Compilation) -> int:
    program = compilation.program
    return predict_program(program, is_report=False)[0] if compilation.config.engine_macs else 0


def _compilation(
    model: tuple[Graph, Graph, Graph, Detection | None],
    network: Network,
    target: Config,
    goal: Goal,
    *,
    eliminate: bool,
    has_tables: bool,
    double_buffer: bool,
) -> Compilation:
    """Return what the stages behind `lower` gave, and those before: see `Compilation`."""
    # The network.
    network = merge_byte_functions(merge_pair_functions(merge_short_lines(network)))
    if target.has_signal:
        network = merge_frames(network)
    network = lowered = merge_byte_functions(cancel_transpositions(network))
    if target.engine_macs and eliminate:
        network = eliminate_dead_channels(network)
    if has_packed(target.engine_macs):
        network = order_for_packing(network)
    if target.engine_macs:
        network = transpose_in_two_passes(network, target.scratchpad_bytes)
        network = resize_in_blocks(network, target.scratchpad_bytes)
    # The engine's part.
    engine = plan_engine(network, target, has_tables=has_tables)
    shared = [share_parameters(item, target.engine_macs) for item in engine.lists]
    lists = keep_weights_of_one(
        [code_weights(item, target, goal) for item in shared], shared, target
    )
    # The CPU's part.
    on_engine = {position for item in lists for position in item.region.positions}
    kernel_calls = choose_kernels(network, target, on_engine)
    # The Program.
    calls = overlap(network, in_order(kernel_calls, lists, target))
    memory = allocate(network, calls, double_buffer=double_buffer)
    program = emit(network, calls, memory, target)
    file, folded, graph, detection = model
    return Compilation(
        config=target,
        file=file,
        folded=folded,
        graph=graph,
        detection=detection,
        lowered=lowered,
        network=network,
        engine=engine,
        lists=lists,
        kernel_calls=kernel_calls,
        calls=calls,
        memory=memory,
        program=program,
    )


def with_double_buffer(compilation: Compilation) -> Compilation:
    """Return what `compile_stages` gives with a double buffer, from what it gave without.

    Parameters
    ----------
    compilation : Compilation
        With or without.

    Raises
    ------
    CapacityError
        If the arena would be larger than the memory behind it.
    """
    memory = allocate(compilation.network, compilation.calls, double_buffer=True)
    return dataclasses.replace(
        compilation,
        memory=memory,
        program=emit(compilation.network, compilation.calls, memory, compilation.config),
    )


def plan_engine(network: Network, config: Config, *, has_tables: bool = True) -> EnginePlan:
    """Return what the engine computes of a network, and how.

    Parameters
    ----------
    network : Network
        The model.
    config : Config
        What it will run on.
    has_tables : bool
        The engine does element-wise jobs.

    Notes
    -----
    Whether an operation fits is known only when its region is scheduled. So these stages are a
    loop: an operation that cannot stay in its region takes its next form, or goes to the CPU; a
    region whose list is too long is cut. Both happen to an operation a limited number of times.
    """
    if not config.engine_macs:
        return EnginePlan()
    cpu_cycles = layer_cycles(network, config)
    selection = select(network, config, has_tables=has_tables, cpu_cycles=cpu_cycles)
    scheduler, generator = Scheduler(config), Generator(config)
    plans: tuple[Plan, ...] = ()
    lists: tuple[EngineList, ...] = ()
    while True:
        operations = compose_tables(network, without_gates(selection.operations))
        operations = compose_moves(network, operations)
        operations = shape_moves(close_gaps(operations, selection.closed))
        operations = with_whole_planes(network, operations)
        regions = partition(network, operations, selection.cuts)
        troubles = padding_troubles(regions)
        if not troubles:
            plans, troubles = scheduler.schedule(regions)
        if not troubles:
            lists, troubles = generator.generate(plans)
        if not troubles:
            troubles = small_list_troubles(network, lists, config, cpu_cycles)
        if not troubles:
            break
        selection = selection.after(troubles)
    return EnginePlan(
        selection=selection,
        operations=tuple(operations[position] for position in sorted(operations)),
        regions=tuple(regions),
        plans=plans,
        lists=lists,
    )


def require_supported(model: str | Path | bytes) -> None:
    """Refuse a model that cannot be compiled, before the work; raises as `compile_model` does."""
    raw = _content(model)
    with _naming(model):
        graph, _ = detach_detector(fold_shapes(with_inlined_calls(read(raw))))
        check(graph)


@contextmanager
def _naming(model: str | Path | bytes) -> Iterator[None]:
    """Put the file's path before the text of every error: users may have named several."""
    try:
        yield
    except KiwichaError as error:
        if not isinstance(model, bytes):
            error.add_place(str(model))
        raise


def _detect(name: Detect | str) -> Detect:
    if name not in set(Detect):
        raise UsageError(f"boxes must be made by {' or '.join(Detect)}, not {name}")
    return Detect(name)


def _goal(name: Goal | str) -> Goal:
    if name not in set(Goal):
        raise UsageError(f"goal must be one of {', '.join(Goal)}, not {name}")
    return Goal(name)


def _content(model: str | Path | bytes) -> bytes:
    if isinstance(model, bytes):
        return model
    path = Path(model)
    try:
        is_other = path.exists() and not path.is_file()
        content = b"" if is_other else path.read_bytes()
    except (OSError, ValueError) as error:
        raise UsageError(f"model file {model} cannot be read: {reason(error)}") from error
    if is_other:
        raise UsageError(f"model file {model} must be a file")
    return content

"""The passes in their order."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kiwicha.compiler.check.check import check
from kiwicha.compiler.cpu.kernels import Tile, tile
from kiwicha.compiler.emit import emit
from kiwicha.compiler.engine.select.channel_padding import with_whole_channels
from kiwicha.compiler.lower.lower import lower
from kiwicha.compiler.lower.network import Network
from kiwicha.compiler.memory.allocate import MemoryPlan, allocate
from kiwicha.compiler.optimize.dead_channels import eliminate as eliminate_channels
from kiwicha.compiler.overlap import overlap
from kiwicha.compiler.tflite.detectors import detached
from kiwicha.compiler.tflite.graph import Graph
from kiwicha.compiler.tflite.reader import read
from kiwicha.compiler.tflite.shape_folding import with_known_shapes
from kiwicha.contract.cfu import Config
from kiwicha.contract.configs import find_config
from kiwicha.contract.goal import Goal
from kiwicha.detection.boxes import Detection
from kiwicha.errors import KiwichaError, UsageError, reason
from kiwicha.program.image import Program

__all__ = ["Compilation", "compile_model", "compile_stages", "require_supported"]


@dataclass(frozen=True, eq=False)
class Compilation:
    """What every pass gave."""

    config: Config
    graph: Graph
    network: Network
    tiles: tuple[Tile, ...]
    memory: MemoryPlan
    program: Program
    detection: Detection | None = None
    """What the host does with the Program's outputs, if the model ends in boxes."""


def compile_model(
    model: str | Path | bytes,
    config: str | Config,
    *,
    eliminate: bool = True,
    has_tables: bool = True,
    optimize: Goal | str = Goal.CYCLES,
) -> Program:
    """Compile a model.

    Parameters
    ----------
    model : str, Path or bytes
        Path of a ``.tflite`` file, or its content.
    config : str or Config
        What it will run on, or its name.
    eliminate : bool
        For an engine, take out channels that are constant.
    has_tables : bool
        The engine does element-wise jobs.
    optimize : Goal or str
        For an engine, what counts first where weights can be coded: ``cycles`` or ``size``.

    Returns
    -------
    Program
        The same bytes for the same model and configuration, always.

    Raises
    ------
    UsageError
        If the file cannot be read, or there is no such configuration or goal.
    ModelError
        If the file is not a well-formed TFLite model.
    UnsupportedModelError
        If the model asks for what is not supported; lists everything.
    CapacityError
        If the model needs more memory than there is.

    Notes
    -----
    Errors about what a file holds begin with its path.
    """
    return compile_stages(
        model, config, eliminate=eliminate, has_tables=has_tables, optimize=optimize
    ).program


def compile_stages(
    model: str | Path | bytes,
    config: str | Config,
    *,
    eliminate: bool = True,
    has_tables: bool = True,
    optimize: Goal | str = Goal.CYCLES,
) -> Compilation:
    """Compile a model and return what every pass gave; see `compile_model`."""
    target, goal = find_config(config), _goal(optimize)
    raw = _content(model)
    with _naming(model):
        graph, detection = _supported(raw)
        network = lower(graph)
        if eliminate and target.engine_macs:
            network = eliminate_channels(network)
        if target.engine_macs:
            network = with_whole_channels(network)
        tiles = overlap(network, tile(network, target, has_tables=has_tables, goal=goal))
        memory = allocate(network, tiles)
        program = emit(network, tiles, memory, target)
    return Compilation(target, graph, network, tiles, memory, program, detection)


def require_supported(model: str | Path | bytes) -> None:
    """Refuse a model that cannot be compiled, before the work; raises as `compile_model` does."""
    raw = _content(model)
    with _naming(model):
        _supported(raw)


def _supported(raw: bytes) -> tuple[Graph, Detection | None]:
    graph, detection = detached(with_known_shapes(read(raw)))
    check(graph)
    return graph, detection


@contextmanager
def _naming(model: str | Path | bytes) -> Iterator[None]:
    """Put the file's path before the text of every error: users may have named several."""
    try:
        yield
    except KiwichaError as error:
        if not isinstance(model, bytes):
            error.args = (f"{model}: {error}", *error.args[1:])
        raise


def _goal(name: Goal | str) -> Goal:
    if name not in set(Goal):
        raise UsageError(f"goal must be one of {', '.join(Goal)}, not {name}")
    return Goal(name)


def _content(model: str | Path | bytes) -> bytes:
    if isinstance(model, bytes):
        return model
    path = Path(model)
    try:
        if path.exists() and not path.is_file():
            raise UsageError(f"model file {model} must be a file")
        return path.read_bytes()
    except (OSError, ValueError) as error:
        raise UsageError(f"model file {model} cannot be read: {reason(error)}") from error

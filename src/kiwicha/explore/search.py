"""The search: Optuna proposes points, workers measure them, a journal keeps what is known."""

import dataclasses
import functools
import logging
import random
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import optuna
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import FrozenTrial, Trial, TrialState

from kiwicha import cache
from kiwicha.boards.capacity import refusal
from kiwicha.contract import configs
from kiwicha.contract.configs import Config
from kiwicha.errors import UsageError
from kiwicha.explore import journal
from kiwicha.explore.points import (
    OBJECTIVES,
    Board,
    Measures,
    family_for,
    measure,
    memory_for,
    resources,
    timed_config,
    titles,
)
from kiwicha.explore.sources import measure_sources

__all__ = ["Point", "front", "misfits", "search"]

_CONFIG, _MEASURES, _REASON = "config", "measures", "reason"
_SEED = 1
_DECODERS = _PREFIXES, _RAW, _BLOCKS, _RESIDENT = ("prefixes", "raw", "blocks", "resident")
"""Of coded weights."""
_FINISHED = (TrialState.COMPLETE,)


@dataclass(frozen=True)
class Point:
    """A trial.

    Parameters
    ----------
    number : int
        In the study.
    config : Config
        What was tried.
    measures : Measures
        What it is judged by.
    """

    number: int
    config: Config
    measures: Measures

    def value(self, objective: str) -> float:
        """Return one of `OBJECTIVES`."""
        return float(getattr(self.measures, objective))


def search(
    models: Sequence[bytes],
    *,
    study_file: Path,
    objectives: Sequence[str],
    trials: int,
    board: Board | None,
    executor: Executor,
    workers: int,
    on_trial: Callable[[int], None] | None = None,
    say: Callable[[str], None] | None = None,
    about: Mapping[str, str] | None = None,
) -> list[Point]:
    """Run trials until the study has a number of them, or all that fit, and return all.

    No configuration is tried twice, and none that does not fit the board: capacities are known.

    Parameters
    ----------
    models : sequence of bytes
        Contents of ``.tflite`` files.
    study_file : Path
        The journal; a study that is there is continued, if its points were measured by the same
        compiler, cycle model and estimates.
    objectives : sequence of str
        What to make small.
    trials : int
        How many the study shall have, at most.
    board : Board or None
        Points that do not fit it are not tried. Its resources belong to the name of the study,
        so that those of several may be in one file.
    executor : Executor
        What measures: processes here, or a cluster.
    workers : int
        How many points are measured at a time.
    on_trial : callable or None
        Called with the number of finished trials, at first with those that are there.
    say : callable or None
        Called with a line that the user should read.
    about : mapping or None
        What Optuna's dashboard shows of the study, such as the models' names.

    Raises
    ------
    UsageError
        If nothing fits the board, the file is not a study, another search uses it, or its disk is
        full.
    KiwichaError
        If a model is not supported, or a point cannot be measured.
    """
    fitting = len(configs.SEARCHED_FAMILY) - len(misfits(board))
    if not fitting:
        raise UsageError("board must have room for one of the engine's configurations")
    trials = min(trials, fitting)
    with journal.held(study_file, say):
        study = _study(study_file, models, objectives, board, say)
        for name, text in (about or {}).items():
            if study.user_attrs.get(name) != text:
                study.set_user_attr(name, text)
        _run(study, models, objectives, trials, board, executor, workers, on_trial)
        return _points(study)


def front(points: Sequence[Point], objectives: Sequence[str]) -> list[Point]:
    """Return the points that no other beats, one for each configuration, by objectives and name.

    A point beats another if it is nowhere worse and somewhere better: in the objectives, or in all
    of `OBJECTIVES` where those are equal.
    """
    feasible = list({p.config.name: p for p in points}.values())

    def beats(point: Point, other: Point) -> bool:
        for names in (objectives, OBJECTIVES):
            values = [(point.value(name), other.value(name)) for name in names]
            if any(mine > theirs for mine, theirs in values):
                return False
            if any(mine < theirs for mine, theirs in values):
                return True
        return False

    best = [point for point in feasible if not any(beats(other, point) for other in feasible)]
    return sorted(best, key=lambda p: ([p.value(name) for name in objectives], p.config.name))


def _study(
    file: Path,
    models: Sequence[bytes],
    objectives: Sequence[str],
    board: Board | None,
    say: Callable[[str], None] | None,
) -> optuna.Study:
    optuna.logging.set_verbosity(logging.WARNING)
    storage = JournalStorage(JournalFileBackend(str(file)))
    question = f"kiwicha {','.join(objectives)} {cache.digest([*models, repr(board)])} "
    name = question + cache.digest(measure_sources())
    others = {other for other in optuna.get_all_study_names(storage) if other.startswith(question)}
    if others and name not in others and say is not None:
        say(f"a new study begins in {file}: the compiler has changed since the one that is there")
    study = optuna.create_study(
        storage=storage,
        study_name=name,
        sampler=optuna.samplers.NSGAIISampler(population_size=16, seed=_SEED),
        directions=["minimize"] * len(objectives),
        load_if_exists=True,
    )
    with warnings.catch_warnings():
        # Optuna calls it experimental.
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        study.set_metric_names([titles(family_for(board))[name] for name in objectives])
    # What was under way when an earlier search was stopped is tried again.
    for trial in study.get_trials(states=(TrialState.RUNNING,)):
        study.tell(trial.number, state=TrialState.FAIL)
    return study


def _run(
    study: optuna.Study,
    models: Sequence[bytes],
    objectives: Sequence[str],
    trials: int,
    board: Board | None,
    executor: Executor,
    workers: int,
    on_trial: Callable[[int], None] | None,
) -> None:
    known = {point.config.name: point for point in _points(study)}
    cycles = {timed_config(p.config): p.measures.by_model for p in known.values()}
    finished = len(known)
    unfit = misfits(board)
    running: dict[Config, Future[tuple[int, ...]]] = {}
    waiting: list[tuple[Trial, Config]] = []
    others = _in_any_order()

    def why_not(config: Config) -> str:
        if config.name in known or any(config == asked for _, asked in waiting):
            return "tried before"
        return unfit.get(config.name, "")

    def tell(trial: Trial, point: Point) -> None:
        nonlocal finished
        finished += 1
        known[point.config.name] = point
        trial.set_user_attr(_CONFIG, point.config.name)
        trial.set_user_attr(_MEASURES, dataclasses.asdict(point.measures))
        study.tell(trial, [point.value(objective) for objective in objectives])
        if on_trial is not None:
            on_trial(finished)

    def tell_measured(trial: Trial, config: Config) -> None:
        by_model = cycles[timed_config(config)]
        measures = Measures(sum(by_model), by_model, *resources(config, family_for(board)))
        tell(trial, Point(trial.number, config, measures))

    if on_trial is not None:
        on_trial(finished)
    while finished < trials:
        while len(running) < workers and finished + len(waiting) < trials:
            trial, config = _asked(study, why_not, others)
            timed = timed_config(config)
            if timed in cycles:
                tell_measured(trial, config)
            else:
                waiting.append((trial, config))
                if timed not in running:
                    running[timed] = executor.submit(
                        measure, list(models), timed.with_memory(memory_for(board))
                    )
        wait(running.values(), return_when=FIRST_COMPLETED)
        for timed in [timed for timed, future in running.items() if future.done()]:
            cycles[timed] = running.pop(timed).result()
        for trial, config in [item for item in waiting if timed_config(item[1]) in cycles]:
            waiting.remove((trial, config))
            tell_measured(trial, config)


def _asked(
    study: optuna.Study, why_not: Callable[[Config], str], others: Iterator[Config]
) -> tuple[Trial, Config]:
    """Return what the sampler proposes or, where that is not to be tried, the next that is."""
    while True:
        trial = study.ask()
        config = _suggested(trial)
        # The sampler proposes again what did well, and does not know what fits.
        reason = why_not(config)
        if not reason:
            return trial, config
        trial.set_user_attr(_CONFIG, config.name)
        trial.set_user_attr(_REASON, reason)
        study.tell(trial, state=TrialState.FAIL)
        study.enqueue_trial(_parameters(next(o for o in others if not why_not(o))))


def _in_any_order() -> Iterator[Config]:
    """Yield all configurations, always in the same random order."""
    family = list(configs.SEARCHED_FAMILY.values())
    random.Random(_SEED).shuffle(family)
    return iter(family)


def _parameters(config: Config) -> dict[str, Any]:
    """Return what `_suggested` makes the configuration of."""
    return {
        "macs": config.engine_macs,
        "scratchpad_bytes": config.scratchpad_bytes,
        "multipliers": config.multipliers,
        "requantizer_lanes": config.requantizer_lanes,
        "decoder": _decoder_of(config),
        "has_softmax": config.has_softmax,
        "has_depthwise": config.has_depthwise,
    }


def _suggested(trial: Trial) -> Config:
    macs = trial.suggest_categorical("macs", configs.ENGINE_MACS)
    scratchpad = trial.suggest_categorical("scratchpad_bytes", configs.SCRATCHPAD_BYTES)
    tier = trial.suggest_categorical("multipliers", configs.TIER_MULTIPLIERS)
    lanes = trial.suggest_categorical("requantizer_lanes", (0, configs.FEW_REQUANTIZER_LANES))
    decoder = trial.suggest_categorical("decoder", _DECODERS)
    # Some engines have few lanes anyway.
    lanes = lanes if lanes in configs.requantizer_lanes_of(macs) else 0
    has_softmax = trial.suggest_categorical("has_softmax", (False, True))
    has_depthwise = trial.suggest_categorical("has_depthwise", (False, True))
    engine = functools.partial(
        configs.engine_config,
        *(macs, scratchpad, tier, lanes),
        has_codec=decoder != _RAW,
        has_softmax=has_softmax,
    )
    blocks = engine(has_blocks=decoder in {_BLOCKS, _RESIDENT}, is_resident=decoder == _RESIDENT)
    # Some have no decoder of blocks, or no unit beside them.
    chosen = configs.SEARCHED_FAMILY.get(blocks.name, engine())
    return configs.SEARCHED_FAMILY.get(f"{chosen.name}-depthwise" * has_depthwise, chosen)


def _decoder_of(config: Config) -> str:
    """Return which of `_DECODERS` a configuration has."""
    if config.has_blocks:
        return _RESIDENT if config.resident_words else _BLOCKS
    return _PREFIXES if config.has_codec else _RAW


@functools.cache
def misfits(board: Board | None) -> dict[str, str]:
    """Return the names of the configurations that do not fit a board, and why."""
    if board is None:
        return {}
    found = {name: _misfit(config, board) for name, config in configs.SEARCHED_FAMILY.items()}
    return {name: reason for name, reason in found.items() if reason}


def _misfit(config: Config, board: Board) -> str:
    """Return why a configuration does not fit a board; empty if it does."""
    if reason := refusal(board.family, config):
        return reason
    wanted = dict(zip(("lut", "dsp", "bram"), resources(config, board.family), strict=True))
    return "; ".join(
        f"{name} {count:,g} of {getattr(board, name):,g}"
        for name, count in wanted.items()
        if count > getattr(board, name)
    )


def _points(study: optuna.Study) -> list[Point]:
    return [_point(trial) for trial in study.get_trials(states=_FINISHED)]


def _point(trial: FrozenTrial) -> Point:
    facts: dict[str, Any] = trial.user_attrs
    config = configs.SEARCHED_FAMILY[facts[_CONFIG]]
    stored = facts[_MEASURES]
    measures = Measures(**{**stored, "by_model": tuple(stored["by_model"])})
    return Point(trial.number, config, measures)

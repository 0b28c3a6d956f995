"""The search for configurations."""

import json
from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any
from wsgiref.util import setup_testing_defaults

import pytest

from kiwicha.boards.capacity import CAPACITY, SYSTEM
from kiwicha.boards.family import Family
from kiwicha.compiler import compile_model
from kiwicha.compiler.engine.cost.cycles import predict_program
from kiwicha.contract import cfu, configs
from kiwicha.contract.engine import has_packed
from kiwicha.contract.memories import DDR3_QUARTER_RATE
from kiwicha.errors import UsageError
from kiwicha.explore.cluster import Cluster
from kiwicha.explore.points import BOARDS, Board, Measures, measure, resources, timed_config
from kiwicha.explore.pool import LocalPool
from tests.support.models.two_heads import two_heads
from tests.support.processes.mortal import die_first
from tests.support.requirements import REPOSITORY, module

FOUND = module("kiwicha.explore.search", "optuna")
Point, front, search, misfits = FOUND.Point, FOUND.front, FOUND.search, FOUND.misfits

STORAGES = module("optuna.storages", "optuna")
JOURNAL = module("optuna.storages.journal", "optuna")

CYCLES_AND_BRAM = ("cycles", "bram")


class Here(Executor):
    """Measures at once, and counts."""

    def __init__(self) -> None:
        self.measured: list[str] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Return what is done already."""
        future: Future[Any] = Future()
        self.measured.append(args[1].name)
        future.set_result(fn(*args, **kwargs))
        return future


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every point take the same cycles: nothing is compiled."""
    monkeypatch.setattr(FOUND, "measure", lambda *_: (500,))


def run(folder: Path, trials: int, executor: Executor, **changes: Any) -> list[Any]:
    values: dict[str, Any] = {
        "study_file": folder / "study.journal",
        "objectives": CYCLES_AND_BRAM,
        "board": None,
        "workers": 2,
    }
    found: list[Any] = search([two_heads()], trials=trials, executor=executor, **values | changes)
    return found


def point(name: str, cycles: int, bram: float) -> Any:
    return Point(0, configs.ENGINE_FAMILY[name], Measures(cycles, (cycles,), 0, 0, bram))


def test_a_point_is_what_the_cycle_model_says() -> None:
    config = configs.engine_config(32, 16 * 1024)
    expected = predict_program(compile_model(two_heads(), config))[0]
    assert measure([two_heads(), two_heads()], config) == (expected, expected)


def test_points_differ_in_what_decides_about_cycles() -> None:
    plain = configs.engine_config(64, 16 * 1024)
    assert timed_config(configs.engine_config(64, 16 * 1024, cfu.LANES)) == plain
    assert timed_config(configs.find_config("64-m4-blocks")) == configs.find_config("64-blocks")
    found = {name: timed_config(config) for name, config in configs.SEARCHED_FAMILY.items()}
    assert {name for name in found if "-m" not in name} == {c.name for c in found.values()}
    for name in ("64-8k", "64-r4", "64-raw", "32", "64-depthwise"):
        assert found[name] != found["64"]


def test_the_front_holds_what_nothing_beats() -> None:
    points = [
        point("64", 100, 20),
        point("128", 50, 30),
        point("32", 100, 25),
        point("32-8k", 200, 10),
        point("64", 100, 20),
    ]
    assert [p.config.name for p in front(points, CYCLES_AND_BRAM)] == ["128", "64", "32-8k"]


def test_of_equal_points_the_front_holds_the_smaller() -> None:
    small = Point(0, configs.ENGINE_FAMILY["64"], Measures(100, (100,), 9, 8, 20))
    large = Point(1, configs.ENGINE_FAMILY["64-m4"], Measures(100, (100,), 9, 9, 20))
    other = Point(2, configs.ENGINE_FAMILY["64-r4"], Measures(100, (100,), 8, 9, 20))
    assert front([large, small, other], CYCLES_AND_BRAM) == [small, other]


def test_equal_points_of_the_front_are_in_the_order_of_their_names() -> None:
    equal = [point(name, 5, 10) for name in ("128-raw", "128-56k-raw", "128-48k-raw")]
    names = [p.config.name for p in front(equal, CYCLES_AND_BRAM)]
    assert names == ["128-48k-raw", "128-56k-raw", "128-raw"]


def test_every_configuration_can_be_proposed() -> None:
    study = module("optuna", "optuna").create_study()
    for config in configs.SEARCHED_FAMILY.values():
        study.enqueue_trial(FOUND._parameters(config))
        assert FOUND._suggested(study.ask()) is config


def test_the_documents_say_how_many_there_are() -> None:
    text = (REPOSITORY / "docs" / "command-line.md").read_text(encoding="utf-8")
    assert f"of the {len(configs.SEARCHED_FAMILY)} that exist" in text


@pytest.mark.slow
def test_a_study_is_continued_and_measures_each_configuration_once(tmp_path: Path) -> None:
    first, second = Here(), Here()
    assert len(run(tmp_path, 12, first)) == 12
    points = run(tmp_path, 30, second)
    assert len(points) == 30
    assert [p.number for p in points] == sorted(p.number for p in points)
    measured = first.measured + second.measured
    assert len(measured) == len(set(measured))
    assert set(measured) == {timed_config(p.config).name for p in points}
    for p in points:
        estimates = resources(p.config, Family.XC7)
        assert (p.measures.lut, p.measures.dsp, p.measures.bram) == estimates
        assert p.measures.cycles == sum(p.measures.by_model)
    # Another board is another study.
    board = BOARDS["arty_a7_35"]
    assert len(run(tmp_path, 5, Here(), board=board)) == 5


def test_the_number_of_finished_trials_begins_with_those_that_are_there(tmp_path: Path) -> None:
    told: list[int] = []
    run(tmp_path, 3, Here(), on_trial=told.append)
    run(tmp_path, 5, Here(), on_trial=told.append)
    run(tmp_path, 5, Here(), on_trial=told.append)
    assert told == [0, 1, 2, 3, 3, 4, 5, 5]


@pytest.mark.nightly
@pytest.mark.usefixtures("quick")
def test_all_that_fit_are_tried_once(tmp_path: Path) -> None:
    board = BOARDS["arty_a7_35"]
    fitting = configs.SEARCHED_FAMILY.keys() - misfits(board).keys()
    points = run(tmp_path, 1000, Here(), board=board)
    assert sorted(p.config.name for p in points) == sorted(fitting)
    assert run(tmp_path, 2000, Here(), board=board) == points


def test_trials_before_a_torn_line_are_kept(tmp_path: Path) -> None:
    first = run(tmp_path, 8, Here())
    journal = tmp_path / "study.journal"
    raw = journal.read_bytes()
    for size in (len(raw) - 1, len(raw) - 40):
        journal.write_bytes(raw[:size])
        points = run(tmp_path, 8, Here())
        assert points[:7] == first[:7]
        assert len(points) == 8


def test_two_searches_do_not_share_a_study(tmp_path: Path) -> None:
    class Nested(Here):
        def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
            with pytest.raises(UsageError, match="another search uses it"):
                run(tmp_path, 4, Here())
            return super().submit(fn, *args, **kwargs)

    assert len(run(tmp_path, 2, Nested())) == 2


def test_another_compiler_begins_a_new_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    first = run(tmp_path, 6, Here(), say=said.append)
    assert said == []
    with monkeypatch.context() as patch:
        patch.setattr(FOUND, "measure_sources", lambda: [Path(__file__)])
        patch.setattr(FOUND, "measure", lambda *_: (500,))
        points = run(tmp_path, 10, Here(), say=said.append)
        assert len(points) == 10
        assert {p.measures.cycles for p in points} == {500}
        (line,) = said
        assert line == (
            f"a new study begins in {tmp_path / 'study.journal'}: "
            "the compiler has changed since the one that is there"
        )
        assert run(tmp_path, 10, Here(), say=said.append) == points
    again = Here()
    assert run(tmp_path, 6, again, say=said.append) == first
    assert again.measured == []
    assert len(said) == 1


@pytest.mark.usefixtures("quick")
def test_what_cannot_fit_is_not_tried(tmp_path: Path) -> None:
    board = BOARDS["arty_a7_35"]
    unfit = misfits(board)
    here = Here()
    points = run(tmp_path, 12, here, board=board)
    assert len(points) == 12
    assert not {p.config.name for p in points} & set(unfit)
    assert not set(unfit) & set(here.measured)
    left = CAPACITY["arty_a7_35"]["BRAM36"] - SYSTEM[Family.XC7]["BRAM36"]
    for name, reason in unfit.items():
        _, _, bram = resources(configs.SEARCHED_FAMILY[name], Family.XC7)
        assert (f"bram {bram:g} of {left:g}" in reason) == (bram > left)
    assert any("bram" in reason for reason in unfit.values())
    assert misfits(None) == {}


def test_a_board_that_holds_nothing_is_refused(tmp_path: Path) -> None:
    board = Board(Family.XC7, 100, 1, 1, DDR3_QUARTER_RATE)
    with pytest.raises(UsageError, match=r"^board must have room for one of the engine's"):
        run(tmp_path, 1, Here(), board=board)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("name", ["ecpix5_85f", "ulx3s_85f"])
def test_on_ecp5_points_are_of_ecp5(tmp_path: Path, name: str) -> None:
    board = BOARDS[name]
    for p in run(tmp_path, 6, Here(), board=board):
        estimates = resources(p.config, Family.ECP5)
        assert (p.measures.lut, p.measures.dsp, p.measures.bram) == estimates
    unfit = misfits(board)
    for config in configs.SEARCHED_FAMILY.values():
        if has_packed(config.engine_macs):
            text = f"an ECP5 multiplier does one int8 product, but {config.name} needs two"
            assert unfit[config.name] == text
        elif config.scratchpad_bytes > 160 * 1024 or config.has_depthwise:
            _, dsp, bram = resources(config, Family.ECP5)
            over = [f"dsp {dsp:g} of {board.dsp}"] if dsp > board.dsp else []
            over += [f"bram {bram:g} of 176"] if bram > 176 else []
            assert unfit.get(config.name, "") == "; ".join(over)
        else:
            assert config.name not in unfit
    assert {reason.split()[0] for reason in unfit.values()} == {"an", "bram", "dsp"}


@pytest.mark.usefixtures("quick")
def test_the_study_opens_in_optunas_dashboard(tmp_path: Path) -> None:
    dashboard = module("optuna_dashboard", "optuna-dashboard")
    run(tmp_path, 6, Here(), board=BOARDS["arty_a7_35"], about={"models": "two heads"})
    storage = STORAGES.JournalStorage(JOURNAL.JournalFileBackend(str(tmp_path / "study.journal")))
    application = dashboard.wsgi(storage)

    def got(address: str) -> Any:
        """Return what the dashboard's server answers."""
        request: dict[str, Any] = {}
        setup_testing_defaults(request)
        status: list[str] = []
        request["PATH_INFO"] = address
        body = b"".join(application(request, lambda text, headers, error=None: status.append(text)))
        assert status == ["200 OK"]
        return json.loads(body)

    (summary,) = got("/api/studies")["study_summaries"]
    found = got(f"/api/studies/{summary['study_id']}")
    assert found["objective_names"] == ["cycles, predicted", "block RAMs of 36 Kbit, estimated"]
    complete = [trial for trial in found["trials"] if trial["state"] == "Complete"]
    assert len(complete) == 6
    assert {"key": "models", "value": "two heads"} in found["user_attrs"]
    names = {attribute["key"] for attribute in complete[0]["user_attrs"]}
    assert names == {"config", "measures"}


def test_boards_of_two_families_do_not_share_a_study(tmp_path: Path) -> None:
    boards = [Board(family, 50_000, 200, 200, DDR3_QUARTER_RATE) for family in Family]
    found = [run(tmp_path, 12, Here(), board=board) for board in boards]
    for board, points in zip(boards, found, strict=True):
        here = Here()
        assert run(tmp_path, 12, here, board=board) == points
        assert here.measured == []
        assert all(p.measures.lut == resources(p.config, board.family)[0] for p in points)


class Mortal(Executor):
    """Passes on to others, in a way that costs them a process."""

    def __init__(self, inner: Executor, marker: Path) -> None:
        self.inner = inner
        self.marker = marker

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Pass on what may die first."""
        return self.inner.submit(die_first, str(self.marker), fn, *args, **kwargs)


def is_complete_without_a_process(folder: Path, executor: Executor) -> bool:
    marker = folder / "killed"
    points = run(folder, 10, Mortal(executor, marker))
    return marker.exists() and len(points) == 10


def test_a_killed_process_loses_no_trial(tmp_path: Path) -> None:
    with LocalPool(2) as pool:
        assert is_complete_without_a_process(tmp_path, pool)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_lost_worker_loses_no_trial(tmp_path: Path) -> None:
    distributed = module("distributed", "distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
        ) as cluster,
        Cluster(cluster.scheduler_address, lambda _: None) as workers,
    ):
        assert is_complete_without_a_process(tmp_path, workers)

"""The engine's data path against TFLite's arithmetic: whole jobs, bytes in to bytes out."""

import functools
from pathlib import Path

import pytest

from kiwicha.contract.engine import TABLE_KINDS, JobKind, job_kinds
from kiwicha.gateware.engine.datapath import Datapath
from tests.support.gateware import bench

pytestmark = [pytest.mark.verilator, pytest.mark.nightly]

TOP = "datapath"
BENCH = "tests.gateware.engine.bench_datapath.jobs"
SCRATCHPAD_BYTES = 8192
ENGINES = [
    (64, 4, True),
    (64, 8, True),
    (64, 8, False),
    (32, 4, False),
    (128, 8, True),
    (128, 4, True),
    (256, 16, True),
]
"""Products per cycle, lanes of the requantizer, and whether there are SOFTMAX jobs.

Results of the first take two beats; the next is in `test_engine` and in every system by day.
"""


@functools.cache
def simulator_of(
    macs: int,
    lanes: int,
    *,
    has_softmax: bool,
    has_recurrent: bool = False,
    has_int16: bool = False,
) -> Path:
    datapath = Datapath(
        macs=macs,
        lanes=lanes,
        scratchpad_bytes=SCRATCHPAD_BYTES,
        has_softmax=has_softmax,
        has_recurrent=has_recurrent,
        has_int16=has_int16,
    )
    return bench.build(bench.component_verilog(datapath, TOP), TOP)


def run_jobs(
    engine: tuple[int, int, bool],
    seed: int,
    stall: float,
    count: int,
    folder: Path,
    kinds: frozenset[JobKind] | None = None,
) -> None:
    macs, lanes, has_softmax = engine
    chosen = job_kinds(has_softmax=has_softmax) if kinds is None else kinds
    values = {
        "macs": macs,
        "lanes": lanes,
        "seed": seed,
        "stall": stall,
        "count": count,
        "kinds": [int(kind) for kind in chosen],
        "scratchpad_bytes": SCRATCHPAD_BYTES,
    }
    has_recurrent = JobKind.RECURRENT in chosen
    has_int16 = JobKind.SHORT_ELEMENTS in chosen
    simulator = simulator_of(
        *(macs, lanes), has_softmax=has_softmax, has_recurrent=has_recurrent, has_int16=has_int16
    )
    bench.run(simulator, TOP, BENCH, values, folder)


@pytest.mark.parametrize(("macs", "lanes", "has_softmax"), ENGINES)
@pytest.mark.parametrize(("seed", "stall"), [(2, 0.3), (1, 0)])
def test_random_jobs(
    macs: int, lanes: int, has_softmax: bool, seed: int, stall: float, tmp_path: Path
) -> None:
    run_jobs((macs, lanes, has_softmax), seed, stall, 8, tmp_path)


@pytest.mark.parametrize(("macs", "lanes", "has_softmax"), ENGINES)
def test_maxima_and_their_positions(
    macs: int, lanes: int, has_softmax: bool, tmp_path: Path
) -> None:
    run_jobs((macs, lanes, has_softmax), 3, 0.1, 12, tmp_path, frozenset({JobKind.MAX}))


@pytest.mark.parametrize(("macs", "lanes", "has_softmax"), ENGINES)
def test_tables_and_squares_of_their_sums(
    macs: int, lanes: int, has_softmax: bool, tmp_path: Path
) -> None:
    run_jobs((macs, lanes, has_softmax), 4, 0.1, 12, tmp_path, TABLE_KINDS)


@pytest.mark.parametrize(("macs", "lanes", "has_softmax"), ENGINES)
def test_steps_of_lstms(macs: int, lanes: int, has_softmax: bool, tmp_path: Path) -> None:
    kinds = job_kinds(has_softmax=has_softmax, has_recurrent=True)
    run_jobs((macs, lanes, has_softmax), 5, 0.2, 6, tmp_path, frozenset(kinds))


@pytest.mark.parametrize(
    ("macs", "lanes", "has_softmax"), [(64, 8, False), (128, 8, True), (256, 16, True)]
)
def test_numbers_of_int16(macs: int, lanes: int, has_softmax: bool, tmp_path: Path) -> None:
    kinds = job_kinds(has_softmax=has_softmax, has_elements=True)
    chosen = frozenset({JobKind.SHORT_ELEMENTS, JobKind.MUL, JobKind.MOVE})
    run_jobs((macs, lanes, has_softmax), 6, 0.2, 20, tmp_path, chosen)
    run_jobs((macs, lanes, has_softmax), 7, 0.1, 4, tmp_path, frozenset(kinds))


@pytest.mark.parametrize(("macs", "lanes", "has_softmax"), ENGINES)
@pytest.mark.parametrize("stall", [0, 0.1, 0.5])
@pytest.mark.parametrize("seed", range(1000, 1010))
def test_many_random_jobs(
    macs: int, lanes: int, has_softmax: bool, seed: int, stall: float, tmp_path: Path
) -> None:
    run_jobs((macs, lanes, has_softmax), seed, stall, 30, tmp_path)

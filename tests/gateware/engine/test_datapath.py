"""The engine's data path against TFLite's arithmetic: whole jobs, bytes in to bytes out."""

import functools
from pathlib import Path

import pytest

from kiwicha.contract.configs import ENGINE_MACS, requantizer_lanes_of
from kiwicha.contract.engine import JobKind, outputs_of
from kiwicha.gateware.engine.datapath import Datapath
from tests.support.choices import by_day
from tests.support.gateware import bench

TOP = "datapath"
BENCH = "tests.gateware.engine.bench_datapath.jobs"
SCRATCHPAD_BYTES = 8192
KINDS = [int(kind) for kind in JobKind]
SIZES = [
    (macs, lanes or outputs_of(macs))
    for macs in ENGINE_MACS
    for lanes in requantizer_lanes_of(macs)
]


@functools.cache
def simulator_of(macs: int, lanes: int) -> Path:
    datapath = Datapath(macs=macs, lanes=lanes, scratchpad_bytes=SCRATCHPAD_BYTES)
    return bench.build(bench.component_verilog(datapath, TOP), TOP)


def run_jobs(
    macs: int, lanes: int, seed: int, stall: float, count: int, folder: Path, kinds: list[int]
) -> None:
    values = {
        "macs": macs,
        "lanes": lanes,
        "seed": seed,
        "stall": stall,
        "count": count,
        "kinds": kinds,
        "scratchpad_bytes": SCRATCHPAD_BYTES,
    }
    bench.run(simulator_of(macs, lanes), TOP, BENCH, values, folder)


@pytest.mark.verilator
@pytest.mark.parametrize(("macs", "lanes"), by_day(*SIZES[1:], SIZES[0]))
@pytest.mark.parametrize(("seed", "stall"), [(1, 0), (2, 0.3)])
def test_random_jobs(macs: int, lanes: int, seed: int, stall: float, tmp_path: Path) -> None:
    run_jobs(macs, lanes, seed, stall, 8, tmp_path, KINDS)


@pytest.mark.verilator
@pytest.mark.parametrize(("macs", "lanes"), by_day(*SIZES[1:], SIZES[0]))
def test_maxima_and_their_positions(macs: int, lanes: int, tmp_path: Path) -> None:
    run_jobs(macs, lanes, 3, 0.1, 12, tmp_path, [int(JobKind.MAX)])


@pytest.mark.nightly
@pytest.mark.verilator
@pytest.mark.parametrize(("macs", "lanes"), SIZES)
@pytest.mark.parametrize("stall", [0, 0.1, 0.5])
@pytest.mark.parametrize("seed", range(1000, 1010))
def test_many_random_jobs(macs: int, lanes: int, seed: int, stall: float, tmp_path: Path) -> None:
    run_jobs(macs, lanes, seed, stall, 30, tmp_path, KINDS)

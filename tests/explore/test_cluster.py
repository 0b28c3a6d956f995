"""Workers of a Dask cluster that measure points."""

import os
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from kiwicha.errors import ToolError
from kiwicha.explore.cluster import Cluster
from tests.support.processes.dask_processes import scheduler, worker
from tests.support.requirements import module

pytestmark = pytest.mark.filterwarnings("ignore")

LIMIT_S = 120
AGAIN = "run the same command again: finished points are kept"


@pytest.fixture
def dask() -> Iterator[Any]:
    """Give a scheduler in this process that has no worker."""
    distributed = module("distributed", "distributed")
    with distributed.LocalCluster(
        n_workers=0, processes=False, dashboard_address=None, silence_logs=50
    ) as cluster:
        yield cluster


def no_worker(address: str) -> str:
    remedy = f"start one with: dask worker {address}"
    return f"scheduler must have a worker, but {address} had none for 1 s; {remedy}; {AGAIN}"


def test_a_scheduler_without_workers_is_an_error(dask: Any) -> None:
    with Cluster(dask.scheduler_address, lambda _: None, patience_s=1) as cluster:
        with pytest.raises(ToolError) as raised:
            cluster.submit(os.getpid).result(LIMIT_S)
        assert str(raised.value) == no_worker(dask.scheduler_address)


def test_a_worker_that_comes_late_is_waited_for(dask: Any) -> None:
    said: list[str] = []
    address = dask.scheduler_address
    with Cluster(address, said.append, patience_s=LIMIT_S) as cluster:
        future = cluster.submit(os.getpid)
        while not said:
            time.sleep(0.1)
        assert said == [f"waiting for a worker of {address}; start one with: dask worker {address}"]
        dask.scale(1)
        assert future.result(LIMIT_S) == os.getpid()
    assert len(said) == 1


def test_the_death_of_the_last_worker_is_noticed() -> None:
    module("distributed", "distributed")
    with scheduler() as address, worker(address) as process:
        with Cluster(address, lambda _: None, patience_s=LIMIT_S) as cluster:
            assert cluster.submit(os.getpid).result(LIMIT_S) == process.pid
        with Cluster(address, lambda _: None, patience_s=1) as cluster:
            slow = cluster.submit(time.sleep, 10 * LIMIT_S)
            process.kill()
            with pytest.raises(ToolError) as raised:
                slow.result(LIMIT_S)
    assert str(raised.value) == no_worker(address)


def test_the_loss_of_the_scheduler_is_noticed(dask: Any) -> None:
    address = dask.scheduler_address
    with Cluster(address, lambda _: None) as cluster:
        future = cluster.submit(os.getpid)
        dask.close()
        with pytest.raises(ToolError) as raised:
            future.result(LIMIT_S)
    assert str(raised.value) == f"scheduler must stay reachable, but {address} did not; {AGAIN}"


def test_work_that_always_kills_its_worker_is_given_up(dask: Any) -> None:
    killed = module("distributed", "distributed").KilledWorker(
        "measure", SimpleNamespace(address="lost"), 3
    )

    def end() -> None:
        raise killed

    dask.scale(1)
    with Cluster(dask.scheduler_address, lambda _: None, patience_s=LIMIT_S) as cluster:
        with pytest.raises(ToolError) as raised:
            cluster.submit(end).result(LIMIT_S)
        assert cluster.submit(abs, -7).result(LIMIT_S) == 7
    assert str(raised.value) == (
        f"workers must not be killed, but several were at the same point; {AGAIN}"
    )

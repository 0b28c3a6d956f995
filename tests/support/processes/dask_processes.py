"""A Dask scheduler and workers as processes, each ended by its test."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

__all__ = ["scheduler", "worker"]

_END_S = 20


@contextmanager
def _process(*words: str, **options: Any) -> Iterator["subprocess.Popen[bytes]"]:
    with subprocess.Popen(
        [sys.executable, "-m", "dask", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        **options,
    ) as process:
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(_END_S)
            except subprocess.TimeoutExpired:
                process.kill()


@contextmanager
def scheduler() -> Iterator[str]:
    """Run a scheduler and give its address, once it listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = ("--host", "127.0.0.1", "--port", str(port), "--no-dashboard")
    with _process("scheduler", *words) as process:
        while process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except ConnectionRefusedError:
                time.sleep(0.1)
        yield f"tcp://127.0.0.1:{port}"


@contextmanager
def worker(
    address: str, core: int | None = None, environment: Mapping[str, str] | None = None
) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a worker of one thread that nobody starts again.

    Parameters
    ----------
    address : str
        Of the scheduler.
    core : int or None
        The only core that the worker and what it starts may use.
    environment : mapping of str to str or None
        Variables beside those of the test.
    """
    words = (address, "--nthreads", "1", "--no-nanny", "--no-dashboard")
    with _process(
        "worker",
        *words,
        env={**os.environ, **(environment or {})},
        preexec_fn=None if core is None else lambda: os.sched_setaffinity(0, {core}),
    ) as process:
        yield process

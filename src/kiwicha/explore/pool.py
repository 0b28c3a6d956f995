"""Processes of this machine that measure points, and are replaced when they are killed."""

import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing import get_context
from typing import Any

from kiwicha.errors import ToolError

__all__ = ["LocalPool"]

_TRIES = 4


class LocalPool(Executor):
    """A pool of processes that outlives them: what a killed one was doing is done again.

    A call is tried four times; then its future ends with a `ToolError`.

    Parameters
    ----------
    workers : int
        How many processes there are.
    """

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._lock = threading.Lock()
        self._is_open = True
        self._pool = self._new_pool()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Return what a call in one of the processes will give."""
        future: Future[Any] = Future()
        self._start(future, partial(fn, *args, **kwargs), _TRIES)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes, after what they are doing."""
        with self._lock:
            self._is_open = False
            pool = self._pool
        pool.shutdown(wait, cancel_futures=cancel_futures)

    def _new_pool(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(self._workers, mp_context=get_context("spawn"))

    def _start(self, future: Future[Any], call: Callable[[], Any], tries: int) -> None:
        with self._lock:
            if not self._is_open:
                future.cancel()
                return
            try:
                inner = self._pool.submit(call)
            except BrokenProcessPool:
                # One killed process takes down all of a pool.
                self._pool = self._new_pool()
                inner = self._pool.submit(call)
        inner.add_done_callback(lambda done: self._end(done, future, call, tries - 1))

    def _end(
        self, done: Future[Any], future: Future[Any], call: Callable[[], Any], tries: int
    ) -> None:
        if done.cancelled():
            future.cancel()
            return
        error = done.exception()
        if isinstance(error, BrokenProcessPool):
            if tries:
                self._start(future, call, tries)
                return
            error = ToolError(
                f"processes that measure must not be killed, but were {_TRIES} times (too little "
                "memory?); run the same command again: finished points are kept"
            )
        if error is None:
            future.set_result(done.result())
        else:
            future.set_exception(error)

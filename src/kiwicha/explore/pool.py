"""Processes of this machine that measure points, and are replaced when they are killed."""

import signal
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context
from types import FrameType, TracebackType
from typing import Any

from kiwicha.errors import ToolError

__all__ = ["LocalPool"]

_TRIES = 4


class _Interrupts:
    """Ctrl-C in one of the processes, all of which get it with us: it ends calls, and says nothing.

    A call that was interrupted, or begins afterwards, ends with a `KeyboardInterrupt`. Elsewhere
    the process would show a traceback.
    """

    def __init__(self) -> None:
        self._is_calling = False
        self._has_come = False

    def accept(self) -> None:
        """Take interrupts from now on; `_held` keeps them back while a process starts."""
        signal.signal(signal.SIGINT, self._come)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})

    def run(self, call: Callable[[], Any]) -> Any:
        """Return what a call gives."""
        self._is_calling = True
        try:
            if self._has_come:
                raise KeyboardInterrupt
            return call()
        finally:
            self._is_calling = False

    def _come(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self._has_come = True
        # Hardware that was being generated would tell that nothing uses it.
        warnings.simplefilter("ignore")
        if self._is_calling:
            raise KeyboardInterrupt


_interrupts = _Interrupts()


def _accept() -> None:
    _interrupts.accept()


def _run(call: Callable[[], Any]) -> Any:
    return _interrupts.run(call)


@contextmanager
def _held() -> Iterator[None]:
    """Keep interrupts back, from processes that start while the block runs, too."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End the processes; after an error nothing more begins."""
        self.shutdown(cancel_futures=error is not None)

    def _new_pool(self) -> ProcessPoolExecutor:
        context = get_context("spawn")
        return ProcessPoolExecutor(self._workers, mp_context=context, initializer=_accept)

    def _start(self, future: Future[Any], call: Callable[[], Any], tries: int) -> None:
        with self._lock, _held():
            if not self._is_open:
                future.cancel()
                return
            try:
                inner = self._pool.submit(_run, call)
            except BrokenProcessPool:
                # One killed process takes down all of a pool.
                self._pool = self._new_pool()
                inner = self._pool.submit(_run, call)
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

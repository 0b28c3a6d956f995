"""The workers of a Dask cluster that measure points, and what to do when there are none."""

import importlib
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

from kiwicha.errors import KiwichaError, ToolError, UsageError

__all__ = ["Cluster"]

_CONNECT_S = 10
_PERIOD_S = 0.5


class Cluster(Executor):
    """The workers of a Dask scheduler.

    What a lost worker was doing is done again by another. Where none is left, all that is under
    way ends with a `ToolError` after a while, for Dask alone would wait for ever.

    Parameters
    ----------
    address : str
        Of the scheduler.
    say : callable
        Called with a line when there is no worker.
    patience_s : float
        How long there may be none.

    Raises
    ------
    ToolError
        If Dask is missing.
    UsageError
        If no scheduler answers.
    """

    def __init__(self, address: str, say: Callable[[str], None], *, patience_s: float = 60) -> None:
        try:
            distributed: Any = importlib.import_module("distributed")
        except ImportError as error:
            raise ToolError(
                "Dask must be installed for --scheduler; "
                "get it with: pip install 'kiwicha[explore]'"
            ) from error
        try:
            self._client = distributed.Client(address, timeout=_CONNECT_S)
        except (OSError, ValueError) as error:
            raise UsageError(
                f"scheduler must be the address of a running Dask one, not {address!r} ({error})"
            ) from error
        self._killed: type[Exception] = distributed.KilledWorker
        self._executor = self._client.get_executor(retries=3, pure=False)
        self._address = address
        self._say = say
        self._patience_s = patience_s
        self._pending: set[Future[Any]] = set()
        self._lock = threading.Lock()
        self._is_over = threading.Event()
        self._watch = threading.Thread(target=self._watch_workers, daemon=True)
        self._watch.start()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Return what a call on one of the workers will give."""
        future: Future[Any] = Future()
        with self._lock:
            self._pending.add(future)
        inner = self._executor.submit(fn, *args, **kwargs)
        inner.add_done_callback(lambda done: self._end(done, future))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave the cluster, and what it is doing for us."""
        del wait, cancel_futures
        self._is_over.set()
        self._watch.join()
        self._client.close()

    def _end(self, done: Future[Any], future: Future[Any]) -> None:
        with self._lock:
            if future not in self._pending:
                return
            self._pending.remove(future)
        if done.cancelled():
            future.set_exception(
                self._error(f"scheduler must stay reachable, but {self._address} did not")
            )
            return
        error = done.exception()
        if isinstance(error, self._killed):
            error = self._error("workers must not be killed, but several were at the same point")
        if error is None:
            future.set_result(done.result())
        else:
            future.set_exception(error)

    def _error(self, text: str) -> KiwichaError:
        return ToolError(f"{text}; run the same command again: finished points are kept")

    def _watch_workers(self) -> None:
        remedy = f"start one with: dask worker {self._address}"
        seen = time.monotonic()
        is_told = False
        while not self._is_over.wait(_PERIOD_S):
            if self._has_workers():
                seen, is_told = time.monotonic(), False
            elif not is_told:
                self._say(f"waiting for a worker of {self._address}; {remedy}")
                is_told = True
            elif time.monotonic() - seen > self._patience_s:
                self._give_up(
                    f"scheduler must have a worker, but {self._address} had none for "
                    f"{self._patience_s:g} s; {remedy}"
                )

    def _has_workers(self) -> bool:
        # A lost scheduler is another matter: Dask gives up by itself.
        try:
            return self._client.status != "running" or bool(self._client.nthreads())
        except OSError:
            return True

    def _give_up(self, text: str) -> None:
        with self._lock:
            pending, self._pending = self._pending, set()
        for future in pending:
            future.set_exception(self._error(text))

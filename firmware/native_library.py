"""The portable kernels as a library of this machine, and Programs that it executes."""

import ctypes
import functools
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha import cache, tools
from kiwicha.contract import cfu
from kiwicha.contract.cfu import Status
from kiwicha.contract.configs import CONFIGS
from kiwicha.errors import ToolError
from kiwicha.firmware.compile import WARNINGS
from kiwicha.firmware.header import HEADER_NAME, header
from kiwicha.firmware.sources import (
    FOLDER,
    RUNTIME_FOLDERS,
    runtime_headers,
    runtime_sources,
)
from kiwicha.program.image import Program
from kiwicha.program.parts import IoTensor

__all__ = ["NATIVE_CONFIG", "NativeModel", "build_native_library"]

NATIVE_CONFIG = CONFIGS["baseline"]
"""Whose Programs the library executes: no kernel of them needs more than C."""

_HOST = FOLDER / "host"
_HOST_SOURCES = (_HOST / "library.c", _HOST / "platform.c")
_NAME = "kiwicha_native.so"

_FLAGS = (
    # Any processor of this kind: the cache may be another machine's, too.
    *("-std=c11", "-O2", "-mcpu=baseline", "-shared", "-fPIC", "-fno-sanitize=undefined"),
    # Threads of this machine share no device: each model works for itself.
    "-DKIWICHA_SEVERAL_MODELS=0",
    *WARNINGS,
)


def build_native_library() -> Path:
    """Return the library, compiled at most once; that takes some ten seconds.

    Raises
    ------
    ToolError
        If the compiler, which comes with Kiwicha, is missing or fails.
    """
    zig = tools.zig()
    generated = header(NATIVE_CONFIG)
    sources = [*runtime_sources(NATIVE_CONFIG), *_HOST_SOURCES]
    headers = runtime_headers(_HOST)
    key = cache.digest([zig.version, sys.platform, *_FLAGS, generated, *sources, *headers])

    def compile_into(folder: Path) -> None:
        (folder / HEADER_NAME).write_text(generated, encoding="utf-8")
        tools.run(
            [
                *(*zig.command, "cc", *_FLAGS, f"-I{folder}"),
                *(f"-I{include}" for include in (*RUNTIME_FOLDERS, _HOST)),
                *("-o", _NAME, *map(str, sources)),
            ],
            name="the compiler of native kernels",
            folder=folder,
            environment={"ZIG_GLOBAL_CACHE_DIR": str(cache.cache_dir() / "zig")},
        )

    return cache.build("native_library", key, compile_into) / _NAME


class NativeModel:
    """A Program that the portable kernels execute in this process.

    A model is for one thread at a time; `twin` gives others, and while a kernel works, Python's
    other threads do, too.

    Parameters
    ----------
    program : Program
        Compiled for `NATIVE_CONFIG`.

    Raises
    ------
    ToolError
        If the library cannot be built or refuses the Program.
    """

    def __init__(self, program: Program) -> None:
        raw = program.to_bytes()
        image = _aligned(len(raw))
        image[:] = np.frombuffer(raw, np.uint8)
        self._open(program, image)

    def _open(self, program: Program, image: NDArray[np.uint8]) -> None:
        self._program, self._image = program, image
        self._arena = _aligned(program.arena_bytes)
        self._library = _loaded(build_native_library())
        self._model = ctypes.create_string_buffer(self._library.kiwicha_model_bytes())
        status = self._library.kiwicha_open(
            *(self._model, image.ctypes.data, image.nbytes),
            *(self._arena.ctypes.data, program.arena_bytes),
        )
        _require(status, "open the Program")

    def twin(self) -> "NativeModel":
        """Return a model of the same Program with an arena of its own, for another thread."""
        other = NativeModel.__new__(NativeModel)
        other._open(self._program, self._image)
        return other

    def reset(self) -> None:
        """Give all states of the Program their first values, as a new model has."""
        _require(self._library.kiwicha_reset(self._model), "reset the states")

    def run(self, inputs: Sequence[NDArray[Any]]) -> list[NDArray[np.uint8]]:
        """Execute the Program once.

        Parameters
        ----------
        inputs : sequence of ndarray
            One per input of the Program, of its bytes, row-major.

        Returns
        -------
        list of uint8 [bytes]
            One per output.

        Raises
        ------
        ToolError
            If a kernel refuses its work.
        """
        for tensor, value in zip(self._program.inputs, inputs, strict=True):
            self._place(tensor)[:] = value.reshape(-1).view(np.uint8)
        _require(self._library.kiwicha_invoke(self._model, None, None, None), "execute the Program")
        return [self._place(tensor).copy() for tensor in self._program.outputs]

    def _place(self, tensor: IoTensor) -> NDArray[np.uint8]:
        return self._arena[tensor.ref.offset : tensor.ref.offset + tensor.ref.bytes]


def _aligned(size: int) -> NDArray[np.uint8]:
    """Return bytes that begin where those of Programs and arenas do."""
    space = np.zeros(size + cfu.ALIGNMENT_BYTES, np.uint8)
    start = -space.ctypes.data % cfu.ALIGNMENT_BYTES
    return space[start : start + size]


@functools.cache
def _loaded(path: Path) -> ctypes.CDLL:
    library = ctypes.CDLL(str(path))
    pointer, word = ctypes.c_void_p, ctypes.c_uint32
    library.kiwicha_model_bytes.restype = word
    for function, arguments in (
        (library.kiwicha_open, (pointer, pointer, word, pointer, word)),
        (library.kiwicha_reset, (pointer,)),
        (library.kiwicha_invoke, (pointer, pointer, pointer, pointer)),
    ):
        function.argtypes = list(arguments)
    return library


def _require(status: int, what: str) -> None:
    if status != Status.OK:
        raise ToolError(
            f"native kernels must {what}: {cfu.STATUS_TEXT[Status(status)]} "
            f"(status {Status(status).name})"
        )

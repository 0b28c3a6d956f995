"""The portable firmware as a program of this machine, for tests: no simulator, full sanitizers."""

import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kiwicha import cache, tools
from kiwicha.contract.cfu import Status
from kiwicha.contract.configs import Config
from kiwicha.errors import ToolError
from kiwicha.firmware.compile import WARNINGS
from kiwicha.firmware.header import HEADER_NAME, header
from kiwicha.firmware.sources import (
    FOLDER,
    RUNTIME_FOLDERS,
    runtime_headers,
    runtime_sources,
)

__all__ = ["NativeResult", "build_native", "compile_for_host", "run_native"]

_HOST = FOLDER / "host"
_INCLUDE_FOLDERS = (*RUNTIME_FOLDERS, _HOST)
_MAIN = _HOST / "main.c"
_EXECUTABLE = "kiwicha_native"

_FLAGS = (
    *("-std=c11", "-D_POSIX_C_SOURCE=200809L", "-DKIWICHA_HAS_CFU_MODEL", "-g"),
    *WARNINGS,
)
_SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")


@dataclass(frozen=True)
class NativeResult:
    """What became of a Program.

    Parameters
    ----------
    status : Status
        The firmware's answer.
    outputs : tuple of bytes
        Output tensors in the model's order; empty unless the status is OK.
    log : str
        What was printed.
    """

    status: Status
    outputs: tuple[bytes, ...]
    log: str


def build_native(
    config: Config, *, sanitize: bool = True, main: Path | None = None, level: int = 1
) -> Path:
    """Return the executable of a configuration, compiled at most once.

    Parameters
    ----------
    config : Config
        The configuration it refuses to run without.
    sanitize : bool
        Stop at the first bad access or undefined operation.
    main : Path or None
        C file with another ``main``.
    level : int
        How much the compiler optimizes: 2 takes longer, for what runs for long.

    Raises
    ------
    ToolError
        If the compiler is missing or fails.
    """
    sources = runtime_sources(config, _HOST)
    if main is not None:
        sources = [main if path == _MAIN else path for path in sources]
    return compile_for_host(
        {HEADER_NAME: header(config)},
        sources,
        runtime_headers(_HOST),
        _INCLUDE_FOLDERS,
        flags=(f"-O{level}", *(_SANITIZERS if sanitize else ())),
    )


def compile_for_host(
    generated: Mapping[str, str],
    sources: Sequence[Path],
    headers: Sequence[Path],
    folders: Iterable[Path],
    *,
    flags: Sequence[str] = ("-O2", *_SANITIZERS),
) -> Path:
    """Return an executable of C files of the firmware, compiled at most once.

    Parameters
    ----------
    generated : mapping
        Contents of headers that are generated, by name.
    sources, headers : sequence of Path
        C files, and what they include.
    folders : iterable of Path
        Where the headers are.
    flags : sequence of str
        Of the compiler, beside those that all C files need.

    Raises
    ------
    ToolError
        If the compiler is missing or fails.
    """
    compiler = tools.cxx()
    options = (*_FLAGS, *flags)
    texts = [text for entry in sorted(generated.items()) for text in entry]
    key = cache.digest([*compiler.command, compiler.version, *options, *texts, *sources, *headers])

    def compile_into(folder: Path) -> None:
        for name, text in generated.items():
            (folder / name).write_text(text, encoding="utf-8")
        command = [
            *(*compiler.command, *options, f"-I{folder}"),
            *(f"-I{include}" for include in folders),
            *("-o", _EXECUTABLE),
            # A C++ compiler is what a machine must have anyway. It compiles C as well, but g++
            # must be told for every file.
            *(word for source in sources for word in ("-x", "c", str(source))),
        ]
        tools.run(command, name="the host's compiler", folder=folder)

    return cache.build("native", key, compile_into) / _EXECUTABLE


def run_native(
    executable: Path,
    program: bytes,
    inputs: Sequence[bytes] = (),
    *,
    outputs: int = 1,
    arena_bytes: int | None = None,
    reset_at: int | None = None,
    timeout_seconds: float = 60.0,
) -> NativeResult:
    """Execute a Program once, or once for each set of inputs, each with the states left so far.

    With a double buffer the inputs of the next inference are written after the first step of the
    one before, and the outputs of an inference are read after the next one.

    Parameters
    ----------
    executable : Path
        From `build_native`.
    program : bytes
        Stored form, good or bad.
    inputs : sequence of bytes
        Input tensors in the model's order, set by set.
    outputs : int
        How many output tensors the Program has, times the sets of inputs.
    arena_bytes : int or None
        Size of the arena; None: what the Program's header asks for.
    reset_at : int or None
        Number of the inference, from 1 on, before which states get their first values again.
    timeout_seconds : float
        Limit; what takes longer counts as hanging.

    Raises
    ------
    ToolError
        If the executable stopped in any way but with a status: a sanitizer's finding, wrong inputs
        or no answer in time.
    """
    with tempfile.TemporaryDirectory(prefix="kiwicha-") as name:
        folder = Path(name)
        paths = [folder / "program.bin", *(folder / f"input{k}.bin" for k in range(len(inputs)))]
        for path, raw in zip(paths, (program, *inputs), strict=True):
            path.write_bytes(raw)
        output_paths = [folder / f"output{k}.bin" for k in range(outputs)]
        command = [str(executable), *map(str, paths)]
        if arena_bytes is not None:
            command += ["--arena-bytes", str(arena_bytes)]
        if reset_at is not None:
            command += ["--reset-at", str(reset_at)]
        command += ["--output", *map(str, output_paths)]
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=timeout_seconds,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise ToolError(f"native firmware must end within {timeout_seconds} s") from error
        try:
            status = Status(done.returncode)
        except ValueError as error:
            raise ToolError(
                f"native firmware must end with a status, not {done.returncode}:\n{done.stderr}"
            ) from error
        # A sanitizer that finds something ends the process with 1, which is a status too.
        if "runtime error" in done.stderr or "Sanitizer" in done.stderr:
            raise ToolError(f"native firmware must not trip a sanitizer:\n{done.stderr}")
        results = output_paths if status is Status.OK else []
        return NativeResult(status, tuple(path.read_bytes() for path in results), done.stderr)

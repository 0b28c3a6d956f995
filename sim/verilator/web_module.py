"""The simulator as a WebAssembly module, for a page: the same model, compiled by Zig."""

import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from kiwicha import cache, tools
from kiwicha.contract.configs import Config
from kiwicha.errors import ToolError
from kiwicha.sim.verilator.power_up import without_zeros
from kiwicha.sim.verilator.simulator import (
    CFU,
    ELABORATED,
    GENERATING,
    HARNESS,
    VERILATE,
    elaborated,
)
from kiwicha.sim.verilator.verilated_runtime import CFLAGS, DEFINES, runtime_names

__all__ = ["DRAM_BYTES", "build_web_module", "with_less_dram"]

DRAM_BYTES = 1 << 24
"""What a page simulates of DRAM: a browser gives it memory for all of it."""

_STAGE = "compiling the simulator for WebAssembly: about 60 s, kept for the next time"
_TARGET = "wasm32-wasi"
_FLAGS = (
    *("-target", _TARGET, CFLAGS, "-fno-exceptions", "-fno-sanitize=undefined"),
    *(f"-D{define}" for define in DEFINES),
    # Verilator does not know WebAssembly, and its headers count on a system's.
    *("-DVL_IGNORE_UNKNOWN_ARCH", "-DCLOCK_PROCESS_CPUTIME_ID=CLOCK_MONOTONIC"),
    *("-include", "cstdint"),
)
_OPTIMISATION = {True: "-Os", False: "-O2"}
"""Of code that runs once per simulation, and of all other."""
_LINK = (
    *("-target", _TARGET, "-mexec-model=reactor", "-O2", "-s"),
    "-Wl,--stack,1048576",
)
_SHARED = ("drain.h", "memory.cpp", "memory.h", "public.vlt", "states.h")
"""Of the program's harness."""
_BANK = re.compile(r"^(reg \[\d+:0\] dram_bank\d+\[0:)(\d+)\];$", re.M)
_BYTES = re.compile(r"^(constexpr uint32_t kDramBytes = )(\d+);$", re.M)


def with_less_dram(files: Mapping[str, str], dram_bytes: int) -> dict[str, str]:
    """Return a system on chip that simulates only the beginning of its DRAM.

    The memory controller is the same, and so are all cycles. Behind the end reads give zeros.

    Parameters
    ----------
    files : mapping
        ``soc.v`` and ``memories.h``.
    dram_bytes : int
        A power of two.

    Raises
    ------
    ToolError
        If the files are not as the generator writes them.
    """
    found = _BYTES.search(files["memories.h"])
    banks = _BANK.findall(files["soc.v"])
    if found is None or not banks:
        raise ToolError("the generated system must have banks of DRAM (soc.v, memories.h)")
    bytes_before = int(found[2])
    if dram_bytes >= bytes_before:
        return dict(files)

    def shorter(match: re.Match[str]) -> str:
        words = (int(match[2]) + 1) * dram_bytes // bytes_before
        return f"{match[1]}{words - 1}];"

    return {
        "soc.v": _BANK.sub(shorter, files["soc.v"]),
        "memories.h": _BYTES.sub(rf"\g<1>{dram_bytes};", files["memories.h"]),
    }


def build_web_module(config: Config, on_build: Callable[[str], None] | None = None) -> Path:
    """Return the WebAssembly module of a configuration's simulator, built at most once.

    Parameters
    ----------
    config : Config
        The configuration of a Program.
    on_build : callable or None
        Called with the name of each stage that takes time.

    Raises
    ------
    ToolError
        If a tool is missing or fails.
    """

    def announce(stage: str) -> Callable[[], None] | None:
        return None if on_build is None else lambda: on_build(stage)

    system = elaborated(config, announce(GENERATING))
    files = {name: (system / name).read_text(encoding="utf-8") for name in ELABORATED}
    files[CFU] = without_zeros(files[CFU])
    files |= with_less_dram({name: files[name] for name in ("soc.v", "memories.h")}, DRAM_BYTES)
    harness = [HARNESS / "system" / name for name in _SHARED]
    harness += sorted(path for path in (HARNESS / "web").rglob("*") if path.is_file())
    verilator, zig = tools.verilator(), tools.zig()
    key = cache.digest([
        *(verilator.version, zig.version, *VERILATE, *_FLAGS, *_OPTIMISATION.values(), *_LINK),
        *(files[name] for name in ELABORATED),
        *harness,
    ])
    entry = cache.build(
        "web_module", key, lambda folder: _compile(files, folder), on_build=announce(_STAGE)
    )
    return entry / "soc.wasm"


def _compile(files: Mapping[str, str], folder: Path) -> None:
    verilator = tools.verilator()
    work = folder / "build"
    work.mkdir()
    for name, text in files.items():
        (work / name).write_text(text, encoding="utf-8")
    verilog = [name for name in files if name.endswith(".v")]
    tools.run(
        [*verilator.command, *VERILATE, *verilog, str(HARNESS / "system" / "public.vlt")],
        name="Verilator",
        folder=work,
        environment=verilator.environment,
    )
    include = Path(verilator.environment["VERILATOR_ROOT"]) / "include"
    makefile = (work / "Vsoc_classes.mk").read_text(encoding="utf-8")
    sources = [
        *sorted(work.glob("*.cpp"), key=lambda path: -path.stat().st_size),
        *(include / f"{name}.cpp" for name in runtime_names(makefile)),
        *(HARNESS / "system" / "memory.cpp", HARNESS / "web" / "module.cpp"),
    ]
    folders = (HARNESS / "web" / "headers", HARNESS / "system", work, include, include / "vltstd")
    includes = [f"-I{path}" for path in folders]

    def compiled(source: Path) -> str:
        target = work / f"{source.stem}.o"
        optimisation = _OPTIMISATION[source.stem.endswith("Slow") or source.parent == include]
        _zig([*_FLAGS, optimisation, *includes, "-c", "-o", str(target), str(source)])
        return str(target)

    with ThreadPoolExecutor(tools.cores()) as pool:
        objects = list(pool.map(compiled, sources))
    _zig([*_LINK, "-o", str(folder / "soc.wasm"), *objects])
    for path in work.iterdir():
        path.unlink()
    work.rmdir()


def _zig(words: Sequence[str]) -> None:
    tools.run(
        [*tools.zig().command, "c++", *words],
        name="the C++ compiler for WebAssembly",
        environment={"ZIG_GLOBAL_CACHE_DIR": str(cache.cache_dir() / "zig")},
    )

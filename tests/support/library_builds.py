"""Libraries of models, unpacked and compiled by their own Makefile."""

import importlib.util
import io
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path

from kiwicha import cache, tools
from kiwicha.compiler import compile_stages
from kiwicha.contract import cfu
from kiwicha.contract.configs import find_config
from kiwicha.firmware.build import SOC_HEADER_NAME
from kiwicha.firmware.compile import MEMORY_SCRIPT_NAME, PLATFORM
from kiwicha.library import library, pack
from kiwicha.sim.verilator.simulator import soc_header_text

__all__ = [
    "APPLICATION_BYTES",
    "RISCV",
    "WARNINGS",
    "build_sdk",
    "riscv_application",
    "riscv_library",
    "run_make",
    "unpack",
    "write_library",
]

WARNINGS = ("-Wall", "-Wextra", "-Werror")
RISCV = ("-target", "riscv32-freestanding-none", "-mcpu=generic_rv32+m+relax+zicsr", "-mabi=ilp32")
_RISCV_FLAGS = "-O2 -fno-sanitize=undefined -Werror"
_STUB = ("cycles", "drain_stores", "forget_cached", "enable_cfu")
"""What ``platform/platform.c`` has for our CPU."""
APPLICATION_BYTES = 4 << 20
"""Memory for an application on the simulated system: image, arena and stack."""


def unpack(raw: bytes, folder: Path) -> Path:
    """Unpack an archive, and return the folder."""
    with tarfile.open(fileobj=io.BytesIO(raw)) as archive:
        for entry in archive:
            path = folder / entry.name
            path.parent.mkdir(parents=True, exist_ok=True)
            content = archive.extractfile(entry)
            assert content is not None
            path.write_bytes(content.read())
    return folder


def write_library(folder: Path, config: str, **models: bytes) -> Path:
    """Unpack libraries of models, by their names, into one folder, as their README says."""
    for name, model in models.items():
        unpack(pack(library(name, compile_stages(model, config), model), "."), folder)
    return folder


def run_make(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run make in a library."""
    return subprocess.run(
        [*tools.make().command, "-s", f"-j{tools.cores()}", *words],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )


def riscv_library(root: Path, *words: str, flags: str = _RISCV_FLAGS) -> None:
    """Compile a library for the CPU of Kiwicha's system, without a warning."""
    compiler = f"{sys.executable} -m ziglang"
    done = run_make(
        root,
        "FREESTANDING=1",
        f"CC={compiler} cc {' '.join(RISCV)}",
        f"AR={compiler} ar",
        f"CFLAGS={flags}",
        *words,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def build_sdk(root: Path, cross: str | None = None, words: Sequence[str] = ()) -> None:
    """Run an SDK's own Makefile, where there is no Python; the compiler may say nothing.

    Parameters
    ----------
    root : Path
        Folder of the unpacked archive.
    cross : str or None
        What the names of GCC's tools begin with, path included; else Zig's clang is taken.
    words : sequence of str
        More for make.
    """
    commands = root / "commands"
    commands.mkdir()
    for name in ("sh", "mkdir", "rm"):
        found = shutil.which(name)
        assert found is not None
        (commands / name).symlink_to(found)
    if cross is None:
        spec = importlib.util.find_spec("ziglang")
        assert spec is not None
        assert spec.origin is not None
        zig = Path(spec.origin).with_name("zig")
        tool_words = [
            *(f"CC={zig} cc -target riscv32-freestanding-none", f"AR={zig} ar"),
            *(f"OBJCOPY={zig} objcopy", "LIBS="),
            "TARGET=-mcpu=generic_rv32+m+relax+zicsr -mabi=ilp32 -fno-sanitize=undefined -Werror",
        ]
    else:
        tool_words = [f"CROSS={cross}", "CFLAGS=-O2 -Werror"]
    done = subprocess.run(
        [*tools.make().command, "-s", "-C", str(root / "system"), *tool_words, *words],
        env={"ZIG_GLOBAL_CACHE_DIR": str(cache.cache_dir() / "zig"), "PATH": str(commands)},
        capture_output=True,
        text=True,
        check=False,
    )
    # GNU's linker warns of code and data in one piece of memory, which is how it is here.
    said = [line for line in done.stderr.splitlines() if "RWX permissions" not in line]
    assert (done.returncode, done.stdout, said) == (0, "", [])


def riscv_application(
    root: Path, config: str, source: str | None = None, *, header: str | None = None
) -> Path:
    """Link the example of a library, or another application, for the simulated system.

    Parameters
    ----------
    root : Path
        The library's folder.
    config : str
        Its configuration.
    source : str or None
        In C++, of an application that takes the example's place. The example has the library's
        ``platform/platform.c``, with our serial port filled in; others have our own platform.
    header : str or None
        ``kiwicha_soc.h`` of another system than the simulated one, whose applications end it.

    Returns
    -------
    Path
        The linked file.
    """
    (root / "soc").mkdir(exist_ok=True)
    (root / "soc" / SOC_HEADER_NAME).write_text(header or soc_header_text(find_config(config)))
    script = (
        f"kiwicha_onchip_base = {cfu.IMAGE_ADDRESS:#x};\n"
        f"kiwicha_onchip_bytes = {APPLICATION_BYTES};\n"
    )
    # Zig's linker looks for it where it runs, and nowhere else.
    (root / MEMORY_SCRIPT_NAME).write_text(script)
    # One of other sources would be as new.
    application = root / "build" / "example" / "main"
    application.unlink(missing_ok=True)
    start = str(PLATFORM / "start.S")
    if source is None:
        stub = [
            "-include",
            str(root / "soc" / SOC_HEADER_NAME),
            "-Dkiwicha_platform_print=not_filled_in",
        ]
        _compile(root, "cc", "-std=c11", "-ffreestanding", *stub, "platform/platform.c")
        filled_in = [f"-Dkiwicha_platform_{name}=our_{name}" for name in _STUB]
        _compile(root, "cc", "-std=c11", *filled_in, str(PLATFORM / "machine.c"))
        words = [f"PLATFORM=platform.o machine.o {start}"]
    else:
        options = ("-std=c++17", "-fno-exceptions", "-fno-rtti")
        _compile(root, "c++", *options, "-x", "c++", source, output="application.o")
        words = ["EXAMPLE=application.o", f"PLATFORM={PLATFORM / 'machine.c'} {start}"]
    link = f"-Wl,-e,kiwicha_entry -Wl,--gc-sections -Wl,-T,{PLATFORM / 'link.ld'}"
    riscv_library(
        root,
        "example",
        f"LDFLAGS={link}",
        *words,
        flags=" ".join((_RISCV_FLAGS, *_includes(root))),
    )
    return application


def _includes(root: Path) -> list[str]:
    """Return options with whole paths, which Zig's cache needs for sources elsewhere."""
    return [f"-I{folder}" for folder in (root, root / "soc", root / "runtime")]


def _compile(root: Path, compiler: str, *words: str, output: str | None = None) -> None:
    """Compile a file of a library's application, by default to an object of its name."""
    output = output or f"{Path(words[-1]).stem}.o"
    flags = [*RISCV, *_RISCV_FLAGS.split(), *WARNINGS, *_includes(root)]
    tools.run(
        [*tools.zig().command, compiler, *flags, "-c", *words, "-o", output],
        name=f"zig {compiler}",
        folder=root,
    )

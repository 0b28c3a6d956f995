"""C for the system's RISC-V CPU: from sources to an image of memory."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kiwicha import cache, tools
from kiwicha.contract import cfu
from kiwicha.errors import CapacityError
from kiwicha.firmware.elf import Elf, read_elf

__all__ = [
    "FOLDER",
    "MEMORY_SCRIPT_NAME",
    "PLATFORM",
    "WARNINGS",
    "Image",
    "Library",
    "compile_image",
]

FOLDER = Path(__file__).parent
PLATFORM = FOLDER / "platform"
MEMORY_SCRIPT_NAME = "kiwicha_memory.ld"

WARNINGS = (
    *("-Wall", "-Wextra", "-Wshadow", "-Wundef", "-Wstrict-prototypes", "-Wmissing-prototypes"),
    "-Werror",
)
"""What the compiler must not find in our C."""

_FLAGS = (
    # VexRiscv: RV32IM, no compressed instructions.
    *("-target", "riscv32-freestanding-none", "-mcpu=generic_rv32+m+relax+zicsr", "-mabi=ilp32"),
    *("-std=c11", "-O2", "-ffreestanding", "-fno-pic", "-fomit-frame-pointer"),
    # Zig compiles checks of undefined behaviour in unless told otherwise.
    "-fno-sanitize=undefined",
    *("-ffunction-sections", "-fdata-sections"),
    *WARNINGS,
)
# Over the level of optimization. Zig's own -Oz strips the symbols that sizes are read from.
_SMALL_FLAGS = ("-Xclang", "-Oz")
# Others' sources are as they are, and in GNU's C.
_LIBRARY_FLAGS = ("-w", "-Wno-error", "-std=gnu11", "-Os")


@dataclass(frozen=True)
class Image:
    """A program as it lies in memory.

    Parameters
    ----------
    raw : bytes
        Contents: text, then data.
    elf : Path
        The linked file, with symbols.
    text_bytes, data_bytes, bss_bytes : int
        Sizes; bss follows data and is cleared by the program itself.
    stack_bytes : int
        What is left for the stack, at least `cfu.STACK_BYTES`.
    """

    raw: bytes
    elf: Path
    text_bytes: int
    data_bytes: int
    bss_bytes: int
    stack_bytes: int


@dataclass(frozen=True)
class Library:
    """Others' sources that a program is linked with.

    Parameters
    ----------
    version : str
        Stands for their contents.
    sources : tuple of Path
        C files.
    includes : tuple of Path
        Folders of headers.
    """

    version: str
    sources: tuple[Path, ...]
    includes: tuple[Path, ...]


def compile_image(
    generated: Mapping[str, str],
    sources: Sequence[Path],
    includes: Iterable[Path],
    *,
    base: int,
    space_bytes: int,
    defines: Sequence[str] = (),
    is_small: bool = False,
    library: Library | None = None,
    on_build: Callable[[], None] | None = None,
) -> Image:
    """Return a program, compiled at most once.

    Parameters
    ----------
    generated : mapping
        Headers by name, which may be in a folder.
    sources : sequence of Path
        C and assembler.
    includes : iterable of Path
        Folders of headers.
    base : int
        Address of the program.
    space_bytes : int
        Memory there is for it and its stack.
    defines : sequence of str
        Macros, with their values.
    is_small : bool
        It is compiled for size, not for speed.
    library : Library or None
        What else is linked.
    on_build : callable or None
        Called before compiling, if that is needed.

    Raises
    ------
    ToolError
        If the compiler is missing or fails.
    CapacityError
        If it does not fit into the memory.
    """
    zig = tools.zig()
    folders = tuple(includes)
    flags = (*_FLAGS, *(_SMALL_FLAGS if is_small else ()))
    script = f"kiwicha_onchip_base = {base:#x};\nkiwicha_onchip_bytes = {space_bytes};\n"
    texts = {**generated, MEMORY_SCRIPT_NAME: script}
    headers = sorted(path for folder in folders for path in folder.glob("*.h"))
    key = cache.digest([
        *(*flags, *_LIBRARY_FLAGS, *defines, zig.version, *texts, *texts.values()),
        library.version if library else "",
        *(PLATFORM / "link.ld", *sources, *headers),
    ])
    environment = {"ZIG_GLOBAL_CACHE_DIR": str(cache.cache_dir() / "zig")}

    def compile_into(folder: Path) -> None:
        for name, text in texts.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        cc = [*zig.command, "cc", *flags, *(f"-D{define}" for define in defines), f"-I{folder}"]
        own = [f"-I{include}" for include in folders]
        objects: list[str] = []
        if library:
            theirs = [f"-isystem{include}" for include in library.includes]
            for source in library.sources:
                objects.append(f"{source.stem}.o")
                tools.run(
                    [
                        *(*cc, *own, *theirs, *_LIBRARY_FLAGS),
                        *("-c", str(source), "-o", objects[-1]),
                    ],
                    name="the RISC-V compiler",
                    folder=folder,
                    environment=environment,
                )
        tools.run(
            [
                *(*cc, *own, "-Wl,-e,kiwicha_entry", "-Wl,--gc-sections", f"-L{folder}"),
                *("-Wl,-T," + str(PLATFORM / "link.ld"), "-o", "firmware.elf"),
                *(*map(str, sources), *objects),
            ],
            name="the RISC-V compiler",
            folder=folder,
            environment=environment,
        )
        # Refuse here: what does not fit must not enter the cache.
        _image(folder / "firmware.elf", base, space_bytes)

    entry = cache.build("firmware", key, compile_into, on_build=on_build)
    return _image(entry / "firmware.elf", base, space_bytes)


def _image(path: Path, base: int, space_bytes: int) -> Image:
    elf: Elf = read_elf(path.read_bytes())
    names = ("text_start", "text_end", "data_end", "bss_end")
    start, text_end, data_end, bss_end = (elf.symbols[f"kiwicha_{name}"] for name in names)
    stack_bytes = base + space_bytes - bss_end
    if stack_bytes < cfu.STACK_BYTES:
        raise CapacityError(
            f"firmware must leave {cfu.STACK_BYTES} bytes of {space_bytes} bytes "
            f"for the stack, not {stack_bytes} (text {text_end - start}, data "
            f"{data_end - text_end}, bss {bss_end - data_end})"
        )
    return Image(
        raw=elf.image(base),
        elf=path,
        text_bytes=text_end - start,
        data_bytes=data_end - text_end,
        bss_bytes=bss_end - data_end,
        stack_bytes=stack_bytes,
    )

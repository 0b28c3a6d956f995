"""All files of a library, and the archive that holds them."""

import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Mapping
from importlib.metadata import distribution
from pathlib import Path

from kiwicha import custom
from kiwicha.compiler import Compilation
from kiwicha.compiler.reasons import engine_refusals
from kiwicha.contract.configs import Config
from kiwicha.detection.files import detection_files, detection_text
from kiwicha.firmware.header import HEADER_NAME, header
from kiwicha.firmware.sources import (
    CFU_MODEL,
    FOLDER,
    FREESTANDING,
    LIBRARY_FILES,
    LIBRARY_FOLDER,
    runtime_headers,
    runtime_sources,
)
from kiwicha.library.guide import facts
from kiwicha.library.metadata import METADATA_NAME, metadata
from kiwicha.library.model_code import model_files
from kiwicha.library.names import file_name, named_text, symbol
from kiwicha.program.listing import listing

__all__ = ["FACTS", "library", "pack", "runtime_files"]

_COMPRESSION_LEVEL = 4
"""Of archives: level 9 takes 20 times as long for numbers as text, and saves a tenth."""
FACTS = b"KIWICHA_FACTS"
"""In the README: where what is known of the model goes."""


def library(name: str, compilation: Compilation, source: bytes) -> dict[str, bytes]:
    """Return all files of a model library.

    Parameters
    ----------
    name : str
        Of the model.
    compilation : Compilation
        For any configuration.
    source : bytes
        The ``.tflite`` file that it was compiled from.

    Returns
    -------
    dict of str to bytes
        Contents by path: ``README.md``, ``LICENSE``, ``metadata.json``, the Program, its listing,
        ``model/NAME.[ch]``, of a detector also ``model/NAME_detection.[ch]``, and in ``runtime/``
        and ``kernels/`` the C sources that execute it, with ``kiwicha_isa.h``; those of custom
        operators are ``kernels/custom_FUNCTION.c``. ``Makefile`` and ``CMakeLists.txt`` compile
        them, and ``example/main.c`` with what ``platform/platform.c`` leaves open. ``host/`` and
        ``freestanding/`` are for machines without a CFU and without a C library.
    """
    program = compilation.program
    said = metadata(name, compilation, source)
    files = {
        **runtime_files(program.config),
        f"{name}.kiwicha": program.to_bytes(),
        f"{name}.txt": f"{_listing(compilation)}\n".encode(),
    }
    files |= {f"model/{path}": raw for path, raw in model_files(name, program).items()}
    files |= {
        path.relative_to(LIBRARY_FOLDER).as_posix(): named_text(
            path.read_text(encoding="utf-8"), name
        ).encode()
        for path in LIBRARY_FILES
    }
    files["README.md"] = files["README.md"].replace(FACTS, facts(said).encode())
    if compilation.detection is not None:
        more = detection_files(file_name(name), symbol(name), compilation.detection)
        files |= {f"model/{path}": raw for path, raw in more.items()}
    sums = {path: hashlib.sha256(raw).hexdigest() for path, raw in sorted(files.items())}
    described = {**said, "files": sums}
    return {METADATA_NAME: f"{json.dumps(described, indent=2)}\n".encode(), **files}


def runtime_files(config: Config) -> dict[str, bytes]:
    """Return what libraries of all models for a configuration have alike, but for ``README.md``.

    Parameters
    ----------
    config : Config
        What their Programs run on.
    """
    files = {"LICENSE": _licence().encode(), HEADER_NAME: header(config).encode()}
    files |= {
        path.relative_to(FOLDER).as_posix(): path.read_bytes()
        for path in (*runtime_sources(config), *runtime_headers(), *CFU_MODEL)
        if path.is_relative_to(FOLDER)
    }
    files |= {f"freestanding/{path.name}": path.read_bytes() for path in FREESTANDING}
    return files | _custom_files()


def pack(files: Mapping[str, bytes], folder: str) -> bytes:
    """Return files as a gzipped tar archive, the same bytes for the same files.

    Parameters
    ----------
    files : mapping of str to bytes
        Contents by path.
    folder : str
        That the paths begin with in the archive.
    """
    packed = io.BytesIO()
    with (
        gzip.GzipFile(
            fileobj=packed, mode="wb", compresslevel=_COMPRESSION_LEVEL, filename="", mtime=0
        ) as stream,
        tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT) as archive,
    ):
        for path, raw in sorted(files.items()):
            # A TarInfo made here has no time, owner or group of this machine.
            entry = tarfile.TarInfo(f"{folder}/{path}")
            entry.size = len(raw)
            archive.addfile(entry, io.BytesIO(raw))
    return packed.getvalue()


def _licence() -> str:
    """Return the text that holds for all but the model: of a source tree, or as installed."""
    tree = FOLDER.parent / "LICENSE"
    if tree.is_file():
        return tree.read_text(encoding="utf-8")
    text = distribution("kiwicha").read_text("licenses/LICENSE")
    assert text is not None
    return text


def _listing(compilation: Compilation) -> str:
    detection = compilation.detection
    return listing(
        compilation.program,
        engine_refusals(compilation),
        last_step="" if detection is None else detection_text(detection),
    )


def _custom_files() -> dict[str, bytes]:
    """Return the kernels of custom operators; packages may name their files alike.

    They lie beside the headers that they include.
    """
    functions: dict[Path, str] = {}
    for operator in custom.operators():
        functions.setdefault(Path(operator.source).resolve(), operator.function)
    return {f"kernels/custom_{name}.c": path.read_bytes() for path, name in functions.items()}

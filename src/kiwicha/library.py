"""Compiled models as files that C projects link: sources, runtime, and what they need to know."""

import gzip
import hashlib
import io
import json
import re
import tarfile
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from kiwicha import custom
from kiwicha.compiler import Compilation
from kiwicha.compiler.engine.cost.cycles import predict_program
from kiwicha.compiler.reasons import engine_refusals, on_cpu
from kiwicha.detection.files import detection_files, detection_metadata, detection_text
from kiwicha.firmware.header import HEADER_NAME, header
from kiwicha.firmware.sources import (
    CFU_MODEL_HEADER,
    FOLDER,
    STRING_HEADER,
    runtime_headers,
    runtime_sources,
)
from kiwicha.program.image import Program
from kiwicha.program.listing import listing, shape_text
from kiwicha.program.parts import IoTensor

__all__ = ["METADATA_NAME", "library", "metadata", "model_files", "pack"]

METADATA_NAME = "metadata.json"
_FORMAT = 1
_BYTES_PER_LINE = 16
_COMPRESSION_LEVEL = 4
"""Of archives: level 9 takes 20 times as long for numbers as text, and saves a tenth."""


def model_files(name: str, program: Program) -> dict[str, bytes]:
    """Return a Program as a C source and its header.

    Parameters
    ----------
    name : str
        Of the model. Symbols have its letters, digits and underscores.
    program : Program
        For any configuration.

    Returns
    -------
    dict of str to bytes
        ``NAME.h`` and ``NAME.c``; the same bytes for the same Program, always.
    """
    symbol = _symbol(name)
    return {
        f"{name}.h": "\n".join(_header(symbol, name, program)).encode(),
        f"{name}.c": "\n".join(_source(symbol, name, program.to_bytes())).encode(),
    }


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
        Contents by path: ``metadata.json``, the Program, its listing, ``model/NAME.[ch]``, of a
        detector also ``model/NAME_detection.[ch]``, and in ``runtime/`` and ``kernels/`` the C
        sources that execute it, with ``kiwicha_isa.h``; those of custom operators are
        ``kernels/custom_FUNCTION.c``. ``host/cfu_model.h`` and ``freestanding/string.h`` are
        headers for machines without a CFU and without a C library.
    """
    program = compilation.program
    files = {
        f"{name}.kiwicha": program.to_bytes(),
        f"{name}.txt": f"{_listing(compilation)}\n".encode(),
        HEADER_NAME: header(program.config).encode(),
    }
    files |= {f"model/{path}": raw for path, raw in model_files(name, program).items()}
    files |= {
        path.relative_to(FOLDER).as_posix(): path.read_bytes()
        for path in (*runtime_sources(program.config), *runtime_headers(), CFU_MODEL_HEADER)
        if path.is_relative_to(FOLDER)
    }
    files[f"freestanding/{STRING_HEADER.name}"] = STRING_HEADER.read_bytes()
    files |= _custom_files()
    if compilation.detection is not None:
        more = detection_files(name, _symbol(name), compilation.detection)
        files |= {f"model/{path}": raw for path, raw in more.items()}
    sums = {path: hashlib.sha256(raw).hexdigest() for path, raw in sorted(files.items())}
    described = {**metadata(name, compilation, source), "files": sums}
    return {METADATA_NAME: f"{json.dumps(described, indent=2)}\n".encode(), **files}


def metadata(name: str, compilation: Compilation, source: bytes) -> dict[str, Any]:
    """Return what a project needs to know before it links a model.

    Returns
    -------
    dict
        ``format``, ``kiwicha`` (version), ``model``, ``source_sha256``, ``config``,
        ``config_hash``; ``memory`` in bytes (``program``, of it ``constants``, ``arena``, and with
        a double buffer ``shift``, the distance of the two places of inputs and outputs);
        ``macs``; ``predicted_cycles`` of an inference, null for a configuration without an engine;
        ``inputs`` and ``outputs``; ``operators``, how many by name and by what executes them;
        ``on_cpu``, layers of operators that the engine has, and why they are not on it;
        ``last_step``, what the host does with a detector's outputs, null if there is nothing.
    """
    program, detection = compilation.program, compilation.detection
    operators: dict[str, dict[str, int]] = {}
    for layer in program.layers:
        places = operators.setdefault(layer.operator, {})
        places[layer.where.text] = places.get(layer.where.text, 0) + 1
    return {
        "format": _FORMAT,
        "kiwicha": version("kiwicha"),
        "model": name,
        "source_sha256": hashlib.sha256(source).hexdigest(),
        "config": program.config.name,
        "config_hash": f"{program.config_hash:08x}",
        "memory": {
            "program": len(program.to_bytes()),
            "constants": len(program.constants),
            "arena": program.arena_bytes,
            **({"shift": program.shift_bytes} if program.shift_bytes else {}),
        },
        "macs": sum(layer.macs for layer in program.layers),
        "predicted_cycles": (predict_program(program)[0] if program.config.engine_macs else None),
        "inputs": [_described(tensor) for tensor in program.inputs],
        "outputs": [_described(tensor) for tensor in program.outputs],
        "operators": operators,
        "on_cpu": on_cpu(compilation),
        "last_step": None if detection is None else detection_metadata(name, detection),
    }


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


def _described(tensor: IoTensor) -> dict[str, Any]:
    return {
        "name": tensor.name,
        "dtype": tensor.dtype.name.lower(),
        "shape": list(tensor.shape),
        "scale": tensor.scale,
        "zero_point": tensor.zero_point,
        "bytes": tensor.ref.bytes,
    }


def _symbol(name: str) -> str:
    symbol = re.sub(r"\W", "_", name, flags=re.ASCII)
    return f"_{symbol}" if symbol[:1].isdigit() else symbol


def _string(text: str) -> str:
    """Return a C string literal; bytes beyond printable ASCII are octal escapes."""
    characters = (
        chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}"
        for byte in text.encode()
    )
    return f'"{"".join(characters)}"'


def _header(symbol: str, name: str, program: Program) -> Iterator[str]:
    prefix = symbol.upper()
    yield f"/** Model {_comment(name)}, compiled for configuration {program.config.name}. */"
    yield f"#ifndef KIWICHA_MODEL_{prefix}_H"
    yield f"#define KIWICHA_MODEL_{prefix}_H"
    yield ""
    yield "#include <stdint.h>"
    yield ""
    yield "/** What kiwicha_open() takes, 16-byte aligned. */"
    yield f"extern const uint8_t {symbol}_program[];"
    yield f"#define {prefix}_PROGRAM_BYTES {len(program.to_bytes())}u"
    yield "/** Least size of the arena, which must be 16-byte aligned. */"
    yield f"#define {prefix}_ARENA_BYTES {program.arena_bytes}u"
    for what, tensors in (("INPUT", program.inputs), ("OUTPUT", program.outputs)):
        for number, tensor in enumerate(tensors):
            place = f"{prefix}_{what}_{number}"
            yield ""
            yield (
                f"/** {tensor.dtype.name.lower()} {shape_text(tensor.shape)}; "
                "real value = SCALE * (value - ZERO_POINT). */"
            )
            yield f"#define {place}_NAME {_string(tensor.name)}"
            yield f"#define {place}_BYTES {tensor.ref.bytes}u"
            yield f"#define {place}_SCALE {float(tensor.scale):.9e}f"
            yield f"#define {place}_ZERO_POINT ({tensor.zero_point})"
    yield ""
    yield "#endif"
    yield ""


def _comment(text: str) -> str:
    return text.replace("*/", "* /")


def _source(symbol: str, name: str, raw: bytes) -> Iterator[str]:
    yield f"/* Model {_comment(name)}. */"
    yield f'#include "{name}.h"'
    yield ""
    yield f"_Alignas(16) const uint8_t {symbol}_program[{len(raw)}] = {{"
    numbers = [f"{byte}," for byte in range(256)]
    items = [numbers[byte] for byte in raw]
    for begin in range(0, len(items), _BYTES_PER_LINE):
        yield "    " + " ".join(items[begin : begin + _BYTES_PER_LINE])
    yield "};"
    yield ""

"""What an application for TensorFlow Lite Micro links: model, operator and library."""

import math
from collections.abc import Iterator, Sequence
from importlib.metadata import version

import tflite

from kiwicha.compiler.engine.cost.bounds import worst_cycles
from kiwicha.firmware.sources import TFLM_FILES
from kiwicha.library.files import FACTS, runtime_files
from kiwicha.library.model_code import c_array, kernel_table
from kiwicha.library.names import file_name, named_text, symbol
from kiwicha.program.image import Program
from kiwicha.tflite_writer.tables import TensorRecord
from kiwicha.tflm.partitions import Partitioned
from kiwicha.tflm.resolver import method

__all__ = ["tflm_files"]

_FILE = b"NAME.kiwicha.tflite"
_SUFFIX = ".kiwicha.tflite"
_RECORD_BYTES = 128
_FIXED_BYTES = 4096
_WIDTHS = {
    tflite.TensorType.UINT8: 1,
    tflite.TensorType.INT8: 1,
    tflite.TensorType.INT16: 2,
    tflite.TensorType.INT64: 8,
}
_USUAL_WIDTH = 4
"""Bytes of a float32, of an int32, and of all that is narrower."""


def tflm_files(name: str, partitioned: Partitioned, model: bytes) -> dict[str, bytes]:
    """Return all files of a library for a model that TensorFlow Lite Micro runs.

    Parameters
    ----------
    name : str
        Of the model.
    partitioned : Partitioned
        What is computed by Programs.
    model : bytes
        From `kiwicha.tflm.model.write_model`.

    Returns
    -------
    dict of str to bytes
        Contents by path: as of `kiwicha.library.library`, with the operator in ``tflm/`` and an
        example in C++. The array in ``model/NAME.c`` is the model, not a Program.
    """
    files = runtime_files(partitioned.partitions[0].compilation.config)
    for path, source in TFLM_FILES.items():
        files[path] = named_text(source.read_text(encoding="utf-8"), name).encode()
    programs = [item.compilation.program for item in partitioned.partitions]
    stem = file_name(name)
    files["README.md"] = (
        files["README.md"]
        .replace(FACTS, _facts(name, partitioned, model).encode())
        .replace(_FILE, f"{name}{_SUFFIX}".encode())
    )
    return {
        **files,
        f"{name}{_SUFFIX}": model,
        f"model/{stem}.h": "\n".join(_header(name, partitioned, model)).encode(),
        f"model/{stem}.c": "\n".join(_source(name, programs, model)).encode(),
    }


def _facts(name: str, partitioned: Partitioned, model: bytes) -> str:
    """Return what the README says of the model, as a table in Markdown."""
    programs = [item.compilation.program for item in partitioned.partitions]
    left = ", ".join(item.partition(" ")[2] for item in partitioned.left) or "none"
    made = f"compiled by Kiwicha {version('kiwicha')} for configuration {programs[0].config.name}"
    rows = [
        ("the model, which is only read", f"{len(model):,} bytes"),
        ("Programs in it", f"{len(programs)}"),
        ("what they work in", ", ".join(f"{item.arena_bytes:,} bytes" for item in programs)),
        ("operators that stay TensorFlow Lite Micro's own", left),
        ("cycles of the Programs, at most", f"{sum(map(worst_cycles, programs)):,}"),
    ]
    lines = [f"Model {name}, {made}.", "", "| | |", "|---|---|"]
    return "\n".join([*lines, *(f"| {what} | {value} |" for what, value in rows)])


def _arena_bytes(partitioned: Partitioned) -> int:
    """Return an arena that is enough for Programs, and for tensors between them.

    The interpreter's own tables are some hundred bytes for each tensor and operator that is left.
    """
    source = partitioned.source
    programs = [item.compilation.program for item in partitioned.partitions]
    kept = {index for item in partitioned.partitions for index in (*item.inputs, *item.outputs)}
    kept |= {*source.inputs, *source.outputs}
    between = sum(_tensor_bytes(source.tensors[index]) for index in kept)
    records = _RECORD_BYTES * (len(source.tensors) + len(source.operators))
    total = sum(item.arena_bytes for item in programs) + between + records + _FIXED_BYTES
    return -(-total // _FIXED_BYTES) * _FIXED_BYTES


def _tensor_bytes(tensor: TensorRecord) -> int:
    width = _WIDTHS.get(tensor.type, _USUAL_WIDTH)
    return math.prod(abs(size) for size in tensor.shape or ()) * width


def _header(name: str, partitioned: Partitioned, model: bytes) -> Iterator[str]:
    lower = symbol(name)
    prefix = lower.upper()
    yield "/** A model for TensorFlow Lite Micro, with Programs inside. */"
    yield f"#ifndef KIWICHA_MODEL_{prefix}_H"
    yield f"#define KIWICHA_MODEL_{prefix}_H"
    yield ""
    yield "#include <stdint.h>"
    yield ""
    yield "#ifdef __cplusplus"
    yield 'extern "C" {'
    yield "#endif"
    yield ""
    yield "/** What tflite::GetModel() takes, 16-byte aligned. */"
    yield f"extern const uint8_t {lower}_tflite[];"
    yield ""
    yield "#ifdef __cplusplus"
    yield "}"
    yield "#endif"
    yield ""
    yield f"#define {prefix}_TFLITE_BYTES {len(model)}u"
    yield ""
    yield "/** For the interpreter: what Programs need, what is between them, and some more. */"
    yield f"#define {prefix}_ARENA_BYTES {_arena_bytes(partitioned)}u"
    yield ""
    others = sorted({method(item.partition(" ")[2]) for item in partitioned.left})
    yield "/** Different operators of the model: KIWICHA, and those below. */"
    yield f"#define {prefix}_OPERATORS {1 + len(others)}"
    yield ""
    yield "/** Adds to a MicroMutableOpResolver what stays TensorFlow Lite Micro's own. */"
    yield f"#define {prefix}_ADD_OTHER_OPERATORS(resolver) \\"
    yield "    do { \\"
    yield from (f"        (void)(resolver).{each}(); \\" for each in others)
    yield "    } while (0)"
    yield ""
    yield "#endif"
    yield ""


def _source(name: str, programs: Sequence[Program], model: bytes) -> Iterator[str]:
    yield "/* A model for TensorFlow Lite Micro. */"
    yield f'#include "{file_name(name)}.h"'
    yield ""
    yield '#include "../kernels/kernels.h"'
    yield ""
    yield from kernel_table(programs)
    yield from c_array(f"{symbol(name)}_tflite", model)

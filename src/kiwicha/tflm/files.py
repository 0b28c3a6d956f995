"""What an application for TensorFlow Lite Micro links: model, operator and library."""

from collections.abc import Iterator, Sequence

from kiwicha.firmware.sources import LIBRARY_FOLDER, TFLM_FILES
from kiwicha.library.files import runtime_files
from kiwicha.library.model_code import c_array, kernel_table
from kiwicha.library.names import file_name, symbol
from kiwicha.program.image import Program
from kiwicha.tflm.partitions import Partitioned

__all__ = ["tflm_files"]


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
        Contents by path: as of `kiwicha.library.library`, with the operator in ``tflm/``. The array
        in ``model/NAME.c`` is the model, not a Program.
    """
    files = runtime_files(partitioned.partitions[0].compilation.config)
    for path in (LIBRARY_FOLDER / "Makefile", LIBRARY_FOLDER / "platform/platform.c", *TFLM_FILES):
        files[path.relative_to(LIBRARY_FOLDER).as_posix()] = path.read_bytes()
    programs = [item.compilation.program for item in partitioned.partitions]
    stem = file_name(name)
    return {
        **files,
        f"{name}.kiwicha.tflite": model,
        f"model/{stem}.h": "\n".join(_header(name, model)).encode(),
        f"model/{stem}.c": "\n".join(_source(name, programs, model)).encode(),
    }


def _header(name: str, model: bytes) -> Iterator[str]:
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

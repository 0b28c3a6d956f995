"""A Program as C: its bytes, its kernels, and what is known of it at compile time."""

from collections.abc import Iterable, Iterator

import numpy as np

from kiwicha.compiler.engine.cost.bounds import worst_cycles
from kiwicha.contract.cfu import CACHE_LINE_BYTES
from kiwicha.kernels.registry import KERNELS
from kiwicha.kernels.stack import stack_bytes
from kiwicha.library.names import file_name, symbol
from kiwicha.program.image import Program
from kiwicha.program.listing import shape_text
from kiwicha.program.parts import IoTensor

__all__ = ["c_array", "kernel_table", "model_files"]

_BYTES_PER_LINE = 16
_INDENT = 4
_WORDS = np.array([f"0x{byte:02x}, " for byte in range(256)], "S6")
"""How bytes are written."""


def model_files(name: str, program: Program) -> dict[str, bytes]:
    """Return a Program as a C source and its header, for the folder ``model`` of a library.

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
    stem = file_name(name)
    return {
        f"{stem}.h": "\n".join(_header(name, program)).encode(),
        f"{stem}.c": "\n".join(_source(name, program)).encode(),
    }


def _string(text: str) -> str:
    """Return a C string literal; bytes beyond printable ASCII are octal escapes."""
    characters = (
        chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}"
        for byte in text.encode()
    )
    return f'"{"".join(characters)}"'


def _header(name: str, program: Program) -> Iterator[str]:
    lower = symbol(name)
    prefix = lower.upper()
    yield f"/** Model {_comment(name)}, compiled for configuration {program.config.name}. */"
    yield f"#ifndef KIWICHA_MODEL_{prefix}_H"
    yield f"#define KIWICHA_MODEL_{prefix}_H"
    yield ""
    yield "#include <stdint.h>"
    yield ""
    yield "#ifdef __cplusplus"
    yield 'extern "C" {'
    yield "#endif"
    yield ""
    yield "/** What kiwicha_open() takes, 16-byte aligned. */"
    yield f"extern const uint8_t {lower}_program[];"
    yield ""
    yield "#ifdef __cplusplus"
    yield "}"
    yield "#endif"
    yield ""
    yield f"#define {prefix}_PROGRAM_BYTES {len(program.to_bytes())}u"
    yield (
        "/** Least size of the arena, which must be 16-byte aligned; at a multiple of "
        f"{CACHE_LINE_BYTES} the engine's lists cost less. */"
    )
    yield f"#define {prefix}_ARENA_BYTES {program.arena_bytes}u"
    yield (
        "/** From one place of inputs and outputs to the other, of inferences in turn; 0 if there "
        "is one. */"
    )
    yield f"#define {prefix}_SHIFT_BYTES {program.shift_bytes}u"
    yield (
        "/** What a call of the library takes of the stack, on RV32 and with -O1 or more; calls of "
        "your own functions come to it. */"
    )
    yield f"#define {prefix}_STACK_BYTES {stack_bytes(step.kernel for step in program.steps)}u"
    yield "/** Cycles that kiwicha_invoke() takes at most; README.md says on what conditions. */"
    yield f"#define {prefix}_WORST_CYCLES UINT64_C({worst_cycles(program)})"
    for what, tensors in (("INPUT", program.inputs), ("OUTPUT", program.outputs)):
        for number, tensor in enumerate(tensors):
            yield from _tensor(f"{prefix}_{what}_{number}", tensor)
    yield ""
    yield "#endif"
    yield ""


def _tensor(place: str, tensor: IoTensor) -> Iterator[str]:
    yield ""
    yield (
        f"/** {tensor.dtype.name.lower()} {shape_text(tensor.shape)}, at OFFSET of the arena; "
        "real value = SCALE * (value - ZERO_POINT). */"
    )
    yield f"#define {place}_NAME {_string(tensor.name)}"
    yield f"#define {place}_OFFSET {tensor.ref.offset}u"
    yield f"#define {place}_BYTES {tensor.ref.bytes}u"
    yield f"#define {place}_SCALE {float(tensor.scale):.9e}f"
    yield f"#define {place}_ZERO_POINT ({tensor.zero_point})"


def _comment(text: str) -> str:
    return text.replace("*/", "* /")


def _source(name: str, program: Program) -> Iterator[str]:
    yield f"/* Model {_comment(name)}. */"
    yield f'#include "{file_name(name)}.h"'
    yield ""
    yield '#include "../kernels/kernels.h"'
    yield ""
    yield from kernel_table([program])
    yield from c_array(f"{symbol(name)}_program", program.to_bytes())


def kernel_table(programs: Iterable[Program]) -> Iterator[str]:
    """Yield lines of C that name the kernels of Programs, so that they are linked."""
    yield "/* The kernels that it needs: linkers take them from an archive, and no others. */"
    functions = sorted({
        f"kiwicha_{what}"
        for kernel in {step.kernel for program in programs for step in program.steps}
        for what in (f"check_{KERNELS[kernel].c_check}", f"run_{KERNELS[kernel].c_name}")
    })
    yield "__attribute__((used)) static kiwicha_kernel_function *const kernels[] = {"
    # A model may have nothing to compute.
    yield from (f"    {function}," for function in functions or ["0"])
    yield "};"
    yield ""


def c_array(name: str, raw: bytes) -> Iterator[str]:
    """Yield lines of C that define bytes, 16-byte aligned."""
    yield f"_Alignas(16) const uint8_t {name}[{len(raw)}] = {{"
    if raw:
        yield _rows(raw)
    yield "};"
    yield ""


def _rows(raw: bytes) -> str:
    """Return lines of bytes, all at once: there are millions of them."""
    missing = -len(raw) % _BYTES_PER_LINE
    rows = np.frombuffer(raw + bytes(missing), np.uint8).reshape(-1, _BYTES_PER_LINE)
    width = _WORDS.itemsize
    lines = np.full((len(rows), _INDENT + width * _BYTES_PER_LINE), ord(" "), np.uint8)
    lines[:, _INDENT:] = _WORDS[rows].view(np.uint8)
    lines[:, -1] = ord("\n")
    text = lines.tobytes().decode("ascii")
    return text[: len(text) - width * missing - 1]

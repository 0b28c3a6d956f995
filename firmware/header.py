"""The C view of `kiwicha.contract`: enumerations, constants and structures of a configuration."""

import argparse
import enum
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kiwicha import custom
from kiwicha.contract import (
    cfu,
    configs,
    engine,
    flash,
    integers,
    moves,
    program,
    self_test,
    serial,
    signal,
)
from kiwicha.contract.cfu import STATUS_TEXT
from kiwicha.contract.configs import ALL_CONFIGS, Config
from kiwicha.contract.engine import ENGINE_ERROR_TEXT
from kiwicha.contract.layout import FieldType, Ref, Struct
from kiwicha.contract.program import Kernel
from kiwicha.kernels.kernel import Declaration
from kiwicha.kernels.registry import KERNEL_PARAMS, kernels_of

__all__ = ["HEADER_NAME", "header", "snake_case"]

HEADER_NAME = "kiwicha_isa.h"

_CONTRACT = (engine, moves, serial, cfu, configs, program, integers, self_test, flash, signal)
_NAMES = {name: value for module in _CONTRACT for name, value in vars(module).items()}

_C_TYPES = {
    "u8": "uint8_t",
    "u16": "uint16_t",
    "u32": "uint32_t",
    "i8": "int8_t",
    "i16": "int16_t",
    "i32": "int32_t",
    "f32": "float",
    "ref": "struct kiwicha_ref",
}


def snake_case(name: str) -> str:
    """Return the C spelling of a class name: ``ProgramHeader`` becomes ``program_header``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _number(value: int) -> str:
    # Addresses and hashes need all 32 bits: beyond 16 bits a constant is unsigned.
    return str(value) if -(1 << 15) <= value < 1 << 15 else f"0x{value:08x}u"


def _comment(text: str) -> str:
    line = " ".join(text.split())
    return f"/** {line.replace('*/', '* /')} */"


def _constants(config: Config) -> Iterator[str]:
    for name, value in _NAMES.items():
        if name.isupper() and type(value) is int:
            yield f"#define KIWICHA_{name} {_number(value)}"
    yield f"#define KIWICHA_REF_CONSTANT_BIT {_number(Ref.CONSTANT_BIT)}"
    yield ""
    yield _comment(f"Configuration {config.name}: {config.summary}")
    yield f"#define KIWICHA_CONFIG_HASH {_number(config.hash)}"
    yield f"#define KIWICHA_CONFIG_HAS_SIMD {int(config.has_simd)}"
    yield f"#define KIWICHA_CONFIG_ENGINE_MACS {config.engine_macs}"
    yield f"#define KIWICHA_CONFIG_SCRATCHPAD_BYTES {_number(config.scratchpad_bytes)}"
    yield f"#define KIWICHA_CONFIG_RESIDENT_WORDS {config.resident_words}"
    yield f"#define KIWICHA_CONFIG_IS_PREEMPTIBLE {int(config.is_preemptible)}"
    yield f"#define KIWICHA_CONFIG_HAS_SIGNAL {int(config.has_signal)}"


def _enums() -> Iterator[str]:
    for cls in _NAMES.values():
        if (
            isinstance(cls, type)
            and issubclass(cls, enum.IntEnum)
            and cls.__module__ in {module.__name__ for module in _CONTRACT}
        ):
            name = snake_case(cls.__name__)
            yield _comment((cls.__doc__ or cls.__name__).splitlines()[0])
            yield f"enum kiwicha_{name} {{"
            for member in cls:
                yield f"    KIWICHA_{name.upper()}_{member.name} = {member.value},"
            yield "};"
            yield ""


def _field(name: str, kind: FieldType) -> str:
    count = f"[{kind.count}]" if kind.count > 1 else ""
    return f"    {_C_TYPES[kind.base]} {name}{count}; {_comment(kind.doc)}"


def _struct(cls: type[Struct]) -> Iterator[str]:
    name = f"kiwicha_{snake_case(cls.__name__)}"
    rows = cls.layout()
    yield _comment((cls.__doc__ or cls.__name__).splitlines()[0])
    yield f"struct {name} {{"
    for field, kind, _ in rows:
        yield _field(field, kind)
    yield "};"
    yield f'KIWICHA_STATIC_ASSERT(sizeof(struct {name}) == {cls.size_bytes()}, "size of {name}");'
    for field, _, offset in rows:
        yield (
            f"KIWICHA_STATIC_ASSERT(offsetof(struct {name}, {field}) == {offset}, "
            f'"offset of {name}.{field}");'
        )
    yield ""


def _kernels(config: Config, linked: Sequence[Declaration]) -> Iterator[str]:
    for name, what, kernels in (
        ("KERNELS", "that this configuration can have", kernels_of(config)),
        ("LINKED_KERNELS", "of this firmware", linked),
    ):
        yield _comment(f"X(kernel, parameters, check, run) for every kernel {what}.")
        rows = [
            f"    X({x.kernel.name}, {snake_case(x.params.__name__)}, {x.c_check}, {x.c_name})"
            for x in kernels
        ]
        yield " \\\n".join([f"#define KIWICHA_{name}(X)", *rows])
        yield ""
    has_computed = any(item.kernel is Kernel.COMPUTED_LIST for item in linked)
    yield _comment("Whether this firmware starts lists that lie in the arena.")
    yield f"#define KIWICHA_HAS_COMPUTED_LISTS {int(has_computed)}"
    yield ""
    yield _comment("X(kernel, parameters, table) for every table of theirs.")
    rows = [
        f"    X({x.kernel.name}, {snake_case(x.params.__name__)}, {table})"
        for x in linked
        for table in x.tables
    ]
    yield " \\\n".join(["#define KIWICHA_TABLES(X)", *rows])
    yield ""


def _custom_operators() -> Iterator[str]:
    yield _comment("X(hash, kernel) for every custom operator.")
    rows = [f"    X({_number(item.hash)}, {item.function})" for item in custom.operators()]
    yield " \\\n".join(["#define KIWICHA_CUSTOM_OPERATORS(X)", *rows])
    yield ""


def _texts(name: str, what: str, texts: Mapping[Any, str]) -> Iterator[str]:
    yield _comment(f"X(name, text) for {what}.")
    rows = [f'    X({item.name}, "{text}")' for item, text in texts.items()]
    yield " \\\n".join([f"#define KIWICHA_{name}_TEXTS(X)", *rows])
    yield ""


def header(config: Config, linked: Sequence[Declaration] | None = None) -> str:
    """Return the text of ``kiwicha_isa.h``.

    Parameters
    ----------
    config : Config
        The configuration whose hash and features the header states.
    linked : sequence of Declaration or None
        Kernels in the runtime's table; by default all that the configuration can have.

    Returns
    -------
    str
        C11 and C++17; equal for equal `kiwicha.contract.cfu` and configuration.
    """
    lines = [
        "/* Generated from kiwicha/contract and kiwicha/kernels; changes belong there. */",
        "#ifndef KIWICHA_ISA_H",
        "#define KIWICHA_ISA_H",
        "",
        "#include <stddef.h>",
        "#include <stdint.h>",
        "",
        "#ifdef __cplusplus",
        "#define KIWICHA_STATIC_ASSERT static_assert",
        "#else",
        "#define KIWICHA_STATIC_ASSERT _Static_assert",
        "#endif",
        "",
        *_constants(config),
        "",
        *_kernels(config, kernels_of(config) if linked is None else linked),
        *_custom_operators(),
        *_texts("STATUS", "every status", STATUS_TEXT),
        *_texts("ENGINE_ERROR", "every reason of the engine", ENGINE_ERROR_TEXT),
        "",
        *_enums(),
        _comment(
            "Range of bytes: in the Program with KIWICHA_REF_CONSTANT_BIT, else in the arena."
        ),
        "struct kiwicha_ref {",
        "    uint32_t offset;",
        "    uint32_t bytes;",
        "};",
        'KIWICHA_STATIC_ASSERT(sizeof(struct kiwicha_ref) == 8, "size of kiwicha_ref");',
        "",
    ]
    parameters = dict.fromkeys(KERNEL_PARAMS.values())
    for cls in (
        *(*program.STRUCTS, *parameters, serial.SerialHello),
        *(
            serial.SerialInstruction,
            self_test.SelfTest,
            self_test.SelfTestInterrupts,
            flash.FlashHeader,
            flash.FlashRecord,
        ),
    ):
        lines.extend(_struct(cls))
    lines.append("#endif")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Print the header of the configuration named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    known = ALL_CONFIGS
    parser.add_argument("config", choices=sorted(known))
    sys.stdout.write(header(known[parser.parse_args().config]))


if __name__ == "__main__":
    main()

"""The generated C header: it compiles, and says what the Python definitions say."""

import enum
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from kiwicha.contract import cfu, program
from kiwicha.contract.configs import CONFIGS, Config
from kiwicha.contract.layout import Ref
from kiwicha.firmware.header import HEADER_NAME, header, snake_case
from kiwicha.kernels.registry import KERNEL_PARAMS
from tests.support import requirements

FLAGS = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wundef", "-Werror"]


def compile_and_run(source: str, text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        requirements.unavailable("needs a C compiler: apt install gcc")
    (folder / HEADER_NAME).write_text(text, encoding="utf-8")
    (folder / "test.c").write_text(source, encoding="utf-8")
    done = subprocess.run(
        [compiler, *FLAGS, "test.c", "-o", "test"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        return done
    return subprocess.run([folder / "test"], capture_output=True, text=True, check=False)


def python_values(config: Config) -> dict[str, int]:
    """Give every number that C must see, by its C name."""
    values = {
        f"KIWICHA_{name}": value
        for name, value in vars(cfu).items()
        if name.isupper() and type(value) is int
    }
    values["KIWICHA_REF_CONSTANT_BIT"] = Ref.CONSTANT_BIT
    values["KIWICHA_CONFIG_HASH"] = config.hash
    values["KIWICHA_CONFIG_HAS_SIMD"] = config.has_simd
    for cls in (
        cfu.Group,
        cfu.ConfigOp,
        cfu.AccumulatorOp,
        cfu.RequantizeOp,
        cfu.DataOp,
        cfu.Status,
        program.DType,
        program.Where,
        program.Kernel,
    ):
        assert issubclass(cls, enum.IntEnum)
        prefix = f"KIWICHA_{snake_case(cls.__name__).upper()}"
        values |= {f"{prefix}_{member.name}": member.value for member in cls}
    for struct in (*program.STRUCTS, *KERNEL_PARAMS.values()):
        values[f"sizeof(struct kiwicha_{snake_case(struct.__name__)})"] = struct.size_bytes()
    return values


@pytest.mark.parametrize("config", CONFIGS.values(), ids=lambda config: config.name)
def test_c_sees_the_values_of_python(config: Config, tmp_path: Path) -> None:
    values = python_values(config)
    assert len(values) > 80
    lines = [f'    printf("%llu\\n", (unsigned long long)({name}));' for name in values]
    source = "\n".join([
        *("#include <stdio.h>", f'#include "{HEADER_NAME}"', "int main(void) {"),
        *(*lines, "    return 0;", "}", ""),
    ])
    done = compile_and_run(source, header(config), tmp_path)
    assert done.returncode == 0, done.stderr
    assert dict(zip(values, map(int, done.stdout.split()), strict=True)) == values


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (r"(uint32_t) magic;", r"uint64_t magic;"),
        (r"uint16_t kernel;(.*)\n    uint16_t layer;", r"uint16_t layer;\1\n    uint16_t kernel;"),
    ],
    ids=["size", "offset"],
)
def test_a_wrong_layout_does_not_compile(old: str, new: str, tmp_path: Path) -> None:
    text, count = re.subn(old, new, header(CONFIGS["simd"]), count=1)
    assert count == 1
    source = f'#include "{HEADER_NAME}"\nint main(void) {{ return 0; }}\n'
    done = compile_and_run(source, text, tmp_path)
    assert done.returncode != 0
    assert "static assertion failed" in done.stderr


@pytest.mark.parametrize(
    ("name", "expected"),
    [("ProgramHeader", "program_header"), ("DType", "dtype"), ("Conv", "conv")],
)
def test_snake_case(name: str, expected: str) -> None:
    assert snake_case(name) == expected


def test_configurations_differ() -> None:
    texts = {header(config) for config in CONFIGS.values()}
    assert len(texts) == len(CONFIGS)

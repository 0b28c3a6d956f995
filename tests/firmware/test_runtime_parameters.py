"""Steps whose parameters contradict themselves or their tensors are refused."""

import dataclasses
import itertools
import struct
from collections.abc import Callable

import pytest

from kiwicha.contract.cfu import Status
from kiwicha.contract.configs import CONFIGS
from kiwicha.contract.program import Kernel
from kiwicha.firmware import native
from kiwicha.kernels.softmax import Softmax
from kiwicha.program.image import Program
from tests.support.choices import by_day
from tests.support.programs.broken_parameters import broken_programs

RunRaw = Callable[..., native.NativeResult]

_PARTS = 8
"""Of all bad parameters; by day the first is tried."""


def with_word(raw: bytes, offset: int, value: int) -> bytes:
    """Replace a word."""
    return raw[:offset] + struct.pack("<I", value & 0xFFFF_FFFF) + raw[offset + 4 :]


@pytest.mark.parametrize("part", by_day(*range(_PARTS)))
def test_bad_parameters_are_refused(part: int) -> None:
    """Each alone in an otherwise good Program, and what ends one byte outside of its memory."""
    executable = native.build_native(CONFIGS["simd"], sanitize=False)
    wrong = []
    for item in itertools.islice(broken_programs(), part, None, _PARTS):
        outputs = len(item.program.outputs)
        status = native.run_native(executable, item.program.to_bytes(), outputs=outputs).status
        if status not in {item.status, item.other}:
            wrong.append((item.name, status.name))
    assert not wrong


@pytest.mark.parametrize(("table", "value"), [("multiplier", -1), ("shift", 31), ("shift", -32)])
@pytest.mark.parametrize("kernel", [Kernel.CONV, Kernel.SIMD_DEPTHWISE_CONV])
def test_bad_scale(
    program: Program, run_raw: RunRaw, kernel: Kernel, table: str, value: int
) -> None:
    step = next(step for step in program.steps if step.kernel is kernel)
    offset = getattr(step.params, table).offset + 8
    constants = with_word(program.constants, offset, value)
    changed = dataclasses.replace(program, constants=constants, steps=(step,))
    assert run_raw(changed.to_bytes()).status is Status.BAD_PARAMETERS


@pytest.mark.parametrize(("entry", "value"), [(0, 2**31 - 2), (7, -1)])
def test_bad_exponential(program: Program, run_raw: RunRaw, entry: int, value: int) -> None:
    step = next(step for step in program.steps if step.kernel is Kernel.SOFTMAX)
    assert isinstance(step.params, Softmax)
    offset = step.params.exponentials.offset + 4 * entry
    constants = with_word(program.constants, offset, value)
    changed = dataclasses.replace(program, constants=constants, steps=(step,))
    assert run_raw(changed.to_bytes()).status is Status.BAD_PARAMETERS

"""The portable kernels as a library of this machine."""

from typing import Any

import numpy as np
import pytest

from kiwicha.contract.program import Kernel
from kiwicha.errors import ToolError
from kiwicha.firmware import native_library
from kiwicha.firmware.native_library import NativeModel, build_native_library
from tests.support.programs.steps import ProgramBuilder, whole_copy


def copying(config: str) -> ProgramBuilder:
    builder = ProgramBuilder(config)
    source = builder.input(np.arange(20, dtype=np.int8))
    builder.step(Kernel.COPY, whole_copy(source, builder.output((20,))))
    return builder


def test_programs_run_and_keep_apart() -> None:
    model = NativeModel(copying("baseline").program())
    other = model.twin()
    values = [np.full(20, k, np.int8) for k in (3, 5)]
    (first,), (second,) = model.run(values[:1]), other.run(values[1:])
    assert first.tobytes() == bytes([3]) * 20
    assert second.tobytes() == bytes([5]) * 20
    model.run(values[1:])
    assert first.tobytes() == bytes([3]) * 20


def test_a_program_of_another_configuration_is_refused() -> None:
    text = r"^native kernels must open the Program: .* another configuration; .*BAD_CONFIG\)$"
    with pytest.raises(ToolError, match=text):
        NativeModel(copying("simd").program())


def test_the_library_is_built_once(monkeypatch: pytest.MonkeyPatch) -> None:
    built = build_native_library()

    def refuse(*_: Any, **__: Any) -> str:
        raise AssertionError("must not compile")

    monkeypatch.setattr("kiwicha.tools.run", refuse)
    assert build_native_library() == built
    monkeypatch.setattr(native_library, "_FLAGS", (*native_library._FLAGS, "-g"))
    with pytest.raises(AssertionError, match="must not compile"):
        build_native_library()

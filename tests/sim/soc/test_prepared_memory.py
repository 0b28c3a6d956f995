"""What a simulation finds in memory when it starts at the first inference."""

import dataclasses
from collections.abc import Callable

import pytest

from kiwicha.compiler import compile_model
from kiwicha.contract.program import BootBlock
from kiwicha.errors import ProgramError
from kiwicha.program.image import Program
from kiwicha.sim.soc.prepared_memory import prepared
from kiwicha.sim.soc.run_memory import RunMemory, run_memory
from kiwicha.sim.soc.stream_memory import stream_memory
from tests.support.models.tflite_builder import ModelBuilder

SIZES = 5, 40


def two_inputs() -> bytes:
    """Give an addition of 40 values to each of 5 rows, both of them inputs."""
    builder = ModelBuilder()
    rows, values, total = (
        builder.tensor(shape, scale=0.5, zero_point=0) for shape in ((5, 1), (1, 40), (5, 40))
    )
    builder.operator("ADD", [rows, values], [total])
    return builder.build([rows, values], [total])


def sets(program: Program, count: int) -> list[list[bytes]]:
    assert tuple(tensor.ref.bytes for tensor in program.inputs) == SIZES
    return [[bytes([16 * k + 1]) * SIZES[0], bytes([k]) * SIZES[1]] for k in range(1, count + 1)]


def of_run() -> tuple[Program, RunMemory]:
    program = compile_model(two_inputs(), "simd")
    return program, run_memory(program, sets(program, 1)[0], inferences=2)


def of_stream() -> tuple[Program, RunMemory]:
    program = compile_model(two_inputs(), "64", double_buffer=True)
    return program, stream_memory(program, sets(program, 3), inferences=3)


@pytest.mark.parametrize("made", [of_run, of_stream])
def test_the_first_inputs_lie_in_the_arena(made: Callable[[], tuple[Program, RunMemory]]) -> None:
    program, memory = made()
    found = prepared(memory)
    (address, raw), *others = found.loads
    boot = BootBlock.unpack(raw)
    assert (address, boot.prepared) == (memory.loads[0][0], 1)
    assert dataclasses.replace(boot, prepared=0).pack() == memory.loads[0][1]
    assert others[:2] == list(memory.loads[1:])
    assert others[2:] == [
        (boot.arena_address + tensor.ref.offset, value)
        for tensor, value in zip(program.inputs, sets(program, 1)[0], strict=True)
    ]
    assert (found.dumps, found.free_address) == (memory.dumps, memory.free_address)


def test_memory_of_any_system_is_not_prepared() -> None:
    _, memory = of_run()
    assert BootBlock.unpack(memory.loads[0][1]).prepared == 0


def test_a_damaged_program_is_refused() -> None:
    _, memory = of_run()
    boot, (address, raw), inputs = memory.loads
    damaged = raw[:-1] + bytes([raw[-1] ^ 1])
    with pytest.raises(ProgramError, match=r"^the Program's bytes have changed since "):
        prepared(dataclasses.replace(memory, loads=(boot, (address, damaged), inputs)))

"""What the bring-up design answers, byte by byte.

At night: by day `tests.boards.bringup.test_bring_up` sends every instruction through all of it.
"""

import random
import struct
from pathlib import Path

import pytest

from kiwicha.boards.link.frames import encode_frame
from kiwicha.contract.configs import CONFIGS, ENGINE_CONFIGS
from kiwicha.contract.serial import (
    SERIAL_BAUD,
    SERIAL_INSTRUCTIONS,
    SerialInstruction,
    SerialOp,
    SerialStatus,
)
from kiwicha.gateware.bringup.bridge import Bridge
from kiwicha.gateware.bringup.bring_up import bring_up_hello, check_parameters
from tests.support.gateware import bench

HELLO = bring_up_hello(CONFIGS["simd"], 50_000_000)
Exchange = tuple[list[int | None], list[int]]


class Host:
    """Requests, and what must be answered."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.exchanges: list[Exchange] = []
        self.executed = self.bursts = self.resets = 0

    def ask(
        self, number: int, op: int, fields: bytes = b"", *, status: int = 0, data: bytes = b""
    ) -> None:
        """Send a request that has an answer."""
        answer = encode_frame(bytes([number, status]) + data)
        self.exchanges.append((list(encode_frame(bytes([number, op]) + fields)), list(answer)))

    def hear_nothing(self, line: list[int | None]) -> None:
        """Send bytes that have no answer."""
        self.exchanges.append((line, []))

    def execute(self, number: int, count: int) -> None:
        """Execute instructions that were not executed under this number."""
        fields, data = self._burst(count)
        self.ask(number, SerialOp.EXECUTE, fields, data=data)
        self.executed += count
        self.bursts += 1

    def repeat(self) -> None:
        """Send the last request once more: the same answer comes, and nothing is executed."""
        self.exchanges.append(self.exchanges[-1])

    def _burst(self, count: int) -> tuple[bytes, bytes]:
        triples = [
            (self.chance.getrandbits(10) % 1023, *(self.chance.getrandbits(32) for _ in range(2)))
            for _ in range(count)
        ]
        fields = b"".join(SerialInstruction(*triple).pack() for triple in triples)
        return fields, struct.pack(f"<{count}I", *(sum(t) & 0xFFFF_FFFF for t in triples))

    def reset(self, number: int) -> None:
        """Reset the custom function unit."""
        self.ask(number, SerialOp.RESET)
        self.resets += 1


def run(host: Host, folder: Path, *, stall: float = 0, lamps: int = 0) -> None:
    simulator = bench.build(bench.component_verilog(Bridge(hello=HELLO), "bridge"), "bridge")
    values = {
        "exchanges": host.exchanges,
        "executed": host.executed,
        "bursts": host.bursts,
        "resets": host.resets,
        "stall": stall,
        "lamps": lamps,
        "seed": 1,
    }
    bench.run(simulator, "bridge", "tests.gateware.bringup.bench_frames.bridge", values, folder)


@pytest.mark.nightly
@pytest.mark.verilator
@pytest.mark.parametrize("stall", [0, 0.4])
def test_operations(tmp_path: Path, stall: float) -> None:
    host = Host(1)
    host.ask(7, SerialOp.HELLO, data=HELLO.pack())
    for number, count in enumerate((1, 2, 17, SERIAL_INSTRUCTIONS)):
        host.execute(number, count)
        host.repeat()
    host.reset(9)
    # After a reset, and after any other operation, a number is no repetition.
    host.execute(3, 5)
    host.ask(8, SerialOp.SHOW, struct.pack("<I", 2))
    host.execute(3, 4)
    run(host, tmp_path, stall=stall, lamps=2)


@pytest.mark.nightly
@pytest.mark.verilator
def test_what_is_no_operation_is_refused(tmp_path: Path) -> None:
    host = Host(2)
    instruction = SerialInstruction(1, 2, 3).pack()
    refused = [
        (SerialOp.READ, bytes(8)),
        (0, b""),
        (255, instruction),
        (SerialOp.HELLO, bytes(1)),
        (SerialOp.RESET, bytes(4)),
        (SerialOp.SHOW, bytes(3)),
        (SerialOp.SHOW, bytes(8)),
        (SerialOp.EXECUTE, b""),
        (SerialOp.EXECUTE, instruction[:-1]),
        (SerialOp.EXECUTE, instruction + bytes(4)),
        (SerialOp.EXECUTE, instruction * (SERIAL_INSTRUCTIONS + 1)),
        (SerialOp.EXECUTE, instruction * (2 * SERIAL_INSTRUCTIONS)),
    ]
    for number, (op, fields) in enumerate(refused):
        host.ask(number, op, fields, status=SerialStatus.BAD_OP)
    host.execute(100, 3)
    run(host, tmp_path)


@pytest.mark.nightly
@pytest.mark.verilator
def test_damaged_requests_are_not_answered_and_leave_nothing_behind(tmp_path: Path) -> None:
    host = Host(3)
    fields = SerialInstruction(1, 2, 3).pack() * 3
    frame = list(encode_frame(bytes([1, SerialOp.EXECUTE]) + fields))
    host.hear_nothing([*frame[:20], frame[20] ^ 0x40, *frame[21:]])
    host.hear_nothing([*frame[:20], None, *frame[20:]])
    host.hear_nothing([*frame[:20], 0])
    host.hear_nothing(list(encode_frame(b"\x01")))
    # Noise runs into a request; the zero that a repetition starts with divides them.
    host.hear_nothing([1, 2, 3, 255, 17, *frame])
    host.hear_nothing([1, 2, 3, 255, 17])
    host.execute(5, 3)
    host.exchanges[-1] = ([0, *host.exchanges[-1][0]], host.exchanges[-1][1])
    run(host, tmp_path)


@pytest.mark.nightly
@pytest.mark.verilator
def test_a_request_that_comes_too_early_is_dropped(tmp_path: Path) -> None:
    host = Host(4)
    host.execute(1, 2)
    sent, answered = host.exchanges.pop()
    early = list(encode_frame(bytes([2, SerialOp.HELLO])))
    host.exchanges.append(([*sent, *early], answered))
    host.execute(3, 4)
    run(host, tmp_path)


@pytest.mark.nightly
@pytest.mark.verilator
def test_an_instruction_without_response_is_reported_until_a_reset(tmp_path: Path) -> None:
    host = Host(5)
    silent = SerialInstruction(1023, 0, 0).pack()
    host.execute(1, 2)
    host.ask(2, SerialOp.EXECUTE, silent, status=SerialStatus.NO_RESPONSE)
    host.executed, host.bursts = host.executed + 1, host.bursts + 1
    host.repeat()
    host.ask(
        3, SerialOp.EXECUTE, SerialInstruction(1, 2, 3).pack(), status=SerialStatus.NO_RESPONSE
    )
    host.reset(4)
    host.execute(5, 4)
    run(host, tmp_path)


def test_an_engine_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^config must be one without an engine, not 64$"):
        check_parameters(ENGINE_CONFIGS["64"], 50_000_000, SERIAL_BAUD)

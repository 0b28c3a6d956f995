"""Receiver and transmitter of the serial line, in cocotb on Verilator.

At night: by day `tests.boards.bringup.test_bring_up` uses them with clocks that are off.
"""

import random
import re
from pathlib import Path

import pytest

from kiwicha.gateware.bringup.bit_time import BAUD_TOLERANCE, MIN_CYCLES_PER_BIT, bit_cycles
from kiwicha.gateware.bringup.uart_receiver import UartReceiver
from kiwicha.gateware.bringup.uart_transmitter import UartTransmitter
from tests.support.gateware import bench

BENCHES = "tests.gateware.bringup.bench_uart"
BAUD = 1_000_000
LENGTHS = (MIN_CYCLES_PER_BIT, 25)


@pytest.fixture(scope="module")
def receivers() -> dict[int, Path]:
    return {
        cycles: bench.build(
            bench.component_verilog(UartReceiver(clock_hz=cycles * BAUD, baud=BAUD), "receiver"),
            "receiver",
        )
        for cycles in LENGTHS
    }


def some_bytes(seed: int, count: int) -> list[int]:
    """Give the extremes and random bytes."""
    return [0, 0xFF, 0x55, 0xAA, 0x80, 1, *random.Random(seed).randbytes(count)]


def receive(simulator: Path, folder: Path, cycles: int, **changes: object) -> None:
    values = {
        "cycles_per_bit": cycles,
        "bit_length": 1,
        "bytes": some_bytes(1, 60),
        "without_stop": [],
        "gaps": 0.3,
        "spikes": False,
        "seed": 1,
        "is_exact": True,
    }
    bench.run(simulator, "receiver", f"{BENCHES}.receive", values | changes, folder)


@pytest.mark.nightly
@pytest.mark.verilator
@pytest.mark.parametrize("cycles", LENGTHS)
@pytest.mark.parametrize("off", [-BAUD_TOLERANCE, 0, BAUD_TOLERANCE])
def test_senders_may_be_off_by_the_tolerance(
    receivers: dict[int, Path], tmp_path: Path, cycles: int, off: float
) -> None:
    receive(receivers[cycles], tmp_path, cycles, bit_length=1 + off, gaps=0.2)


@pytest.mark.nightly
@pytest.mark.verilator
@pytest.mark.parametrize("off", [-0.08, 0.08])
def test_a_wrong_speed_does_not_pass(
    receivers: dict[int, Path], tmp_path: Path, off: float
) -> None:
    receive(receivers[25], tmp_path, 25, bit_length=1 + off, is_exact=False)


@pytest.mark.nightly
@pytest.mark.verilator
@pytest.mark.parametrize("seed", range(2))
def test_spikes_do_no_harm(receivers: dict[int, Path], tmp_path: Path, seed: int) -> None:
    receive(receivers[25], tmp_path, 25, spikes=True, seed=seed, gaps=0)


@pytest.mark.nightly
@pytest.mark.verilator
@pytest.mark.parametrize("seed", range(2))
def test_a_byte_without_stop_bit_is_an_error(
    receivers: dict[int, Path], tmp_path: Path, seed: int
) -> None:
    receive(receivers[16], tmp_path, 16, without_stop=[0, 1, 5, 20, 65], seed=seed)


@pytest.mark.nightly
@pytest.mark.verilator
@pytest.mark.parametrize(("cycles", "stall"), [(25, 0), (25, 0.99), (MIN_CYCLES_PER_BIT, 0)])
def test_transmitter(tmp_path: Path, cycles: int, stall: float) -> None:
    component = UartTransmitter(clock_hz=cycles * BAUD, baud=BAUD)
    simulator = bench.build(bench.component_verilog(component, "transmitter"), "transmitter")
    values = {"cycles_per_bit": cycles, "bytes": some_bytes(2, 20), "stall": stall, "seed": 1}
    bench.run(simulator, "transmitter", f"{BENCHES}.transmit", values, tmp_path)


@pytest.mark.parametrize(
    ("clock_hz", "baud", "text"),
    [
        (
            15_000_000,
            BAUD,
            "clock must have 16 cycles or more per bit, not 15000000 Hz at 1000000 bits per second",
        ),
        (
            100_000_000,
            0,
            "clock must have 16 cycles or more per bit, not 100000000 Hz at 0 bits per second",
        ),
        (
            18_500_000,
            BAUD,
            "bit must be within 1 % of a whole number of cycles, not 18.5 cycles",
        ),
    ],
)
def test_speeds_that_do_not_fit_are_refused(clock_hz: int, baud: int, text: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        bit_cycles(clock_hz, baud)


def test_bits_are_rounded_to_cycles() -> None:
    assert bit_cycles(100_000_000, 115_200) == 868

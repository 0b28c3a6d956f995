"""What lies on an SD card: that the loader reads it, and what it says of cards that fail."""

import json
import random
import re
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kiwicha.boards.flash_image import SDCARD_PLACE, application_image, flash_image
from kiwicha.boards.link.port import open_port
from kiwicha.boards.link.serial_link import Link
from kiwicha.boards.selftest.power_up import power_up
from kiwicha.contract import cfu
from kiwicha.contract.cfu import Status
from kiwicha.contract.configs import CONFIGS, ENGINE_CONFIGS
from kiwicha.contract.flash import FlashHeader, FlashRecord
from kiwicha.contract.peripherals import Peripheral
from kiwicha.contract.sdcard import SDCARD_IMAGE_BYTES
from kiwicha.contract.serial import NO_STATUS, SERIAL_BAUD
from kiwicha.errors import CapacityError
from kiwicha.firmware.boot_image import build_boot_image
from kiwicha.sim.soc.sdcard_settings import CardFault, CardKind
from kiwicha.sim.verilator.simulator import Simulator, build_simulator
from tests.support.boards.simulated_board import (
    USABLE_BYTES,
    SimulatedBoard,
    SimulatedCard,
    board_header,
    impatient,
    running_board,
)

SIMD = CONFIGS["simd"]
# The second begins and ends within a block.
PIECES = {0x4010_0004: bytes(range(256)) * 5, 0x4020_0000: b"piece", 0x4030_0000: bytes([7]) * 700}
IMAGE = flash_image(SIMD, list(PIECES.items()), place=SDCARD_PLACE)
LOADER = cfu.DRAM_BASE + USABLE_BYTES
BAD_BLOCK = 2
"""One in the middle of the first piece."""
READY = b"sL5DdSMmkekro\n"
"""What the loader says before it looks at the card."""


def test_an_image_has_whole_blocks() -> None:
    raw = application_image(SIMD, b"abc", place=SDCARD_PLACE)
    assert len(raw) == 512
    assert raw.rstrip(b"\0") == application_image(SIMD, b"abc").rstrip(b"\0")
    most = SDCARD_IMAGE_BYTES - FlashHeader.size_bytes() - FlashRecord.size_bytes()
    with pytest.raises(CapacityError, match=r"^what an SD card holds must have at most \d+ bytes"):
        application_image(SIMD, bytes(most + 1), place=SDCARD_PLACE)


@pytest.fixture(scope="module")
def simulator() -> Simulator:
    return build_simulator(SIMD, peripherals=[Peripheral.SDCARD])


def store(soc_header: str, register: str, value: int) -> list[int]:
    """Give instructions that write 11 bits to a register."""
    found = re.search(rf"KIWICHA_CSR_{register} (0x\w+)u", soc_header)
    assert found is not None
    # The lower half is a signed offset.
    address = int(found[1], 16)
    upper, lower = (address + 0x800) & 0xFFFF_F000, address & 0xFFF
    # lui t1, upper; li t2, value; sw t2, lower(t1)
    return [
        *(upper | 0x337, value << 20 | 0x393),
        (lower >> 5) << 25 | (lower & 0x1F) << 7 | 0x0073_2023,
    ]


def application(simulator: Simulator) -> bytes:
    """Give a program that sends ``!`` and goes back to the loader."""
    assert LOADER % 4096 == 0
    # lui t0, LOADER; li a0, OK; jr t0
    back = LOADER | 0x2B7, Status.OK << 20 | 0x513, 0x0002_8067
    return as_bytes([*store(simulator.soc_header, "UART_RXTX", ord("!")), *back])


def as_bytes(instructions: list[int]) -> bytes:
    return b"".join(word.to_bytes(4, "little") for word in instructions)


@contextmanager
def board_with(
    simulator: Simulator, folder: Path, card: SimulatedCard
) -> Iterator[tuple[SimulatedBoard, Link, bytearray]]:
    heard = bytearray()

    def hear(piece: bytes) -> bytes:
        heard.extend(piece)
        return piece

    with running_board(simulator, folder, sdcard=card, spoil=hear) as board:
        # A simulated board takes its time.
        yield board, Link(open_port(board.port, SERIAL_BAUD), tries=20, seconds_per_try=5), heard


def wait_for(heard: bytearray, text: bytes) -> None:
    end = time.monotonic() + 120
    while text not in heard and time.monotonic() < end:
        time.sleep(0.05)
    assert text in heard


def check_memory(link: Link) -> None:
    said = link.hello()
    assert (said.runs, said.last_status) == (0, NO_STATUS)
    for address, raw in PIECES.items():
        assert link.checksum(address, len(raw)) == zlib.crc32(raw)


@pytest.mark.nightly
@pytest.mark.verilator
@pytest.mark.parametrize(
    ("kind", "fault"),
    [
        (CardKind.HIGH, CardFault.NONE),
        (CardKind.STANDARD, CardFault.NONE),
        (CardKind.STANDARD_1, CardFault.NONE),
        (CardKind.HIGH, CardFault.CRC_ONCE),
        (CardKind.HIGH, CardFault.HALF_READ),
    ],
)
def test_pieces_are_there_at_power_up(
    simulator: Simulator, kind: CardKind, fault: CardFault, tmp_path: Path
) -> None:
    card = SimulatedCard(IMAGE, kind, fault, BAD_BLOCK)
    with board_with(simulator, tmp_path, card) as (_, link, heard):
        check_memory(link)
        assert b"SD card" not in heard


@pytest.mark.verilator
@pytest.mark.nightly
def test_an_application_starts_at_power_up(simulator: Simulator, tmp_path: Path) -> None:
    card = SimulatedCard(application_image(SIMD, application(simulator), place=SDCARD_PLACE))
    with board_with(simulator, tmp_path, card) as (_, link, heard):
        # A request now would have the loader stay.
        wait_for(heard, b"!")
        said = link.hello()
        assert (said.runs, said.last_status) == (1, Status.OK)


@pytest.mark.verilator
@pytest.mark.nightly
def test_a_reset_in_the_middle_begins_anew(simulator: Simulator, tmp_path: Path) -> None:
    with board_with(simulator, tmp_path, SimulatedCard(IMAGE)) as (board, link, heard):
        wait_for(heard, READY)
        board.reset()
        check_memory(link)
        assert heard.count(READY) == 2
        assert b"SD card" not in heard


@pytest.mark.nightly
@pytest.mark.verilator
@pytest.mark.parametrize(
    ("card", "text"),
    [
        (SimulatedCard(IMAGE, fault=CardFault.CRC, block=BAD_BLOCK), "the CRC of a block is wrong"),
        *(
            pytest.param(card, text, marks=pytest.mark.nightly)
            for card, text in (
                (SimulatedCard(IMAGE, CardKind.NONE), "no card answers"),
                (SimulatedCard(IMAGE, CardKind.OTHER), "the card is no SD memory card"),
                (
                    SimulatedCard(IMAGE, fault=CardFault.VOLTAGE),
                    "the card does not work at 3.3 V",
                ),
                (
                    SimulatedCard(IMAGE, fault=CardFault.NEVER_READY),
                    "the card does not become ready",
                ),
                (
                    SimulatedCard(IMAGE, fault=CardFault.SILENT, block=BAD_BLOCK),
                    "the card takes too long to read a block",
                ),
                (
                    SimulatedCard(IMAGE, fault=CardFault.ERROR, block=BAD_BLOCK),
                    "the card cannot read a block",
                ),
                (SimulatedCard(b""), "no image on it"),
                (SimulatedCard(IMAGE[:1000]), "its bytes have changed"),
                (SimulatedCard(IMAGE[:40]), "its table has changed"),
                (
                    SimulatedCard(
                        application_image(ENGINE_CONFIGS["64"], b"program", place=SDCARD_PLACE)
                    ),
                    "for another configuration",
                ),
                # The loader itself lies there.
                (
                    SimulatedCard(flash_image(SIMD, [(LOADER - 4, bytes(8))])),
                    "a piece lies outside the memory",
                ),
            )
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_card_that_fails_is_named(
    simulator: Simulator, card: SimulatedCard, text: str, tmp_path: Path
) -> None:
    with board_with(simulator, tmp_path, card) as (_, link, heard):
        said = link.hello()
        assert (said.runs, said.last_status) == (0, NO_STATUS)
        assert f"kiwicha: SD card: {text}\n".encode() in heard


@pytest.mark.verilator
@pytest.mark.nightly
def test_speed(simulator: Simulator, tmp_path: Path) -> None:
    header = impatient(board_header(simulator))
    image = build_boot_image(SIMD, header, loader_address=LOADER, power_up=power_up(SIMD))
    (tmp_path / "image").write_bytes(image.raw)
    # What starts ends the simulation.
    end = as_bytes(store(simulator.soc_header, "SIMULATION_CODE", 0))

    def cycles(count: int) -> int:
        loads = [(cfu.IMAGE_ADDRESS, end), (0x4100_0000, random.Random(1).randbytes(count))]
        raw = flash_image(SIMD, loads, start=cfu.IMAGE_ADDRESS, place=SDCARD_PLACE)
        SimulatedCard(raw).write(tmp_path)
        command = [str(simulator.binary), "--max-cycles", "100000000"]
        command += ["--load", f"{cfu.ONCHIP_BASE:#x}:{tmp_path / 'image'}"]
        done = subprocess.run(command, capture_output=True, check=True, cwd=tmp_path)
        last = json.loads(done.stderr.splitlines()[-1])
        assert last["finished"]
        return int(last["cycles"])

    few, many = 10 * 512, 74 * 512
    per_byte = (cycles(many) - cycles(few)) / (many - few)
    rate = cfu.CLOCK_HZ / per_byte / 1e6
    sys.stdout.write(
        f"{per_byte:.1f} cycles for a byte: {rate:.2f} MB/s at {cfu.CLOCK_HZ / 1e6:.0f} MHz\n"
    )
    # The line takes 64 of them.
    assert 64 < per_byte < 200

"""What lies behind the bitstream: its form, and that the loader copies and starts it."""

import random
import time
import zlib
from pathlib import Path

import pytest

from kiwicha.boards.flash_image import application_image, flash_image, program_image
from kiwicha.boards.link.port import open_port
from kiwicha.boards.link.serial_link import Link
from kiwicha.boards.link.session import run_on_board
from kiwicha.compiler import compile_stages
from kiwicha.contract import cfu
from kiwicha.contract.cfu import Status
from kiwicha.contract.configs import CONFIGS
from kiwicha.contract.flash import (
    FLASH_BYTES,
    FLASH_IMAGE_OFFSET,
    FLASH_MAGIC,
    FLASH_NO_START,
    FlashHeader,
    FlashRecord,
)
from kiwicha.contract.peripherals import Peripheral
from kiwicha.contract.serial import NO_STATUS, SERIAL_BAUD
from kiwicha.errors import CapacityError
from kiwicha.firmware.build import build_firmware
from kiwicha.library import library, pack, sdk
from kiwicha.sim.soc.system_on_chip import HAS_LOADER
from kiwicha.sim.verilator.simulator import Simulator, build_simulator, system_headers
from tests.support import library_builds
from tests.support.boards.simulated_board import USABLE_BYTES, board_header, simulated_board
from tests.support.choices import at_night
from tests.support.models import random_networks
from tests.support.programs.copies import copy_program

SIMD = CONFIGS["simd"]


def records_of(raw: bytes) -> tuple[FlashHeader, list[FlashRecord]]:
    size = FlashHeader.size_bytes()
    header = FlashHeader.unpack(raw[:size])
    each = FlashRecord.size_bytes()
    return header, [
        FlashRecord.unpack(raw[at : at + each])
        for at in range(size, size + header.records * each, each)
    ]


def test_an_image_holds_its_pieces() -> None:
    pieces = [(0x4000_1000, b"abcde"), (0x4000_2000, b""), (0x4001_0000, bytes(range(64)))]
    raw = flash_image(SIMD, pieces)
    header, records = records_of(raw)
    assert (header.magic, header.config_hash) == (FLASH_MAGIC, SIMD.hash)
    assert header.start_address == FLASH_NO_START
    found = [(item.address, raw[item.offset : item.offset + item.bytes]) for item in records]
    assert found == [piece for piece in pieces if piece[1]]
    assert [item.crc for item in records] == [zlib.crc32(piece) for _, piece in found]
    assert all(item.offset % 4 == 0 for item in records)
    assert len(raw) % 4 == 0


def test_what_is_too_large_is_refused() -> None:
    most = FLASH_BYTES - FLASH_IMAGE_OFFSET - FlashHeader.size_bytes() - FlashRecord.size_bytes()
    assert len(application_image(SIMD, bytes(most))) == FLASH_BYTES - FLASH_IMAGE_OFFSET
    with pytest.raises(CapacityError, match=r"^what flash memory behind the bitstream holds must"):
        application_image(SIMD, bytes(most + 1))
    with pytest.raises(CapacityError, match=r"^pieces of memory must be 1 to 16, not 0"):
        flash_image(SIMD, [(0, b"")])


@pytest.fixture(scope="module")
def simulator() -> Simulator:
    return build_simulator(SIMD, peripherals=[Peripheral.FLASH])


def link_to(port: str) -> Link:
    # A simulated board takes its time.
    return Link(open_port(port, SERIAL_BAUD), tries=20, seconds_per_try=5)


@pytest.mark.verilator
@pytest.mark.nightly
def test_firmware_and_program_are_there_at_power_up(simulator: Simulator, tmp_path: Path) -> None:
    program = copy_program(SIMD)
    firmware = build_firmware(SIMD, board_header(simulator))
    raw = program_image(program, firmware, dram_bytes=USABLE_BYTES)
    assert len(raw) > len(firmware.raw) > 20_000
    passed: list[int] = []

    def count(piece: bytes) -> bytes:
        passed.append(len(piece))
        return piece

    with simulated_board(simulator, tmp_path, flash=raw, spoil=count) as port:
        data = random.Random(1).randbytes(64)
        result, said = run_on_board(link_to(port), program, [data], firmware)
        assert result.outputs == (data,)
        assert (said.runs, said.last_status) == (0, NO_STATUS)
        # Nothing but boot block and inputs was sent, and checks of what is there.
        assert sum(passed) < 4000


@pytest.mark.verilator
@pytest.mark.nightly
def test_an_application_starts_at_power_up(simulator: Simulator, tmp_path: Path) -> None:
    model = random_networks.engine_network(5).model
    files = library("first", compile_stages(model, SIMD), model)
    headers = {
        name: text.replace(f"{HAS_LOADER} 0", f"{HAS_LOADER} 1")
        for name, text in system_headers(SIMD).items()
    }
    made = sdk("first", SIMD, files, headers)
    root = library_builds.unpack(pack(made, "."), tmp_path / "sdk")
    library_builds.build_sdk(root)
    raw = application_image(SIMD, (root / "build" / "application.bin").read_bytes())
    heard = bytearray()

    def hear(piece: bytes) -> bytes:
        heard.extend(piece)
        return piece

    (tmp_path / "board").mkdir()
    with simulated_board(simulator, tmp_path / "board", flash=raw, spoil=hear) as port:
        # A request now would have the loader stay.
        wait_for(heard, b"cycles: ")
        said = link_to(port).hello()
        assert (said.runs, said.last_status) == (1, Status.OK)


def wait_for(heard: bytearray, text: bytes) -> None:
    end = time.monotonic() + 120
    while text not in heard and time.monotonic() < end:
        time.sleep(0.1)
    assert text in heard


@pytest.mark.verilator
@pytest.mark.parametrize(
    ("at", "text"),
    [
        (0, ""),
        at_night((4, "kiwicha: flash memory: written by another version\n")),
        at_night((8, "kiwicha: flash memory: for another configuration\n")),
        at_night((25, "kiwicha: flash memory: its table has changed\n")),
        (60, "kiwicha: flash memory: its bytes have changed\n"),
    ],
)
def test_what_has_changed_is_not_started(
    simulator: Simulator, at: int, text: str, tmp_path: Path
) -> None:
    raw = bytearray(application_image(SIMD, bytes(range(100))))
    raw[at] ^= 1
    heard = bytearray()

    def hear(piece: bytes) -> bytes:
        heard.extend(piece)
        return piece

    with simulated_board(simulator, tmp_path, flash=bytes(raw), spoil=hear) as port:
        said = link_to(port).hello()
        assert (said.runs, said.last_status) == (0, NO_STATUS)
        assert (b"flash memory" in heard) == bool(text)
        assert text.encode() in heard


@pytest.mark.verilator
def test_pieces_outside_the_memory_are_refused(simulator: Simulator, tmp_path: Path) -> None:
    # The loader itself lies there.
    raw = flash_image(SIMD, [(cfu.DRAM_BASE + USABLE_BYTES - 4, bytes(8))])
    heard = bytearray()

    def hear(piece: bytes) -> bytes:
        heard.extend(piece)
        return piece

    with simulated_board(simulator, tmp_path, flash=raw, spoil=hear) as port:
        assert link_to(port).hello().runs == 0
        assert b"kiwicha: flash memory: a piece lies outside the memory\n" in heard

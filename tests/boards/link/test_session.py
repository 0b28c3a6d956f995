"""A Program on a board: the host's code, through a pseudo-terminal to the simulated system."""

import os
import pty
import random
import struct
import tty
from pathlib import Path

import pytest

from kiwicha.boards.link.port import open_port
from kiwicha.boards.link.serial_link import Link
from kiwicha.boards.link.session import run_on_board
from kiwicha.contract import cfu, configs
from kiwicha.contract.configs import CONFIGS
from kiwicha.contract.serial import NO_STATUS, SERIAL_BAUD, SerialOp
from kiwicha.errors import BoardError
from kiwicha.firmware.build import Image, build_firmware
from kiwicha.program.image import Program
from kiwicha.sim.verilator.simulator import Simulator, build_simulator
from tests.support.boards.simulated_board import USABLE_BYTES, board_header, simulated_board
from tests.support.programs.copies import copy_program

pytestmark = pytest.mark.verilator

SIMD = CONFIGS["simd"]


@pytest.fixture(scope="module")
def simulator() -> Simulator:
    return build_simulator(SIMD)


@pytest.fixture(scope="module")
def firmware(simulator: Simulator) -> Image:
    return build_firmware(SIMD, board_header(simulator))


def link_to(name: str) -> Link:
    # A simulated board takes its time.
    return Link(open_port(name, SERIAL_BAUD), tries=20, seconds_per_try=5)


@pytest.mark.nightly
def test_programs_run_one_after_the_other(
    simulator: Simulator, firmware: Image, tmp_path: Path
) -> None:
    with simulated_board(simulator, tmp_path) as name:
        link = link_to(name)
        said = link.hello()
        assert (said.config_hash, said.last_status, said.runs) == (SIMD.hash, NO_STATUS, 0)
        assert said.dram_bytes == USABLE_BYTES
        for run in range(2):
            data = random.Random(run).randbytes(64)
            result, _ = run_on_board(link, copy_program(SIMD), [data], firmware, inferences=2)
            assert result.outputs == (data,)
            assert [len(cycles) for cycles in result.step_cycles] == [2, 2]
            assert 20 < result.step_cycles[1][0] < result.last_cycles < 20_000
        assert link.hello().runs == 2

        # The loader refuses what would overwrite it, and operations that it does not know.
        beyond = struct.pack("<I", cfu.DRAM_BASE + USABLE_BYTES - 4) + bytes(8)
        with pytest.raises(BoardError, match=r"^the board refused WRITE: BAD_BOUNDS$"):
            link.request(SerialOp.WRITE, beyond)
        with pytest.raises(BoardError, match=r"^the board refused READ: BAD_BOUNDS$"):
            link.read(cfu.ONCHIP_BASE, 4)
        with pytest.raises(BoardError, match=r"^the board refused HELLO: BAD_OP$"):
            link.request(SerialOp.HELLO, b"more")
        # A firmware's error comes back in words, and the loader with it.
        program = copy_program(SIMD, steps=1)
        damaged = Program(**{**vars(program), "arena_bytes": 64})
        with pytest.raises(BoardError, match=r"^the firmware stopped: .*BAD_BOUNDS"):
            run_on_board(link, damaged, [bytes(64)], firmware)
        with pytest.raises(BoardError, match=r"^the board's bitstream must be of 64, not of simd"):
            run_on_board(link, copy_program(configs.ENGINE_CONFIGS["64"]), [bytes(64)], firmware)
        assert link.hello().runs == 3


@pytest.mark.nightly
def test_noise_and_lost_bytes_cost_time_only(simulator: Simulator, tmp_path: Path) -> None:
    chance = random.Random(5)
    spoiled: list[int] = []

    def spoil(raw: bytes) -> bytes:
        # A byte in 3000 is lost, and as many are followed by others.
        arrived = bytearray()
        for byte in raw:
            kind = chance.randrange(3000)
            if kind < 2:
                spoiled.append(kind)
            if kind != 0:
                arrived.append(byte)
            if kind == 1:
                arrived += chance.randbytes(3)
        return bytes(arrived)

    data = random.Random(1).randbytes(5000)
    with simulated_board(simulator, tmp_path, spoil=spoil) as name:
        link = link_to(name)
        link.write(cfu.IMAGE_ADDRESS, data)
        assert link.read(cfu.IMAGE_ADDRESS, len(data)) == data
        # The line was as bad as it was meant to be.
        assert spoiled


def test_a_board_that_says_nothing_is_reported() -> None:
    host, port = pty.openpty()
    link = Link(open_port(os.ttyname(port), SERIAL_BAUD), tries=2, seconds_per_try=0.1)
    with pytest.raises(BoardError, match=r"^the board must answer: .* \(nothing came\)$"):
        link.hello()
    os.close(host)


def test_a_wrong_speed_is_reported_with_what_came() -> None:
    host, port = pty.openpty()
    tty.setraw(port)
    link = Link(open_port(os.ttyname(port), SERIAL_BAUD), tries=1, seconds_per_try=0.3)
    os.write(host, b"\x83\xf0hello\0\x99")
    with pytest.raises(BoardError, match=r"what came was no answer: '\.\.hello\.'"):
        link.hello()
    os.close(host)


def test_an_unplugged_board_is_reported() -> None:
    host, port = pty.openpty()
    link = Link(open_port(os.ttyname(port), SERIAL_BAUD), tries=2, seconds_per_try=0.1)
    os.close(port)
    os.close(host)
    with pytest.raises(BoardError, match=r"^the serial port must stay connected: "):
        link.hello()


def test_a_port_that_is_not_there_is_reported() -> None:
    with pytest.raises(
        BoardError, match=r"^serial port must be one that can be opened: .*; name the board's"
    ):
        open_port("/dev/no-such-port", SERIAL_BAUD)

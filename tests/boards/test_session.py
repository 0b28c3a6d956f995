"""A Program on a board: the host's code, through a pseudo-terminal to the simulated system."""

import os
import pty
import random
import struct
import subprocess
import threading
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.steps import whole_copy

from kiwicha import isa
from kiwicha.boards.serial_link import Link, open_port
from kiwicha.boards.session import run_on_board
from kiwicha.errors import BoardError
from kiwicha.firmware.boot_image import build_boot_image
from kiwicha.firmware.build import Image, build_firmware
from kiwicha.isa import CONFIGS, Config, DType, Kernel, Where
from kiwicha.isa_serial import LOADER_BYTES, NO_JOB, SERIAL_BAUD, SerialOp
from kiwicha.layout import Ref
from kiwicha.program import IoTensor, Layer, Program, Step
from kiwicha.sim.soc import HAS_LOADER
from kiwicha.sim.verilate import Simulator, build_simulator

pytestmark = pytest.mark.verilator

SIMD = CONFIGS["simd"]
USABLE = isa.DRAM_BYTES - LOADER_BYTES
Spoil = Callable[[bytes], bytes]


@pytest.fixture(scope="module")
def simulator() -> Simulator:
    return build_simulator(SIMD)


@pytest.fixture(scope="module")
def board_header(simulator: Simulator) -> str:
    return simulator.soc_header.replace(f"{HAS_LOADER} 0", f"{HAS_LOADER} 1")


@pytest.fixture(scope="module")
def firmware(board_header: str) -> Image:
    return build_firmware(SIMD, board_header)


@contextmanager
def board(
    simulator: Simulator, header: str, folder: Path, spoil: Spoil = lambda raw: raw
) -> Iterator[str]:
    """Run the simulated system as a board would; give the name of its serial port.

    ``spoil`` sees every piece that passes in either direction, and returns what arrives.
    """
    image = build_boot_image(SIMD, header, loader_address=isa.DRAM_BASE + USABLE)
    (folder / "boot").write_bytes(image.raw)
    pipes = folder / "to_host", folder / "to_board"
    for pipe in pipes:
        os.mkfifo(pipe)
    to_host, to_board = (os.open(pipe, os.O_RDWR) for pipe in pipes)
    host, port = pty.openpty()
    tty.setraw(port)

    def relay(source: int, target: int) -> None:
        try:
            while raw := os.read(source, 512):
                os.write(target, spoil(raw))
        except OSError:
            return

    command = [str(simulator.binary), "--max-cycles", "10000000000"]
    command += ["--load", f"{isa.ONCHIP_BASE:#x}:{folder / 'boot'}"]
    command += ["--uart-output", str(pipes[0]), "--uart-input", str(pipes[1])]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        for ends in ((to_host, host), (host, to_board)):
            threading.Thread(target=relay, args=ends, daemon=True).start()
        try:
            yield os.ttyname(port)
        finally:
            process.kill()
            for end in (port, host):
                os.close(end)


def copy_program(config: Config, size: int = 64) -> Program:
    refs = [Ref(index * size, size) for index in range(2)]
    return Program(
        config_hash=config.hash,
        arena_bytes=2 * size,
        inputs=(IoTensor("x", refs[0], DType.INT8, (size,), 1.0, 0),),
        outputs=(IoTensor("y", refs[1], DType.INT8, (size,), 1.0, 0),),
        layers=(Layer(0, "RESHAPE", (size,), 0, Where.CPU),),
        steps=(Step(Kernel.COPY, 0, whole_copy(refs[0], refs[1])),),
        constants=b"",
    )


def link_to(name: str) -> Link:
    # A simulated board takes its time.
    return Link(open_port(name, SERIAL_BAUD), tries=20, seconds_per_try=5)


@pytest.mark.nightly
def test_programs_run_one_after_the_other(
    simulator: Simulator, board_header: str, firmware: Image, tmp_path: Path
) -> None:
    with board(simulator, board_header, tmp_path) as name:
        link = link_to(name)
        said = link.hello()
        assert (said.config_hash, said.job, said.runs) == (SIMD.hash, NO_JOB, 0)
        assert said.dram_bytes == USABLE
        for run in range(2):
            data = random.Random(run).randbytes(64)
            result, _ = run_on_board(link, copy_program(SIMD), [data], firmware, inferences=2)
            assert result.outputs == (data,)
            assert [len(cycles) for cycles in result.step_cycles] == [1, 1]
            assert 20 < result.step_cycles[1][0] <= result.last_cycles < 10_000
        assert link.hello().runs == 2

        # The loader refuses what would overwrite it, and operations that it does not know.
        with pytest.raises(BoardError, match=r"^the board refused WRITE: BAD_BOUNDS$"):
            link.request(SerialOp.WRITE, struct.pack("<I", isa.DRAM_BASE + USABLE - 4) + bytes(8))
        with pytest.raises(BoardError, match=r"^the board refused READ: BAD_BOUNDS$"):
            link.read(isa.ONCHIP_BASE, 4)
        with pytest.raises(BoardError, match=r"^the board refused HELLO: BAD_OP$"):
            link.request(SerialOp.HELLO, b"more")
        # A firmware's error comes back in words, and the loader with it.
        program = copy_program(SIMD)
        damaged = Program(**{**vars(program), "arena_bytes": 64})
        with pytest.raises(BoardError, match=r"^the firmware stopped: .*BAD_BOUNDS"):
            run_on_board(link, damaged, [bytes(64)], firmware)
        with pytest.raises(BoardError, match=r"^the board's bitstream must be of 64, not of simd"):
            run_on_board(link, copy_program(isa.ENGINE_CONFIGS["64"]), [bytes(64)], firmware)
        assert link.hello().runs == 3


@pytest.mark.nightly
def test_noise_and_lost_bytes_cost_time_only(
    simulator: Simulator, board_header: str, tmp_path: Path
) -> None:
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
    with board(simulator, board_header, tmp_path, spoil) as name:
        link = link_to(name)
        link.write(isa.IMAGE_ADDRESS, data)
        assert link.read(isa.IMAGE_ADDRESS, len(data)) == data
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
    with pytest.raises(BoardError, match=r"^serial port must be one that can be opened: "):
        open_port("/dev/no-such-port", SERIAL_BAUD)

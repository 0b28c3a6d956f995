"""The self-test on the simulated board, over its serial line: a good one, and faulty ones."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from kiwicha.boards.link.port import open_port
from kiwicha.boards.link.serial_link import Link
from kiwicha.boards.selftest.finding import Finding
from kiwicha.boards.selftest.instructions import check_instructions
from kiwicha.boards.selftest.lists import check_jobs, check_watchdog
from kiwicha.boards.selftest.memory import check_memory
from kiwicha.boards.selftest.models import Example, examples
from kiwicha.boards.selftest.runner import FREE_ADDRESS, Runner
from kiwicha.boards.selftest.session import self_test
from kiwicha.contract.cfu import DataOp, Group, function_id
from kiwicha.contract.configs import Config, find_config
from kiwicha.contract.engine import JobKind, job_kinds
from kiwicha.contract.serial import SERIAL_BAUD, SerialInstruction
from kiwicha.errors import BoardError, UsageError
from kiwicha.firmware.self_test_image import MEMORY_ACCESS, build_self_test
from kiwicha.sim.verilator.simulator import build_simulator
from tests.support.boards.simulated_board import board_header, simulated_board
from tests.support.choices import by_day

pytestmark = pytest.mark.verilator

MEMORY_BYTES = 4096
STUCK = Path(__file__).with_name("stuck_line.c")


OPTIONS = [
    pytest.param(name, marks=pytest.mark.nightly) for name in ("simd-signal", "32-recurrent")
]


@pytest.fixture(scope="module", params=[*by_day("simd", "64"), *OPTIONS])
def config(request: pytest.FixtureRequest) -> Config:
    return find_config(request.param)


@pytest.fixture(scope="module")
def link(config: Config, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Link]:
    folder = tmp_path_factory.mktemp("board")
    with simulated_board(build_simulator(config), folder, config=config) as name:
        # A simulated board takes its time.
        yield Link(open_port(name, SERIAL_BAUD), tries=20, seconds_per_try=5)


def runner_of(link: Link, config: Config, access: Path = MEMORY_ACCESS) -> Runner:
    header = board_header(build_simulator(config))
    return Runner(link, build_self_test(config, header, memory_access=access), link.hello())


def faulty(folder: Path, *, data_bits: int = 0, address_bits: int = 0) -> Path:
    """Give the memory under test a line that is stuck."""
    source = folder / "stuck_line.c"
    defines = (
        f"#define FAULT_DATA_BITS {data_bits:#x}u\n#define FAULT_ADDRESS_BITS {address_bits:#x}u\n"
    )
    source.write_text(defines + STUCK.read_text(encoding="utf-8"), encoding="utf-8")
    return source


class Changed(Runner):
    """A runner whose answers and outputs are those of a board with a fault."""

    def __init__(
        self,
        good: Runner,
        *,
        answer: Callable[[SerialInstruction, int], int] = lambda item, got: got,
        image: Callable[[bytes], bytes] = lambda raw: raw,
    ) -> None:
        vars(self).update(vars(good))
        self._answer, self._image = answer, image

    def execute(
        self, instructions: Sequence[SerialInstruction], loads: Sequence[tuple[int, bytes]] = ()
    ) -> list[int]:
        """Execute as the board would."""
        changed = [(at, self._image(raw) if at == FREE_ADDRESS else raw) for at, raw in loads]
        answers = super().execute(instructions, changed)
        return [self._answer(*item) for item in zip(instructions, answers, strict=True)]


def test_a_good_board_passes_every_check(link: Link, config: Config) -> None:
    firmware = build_self_test(config, board_header(build_simulator(config)))
    found = list(self_test(link, config, firmware, memory_bytes=MEMORY_BYTES, instructions=100))
    assert [str(item) for item in found if not item.is_good] == []
    names = [item.check for item in found]
    groups = [group.name for group in Group if group not in {Group.ENGINE, Group.SIGNAL}]
    expected = {f"instructions, {group}" for group in groups}
    expected |= {
        f"memory, {part}" for part in ("data lines", "address lines", "addresses", "patterns")
    }
    if config.has_signal:
        expected |= {f"sound unit, {part}" for part in ("spectra", "bands", "numbers")}
    if config.engine_macs:
        kinds = job_kinds(
            has_softmax=config.has_softmax,
            has_depthwise=config.has_depthwise,
            has_recurrent=config.has_recurrent,
            has_elements=config.has_short_elements,
        )
        expected |= {f"engine, {kind.name}" for kind in kinds}
    assert expected <= set(names)
    assert len(names) == len(set(names)) == len(expected) + (6 if config.engine_macs else 0)


def differences(found: Iterator[Finding]) -> dict[str, Finding]:
    return {item.check: item for item in found if not item.is_good}


def example_of(config: Config, kind: JobKind) -> Example:
    return next(example for example in examples(config) if example.kind is kind)


@pytest.mark.nightly
def test_a_stuck_data_line_is_named(link: Link, config: Config, tmp_path: Path) -> None:
    runner = runner_of(link, config, faulty(tmp_path, data_bits=1 << 21))
    found = differences(check_memory(runner, MEMORY_BYTES))
    assert "memory, data lines" in found
    difference = found["memory, data lines"]
    assert difference.points_to == "the data lines that carry bit 21: stuck, open, or joined"
    assert "expected 0xfffffffe, got 0xffdffffe" in difference.difference
    assert found["memory, patterns"].points_to == difference.points_to


@pytest.mark.nightly
@pytest.mark.parametrize("bit", [4, 11, 26])
def test_a_stuck_address_line_is_named(
    link: Link, config: Config, bit: int, tmp_path: Path
) -> None:
    runner = runner_of(link, config, faulty(tmp_path, address_bits=1 << bit))
    found = differences(check_memory(runner, MEMORY_BYTES))
    assert f"bit {bit} of the address apart" in found["memory, address lines"].difference
    assert f"that carries bit {bit} and is stuck" in found["memory, address lines"].points_to
    # Within the range that patterns go through, addresses say the same.
    assert ("memory, addresses" in found) == (1 << bit < MEMORY_BYTES)


@pytest.mark.nightly
def test_a_wrong_answer_of_an_instruction_is_named(link: Link, config: Config) -> None:
    maximum = function_id(Group.DATA, DataOp.MAX)

    def answer(item: SerialInstruction, got: int) -> int:
        return got ^ 0x100 if item.function_id == maximum else got

    runner = Changed(runner_of(link, config), answer=answer)
    found = differences(check_instructions(runner, config, count=50, seed=2))
    assert list(found) == ["instructions, DATA"]
    assert f"(function id {maximum})" in found["instructions, DATA"].difference
    assert "custom function unit behind DATA" in found["instructions, DATA"].points_to


@pytest.mark.nightly
def test_a_weight_that_memory_spoils_is_named(link: Link, config: Config) -> None:
    def image(raw: bytes) -> bytes:
        # The last weights of a stream: the list ends well.
        return raw[:-40] + bytes([raw[-40] ^ 0x40]) + raw[-39:]

    runner = Changed(runner_of(link, config), image=image)
    made = {JobKind.CONV: example_of(config, JobKind.CONV)}
    found = differences(check_jobs(runner, made, np.random.default_rng(3)))
    assert "bytes differ" in found["engine, CONV"].difference
    assert found["engine, CONV"].points_to.startswith("the engine's array")


@pytest.mark.nightly
def test_a_watchdog_that_does_not_bark_is_named(link: Link, config: Config) -> None:
    def answer(item: SerialInstruction, got: int) -> int:
        return 0

    runner = Changed(runner_of(link, config), answer=answer)
    example = example_of(config, JobKind.CONV)
    found = differences(check_watchdog(runner, example, np.random.default_rng(3)))
    assert list(found) == ["engine, watchdog"]
    assert "got no error" in found["engine, watchdog"].difference


@pytest.mark.nightly
def test_another_bitstream_and_too_much_memory_are_refused(link: Link, config: Config) -> None:
    firmware = build_self_test(config, board_header(build_simulator(config)))
    with pytest.raises(BoardError, match=r"^the board's bitstream must be of simd, not of 64: "):
        list(self_test(link, find_config("simd"), firmware))
    with pytest.raises(UsageError, match=r"^bytes of memory must be a multiple of 16 from 16 to "):
        list(self_test(link, config, firmware, memory_bytes=24))

"""All checks of the self-test, one after the other."""

from collections.abc import Callable, Iterator

import numpy as np

from kiwicha.boards.link.serial_link import Link
from kiwicha.boards.selftest.finding import Finding
from kiwicha.boards.selftest.instructions import check_instructions
from kiwicha.boards.selftest.interrupts import check_interrupts
from kiwicha.boards.selftest.lists import check_jobs, check_patterns, check_watchdog
from kiwicha.boards.selftest.memory import check_memory
from kiwicha.boards.selftest.models import examples
from kiwicha.boards.selftest.runner import FREE_ADDRESS, Runner, StoppedError
from kiwicha.boards.selftest.sound_unit import check_sound_unit
from kiwicha.contract import configs
from kiwicha.contract.cfu import ALIGNMENT_BYTES
from kiwicha.contract.configs import Config
from kiwicha.contract.engine import JobKind
from kiwicha.contract.self_test import SELF_TEST_DATA_ADDRESS
from kiwicha.errors import BoardError, UsageError
from kiwicha.firmware.build import Image

__all__ = ["INSTRUCTION_COUNT", "MEMORY_BYTES", "self_test"]

MEMORY_BYTES = 4 << 20
INSTRUCTION_COUNT = 500


def self_test(
    link: Link,
    config: Config,
    firmware: Image,
    *,
    memory_bytes: int = MEMORY_BYTES,
    instructions: int = INSTRUCTION_COUNT,
    seed: int = 1,
    on_stage: Callable[[str], None] | None = None,
) -> Iterator[Finding]:
    """Yield what each check finds, in order.

    Memory comes first, then instructions, the unit for frames of sound, engine and interrupts.

    Parameters
    ----------
    link : Link
        The line to the board's loader.
    config : Config
        That of the board's bitstream.
    firmware : Image
        `kiwicha.firmware.self_test_image.build_self_test`'s, for this board.
    memory_bytes : int
        Bytes of DRAM that patterns go through.
    instructions : int
        Random instructions, beside every one twice.
    seed : int
        Of operands, weights and inputs.
    on_stage : callable or None
        Called with the name of each stage.

    Raises
    ------
    BoardError
        If the board does not answer, or has another bitstream.
    UsageError
        If the board has not as much memory.
    """

    def announce(stage: str) -> None:
        if on_stage is not None:
            on_stage(stage)

    announce("asking the board")
    said = link.hello()
    if not said.dram_bytes:
        raise BoardError(
            "the board must have a system's bitstream, not the bring-up design's: kiwicha build and"
            " load one"
        )
    if said.config_hash != config.hash:
        known = configs.config_of_hash(said.config_hash)
        raise BoardError(
            f"the board's bitstream must be of {config.name}, not of "
            f"{known.name if known else 'another version'}: kiwicha build and load that one"
        )
    runner = Runner(link, firmware, said)
    most = runner.usable_bytes // ALIGNMENT_BYTES * ALIGNMENT_BYTES
    if not 0 < memory_bytes <= most or memory_bytes % ALIGNMENT_BYTES:
        raise UsageError(
            f"bytes of memory must be a multiple of {ALIGNMENT_BYTES} from {ALIGNMENT_BYTES} to "
            f"{most}, not {memory_bytes}"
        )
    assert FREE_ADDRESS - SELF_TEST_DATA_ADDRESS < most
    for stage, findings in (
        ("testing the memory", check_memory(runner, memory_bytes)),
        (
            "testing instructions",
            check_instructions(runner, config, count=instructions, seed=seed),
        ),
        ("testing the unit for sound", check_sound_unit(runner, config, seed=seed)),
        ("testing the engine", _check_engine(runner, config, seed)),
        ("testing interrupts", _check_interrupts(runner, config, seed)),
    ):
        announce(stage)
        try:
            yield from findings
        except StoppedError as error:
            yield Finding(
                stage, "", str(error), "the CPU, its memory, or a bitstream of another version"
            )


def _check_engine(runner: Runner, config: Config, seed: int) -> Iterator[Finding]:
    if not config.engine_macs:
        return
    made = {example.kind: example for example in examples(config, seed=seed)}
    rng = np.random.default_rng(seed)
    yield from check_jobs(runner, made, rng)
    yield from check_patterns(runner, made[JobKind.MOVE])
    yield from check_watchdog(runner, made[JobKind.CONV], rng)


def _check_interrupts(runner: Runner, config: Config, seed: int) -> Iterator[Finding]:
    if config.is_preemptible:
        made = {example.kind: example for example in examples(config, seed=seed)}
        yield from check_interrupts(runner, made[JobKind.CONV], np.random.default_rng(seed))

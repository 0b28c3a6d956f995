"""Programs with one byte changed on the simulated system, each followed by a good one."""

import math
import random
import struct
from dataclasses import dataclass
from pathlib import Path

from kiwicha.contract import cfu
from kiwicha.contract.cfu import Status
from kiwicha.contract.configs import find_config
from kiwicha.errors import SimulationError
from kiwicha.firmware.build import build_firmware
from kiwicha.program.format import CHECKED_FROM, checksum
from kiwicha.program.image import Program
from kiwicha.sim.reference import executor
from kiwicha.sim.verilator.image_run import run_image
from kiwicha.sim.verilator.simulator import build_simulator

__all__ = ["SystemResult", "flipped", "run_hostile"]

_CONFIG = find_config("64")
_MAIN = Path(__file__).parent / "system.c"
_PAGE_BYTES = 4096
_UNTOUCHED = 0xA5
_NOT_RUN = 0xFFFF_FFFF
_MAX_CYCLES = 20_000_000
"""More than any inference that ends takes: 5 s are 500 million."""


@dataclass(frozen=True)
class SystemResult:
    """What became of a Program.

    Parameters
    ----------
    opened, invoked : Status or None
        The firmware's answers; ``invoked`` is None if it was refused.
    outside : tuple of str
        What must not have happened: memory of others that has changed, and a good Program behind it
        that did not give the right bytes.
    """

    opened: Status
    invoked: Status | None
    outside: tuple[str, ...]


def flipped(raw: bytes, number: int) -> bytes:
    """Return a Program with one byte changed and a right checksum, spread over its bytes.

    Parameters
    ----------
    raw : bytes
        The Program.
    number : int
        Which change.
    """
    stride = int(len(raw) * 0.618) | 1
    while math.gcd(stride, len(raw)) != 1:
        stride += 1
    changed = bytearray(raw)
    changed[number * stride % len(raw)] ^= random.Random(number).choice(
        [1 << bit for bit in range(8)] + [0xFF]
    )
    sums = checksum(memoryview(changed)[CHECKED_FROM:])
    struct.pack_into("<2I", changed, CHECKED_FROM - 8, *sums)
    return bytes(changed)


def run_hostile(raw: bytes, hostile: bytes, seed: int) -> SystemResult:
    """Open and execute a Program, then a good one, with canaries around what each may touch.

    Parameters
    ----------
    raw : bytes
        The good Program, of ``64``.
    hostile : bytes
        The other one; it gets an arena of the same size.
    seed : int
        Of the inputs.

    Raises
    ------
    SimulationError
        If the system does not come to an end.
    """
    program = Program.from_bytes(raw)
    rng = random.Random(seed)
    inputs = [rng.randbytes(item.ref.bytes) for item in program.inputs]
    filled = bytearray(program.arena_bytes)
    for item, value in zip(program.inputs, inputs, strict=True):
        filled[item.ref.offset : item.ref.offset + item.ref.bytes] = value
    place = cfu.IMAGE_ADDRESS + _PAGE_BYTES
    regions: list[tuple[int, bytes]] = []

    def put(content: bytes) -> tuple[int, int]:
        nonlocal place
        address = place
        regions.append((address, content))
        place += -(-len(content) // _PAGE_BYTES) * _PAGE_BYTES + _PAGE_BYTES
        return address, len(content)

    report = put(struct.pack("<4I", *[_NOT_RUN] * 4))
    sides = [put(hostile), put(bytes(filled)), put(raw), put(bytes(filled))]
    order = struct.pack("<9I", *(word for side in sides for word in side), report[0])
    # All of it in one piece, with canaries between and around.
    before = bytearray([_UNTOUCHED]) * (place + 4 * _PAGE_BYTES - cfu.DRAM_BASE)
    for address, content in [(cfu.IMAGE_ADDRESS, order), *regions]:
        before[address - cfu.DRAM_BASE : address - cfu.DRAM_BASE + len(content)] = content
    simulator = build_simulator(_CONFIG)
    kernels = {step.kernel for step in program.steps}
    firmware = build_firmware(
        _CONFIG, simulator.soc_header, kernels=kernels, has_others=False, main=_MAIN
    )
    ending = run_image(
        simulator,
        loads=[(cfu.ONCHIP_BASE, firmware.raw), (cfu.DRAM_BASE, bytes(before))],
        dumps=[(cfu.DRAM_BASE, len(before))],
        max_cycles=_MAX_CYCLES,
    )
    if ending.code != Status.OK:
        raise SimulationError(f"the firmware must end with 0, not {ending.code} ({ending.uart})")
    (after,) = ending.dumps
    answers = struct.unpack_from("<4I", after, report[0] - cfu.DRAM_BASE)
    may = [report, sides[1], sides[3]]
    outside = [] if _same_elsewhere(bytes(before), after, may) else ["memory of others has changed"]
    if answers[2:] != (Status.OK, Status.OK):
        outside.append(f"the good Program behind it must run, not answer {answers[2:]}")
    arena = after[sides[3][0] - cfu.DRAM_BASE :]
    for item, wanted in zip(program.outputs, executor.run(program, inputs), strict=True):
        if arena[item.ref.offset : item.ref.offset + item.ref.bytes] != wanted.tobytes():
            outside.append("the good Program behind it must give the right bytes")
    invoked = None if answers[1] == _NOT_RUN else Status(answers[1])
    return SystemResult(Status(answers[0]), invoked, tuple(outside))


def _same_elsewhere(before: bytes, after: bytes, may: list[tuple[int, int]]) -> bool:
    """Whether memory is the same outside some ranges."""
    at = cfu.DRAM_BASE
    for address, count in sorted(may):
        piece = slice(at - cfu.DRAM_BASE, address - cfu.DRAM_BASE)
        if before[piece] != after[piece]:
            return False
        at = address + count
    return before[at - cfu.DRAM_BASE :] == after[at - cfu.DRAM_BASE :]

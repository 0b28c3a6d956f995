"""The short self-test of the boot image: some custom instructions, and a job of the engine."""

import random

import numpy as np

from kiwicha.boards.selftest.instructions import KNOWN_STATE
from kiwicha.boards.selftest.models import smallest
from kiwicha.contract.cfu import ALIGNMENT_BYTES, RESULT_FIFO_DEPTH, Group
from kiwicha.contract.configs import Config
from kiwicha.contract.serial import SerialInstruction
from kiwicha.firmware.power_up import PowerUp, PowerUpList
from kiwicha.sim.reference import executor as reference
from kiwicha.sim.reference.cfu_model import CfuModel
from kiwicha.sim.reference.cfu_vectors import CYCLES, random_instructions

__all__ = ["power_up"]

_SEED = 1
_INSTRUCTIONS = 120
"""Drawn at random: enough for every group but these."""
_OTHERS = {Group.ENGINE, Group.SIGNAL}


def power_up(config: Config) -> PowerUp:
    """Return what the boot image of a configuration checks, always the same.

    Parameters
    ----------
    config : Config
        What the custom function unit has.
    """
    if not config.has_simd:
        return PowerUp((), (), None)
    rng = random.Random(_SEED)
    drawn = [item for item in random_instructions(rng, _INSTRUCTIONS) if item[0] != CYCLES]
    items = [*KNOWN_STATE, *(item for item in drawn if item[0] & 7 not in _OTHERS)]
    model = CfuModel(config)
    answers = [model.execute(*item) for item in items]
    return PowerUp(
        tuple(SerialInstruction(*item) for item in items),
        # How many results others have left is not known.
        (*(None,) * RESULT_FIFO_DEPTH, *answers[RESULT_FIFO_DEPTH:]),
        _list(config) if config.engine_macs else None,
    )


def _list(config: Config) -> PowerUpList:
    example = smallest(config)
    program = example.program
    (source,), (result,) = program.inputs, program.outputs
    raw = np.random.default_rng(_SEED).bytes(source.ref.bytes)
    (expected,) = reference.run(program, [raw])
    return PowerUpList(
        image=example.image,
        job_count=example.call.job_count,
        transfer_count=example.call.transfer_count,
        arena_bytes=-(-program.arena_bytes // ALIGNMENT_BYTES) * ALIGNMENT_BYTES,
        input=raw,
        input_offset=source.ref.offset,
        output=np.asarray(expected).tobytes(),
        output_offset=result.ref.offset,
    )

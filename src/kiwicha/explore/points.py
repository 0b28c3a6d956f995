"""One point of the search: what a configuration costs, and what models take on it."""

from collections.abc import Sequence
from dataclasses import dataclass

from kiwicha.boards.capacity import BRAM_KBIT, CAPACITY, COUNTED, SYSTEM, family_of
from kiwicha.boards.family import Family
from kiwicha.boards.memories import memory_of
from kiwicha.compiler import compile_model
from kiwicha.compiler.engine.cost.cycles import predict_program
from kiwicha.contract.cfu import LANES
from kiwicha.contract.configs import Config, engine_config
from kiwicha.contract.depthwise import (
    UNIT_CHANNELS,
    UNIT_TAPS,
    fabric_chains_of,
    has_own_reads,
    has_own_results,
)
from kiwicha.contract.engine import OUTPUT_BYTES, has_packed, outputs_of
from kiwicha.contract.memories import Memory

__all__ = [
    "BOARDS",
    "OBJECTIVES",
    "Board",
    "Measures",
    "family_for",
    "measure",
    "memory_for",
    "resources",
    "timed_config",
    "titles",
]

OBJECTIVES = ("cycles", "lut", "dsp", "bram")
"""What can be made small: predicted cycles of all models, and estimated resources of the CFU."""


@dataclass(frozen=True)
class Board:
    """What an FPGA has for the CFU: its own resources without those of the system around it.

    Parameters
    ----------
    family : Family
        Whose resources they are.
    lut, dsp, bram : float
        Counted as `COUNTED` names them: a block RAM has `BRAM_KBIT`.
    memory : Memory
        What cycles are predicted for.
    """

    family: Family
    lut: float
    dsp: float
    bram: float
    memory: Memory


def _left(name: str) -> Board:
    family, capacity = family_of(name), CAPACITY[name]
    lut, dsp, bram = (capacity[kind] - SYSTEM[family][kind] for kind in COUNTED[family])
    return Board(family, lut, dsp, bram, memory_of(name))


BOARDS = {name: _left(name) for name in CAPACITY}
"""What each of them has for the CFU."""


def family_for(board: Board | None) -> Family:
    """Return whose resources are estimated: without a board, those of Xilinx 7 series."""
    return Family.XC7 if board is None else board.family


def titles(family: Family) -> dict[str, str]:
    """Return what `OBJECTIVES` are called, with their units."""
    return {
        "cycles": "cycles, predicted",
        "lut": "LUTs, estimated",
        "dsp": "DSPs, estimated",
        "bram": f"block RAMs of {BRAM_KBIT[family]} Kbit, estimated",
    }


def memory_for(board: Board | None) -> Memory:
    """Return the memory that cycles are predicted for."""
    return memory_of(None) if board is None else board.memory


@dataclass(frozen=True)
class _Fit:
    """What the CFU takes of a family, fitted to what `kiwicha area` counts.

    Parameters
    ----------
    engine_lut : float
        Of an engine without what follows, with an instruction tier of one multiplier.
    mac_lut, lane_lut, codec_lut : float
        Of each product per cycle, of each lane of the requantizer, and of the codec.
    blocks_lut : float
        What one of blocks takes more, and the weight buffer with it.
    whole_tier_lut : float
        What a tier of `LANES` multipliers takes more than one of one.
    lane_dsp, tier_dsp, whole_tier_dsp : int
        Of each lane, and of tiers of one and of `LANES` multipliers with the float converter.
    softmax_lut, softmax_dsp : int
        Of the unit of SOFTMAX jobs.
    unit_lut, unit_dsp, unit_bram : int
        Of the depthwise unit.
    fabric_lut : float
        Of a multiplier of the unit that is made of LUTs.
    port_lut : float
        Of its port of the scratchpad, where it has one of its own.
    results_lut : float
        Of its requantizer, where it has one of its own.
    step_bytes, step_bram : int
        The scratchpad takes ``step_bram`` block RAMs for each ``step_bytes``, rounded up.
    uneven_lut : float
        What chooses among the memories of a scratchpad whose steps are no power of two.
    macs_per_bram : int
        Products per cycle for whose weights there is a block RAM.
    engine_bram : float
        Of the rest.
    sums_bram : float
        What the memory of sums, and tables of sums behind convolutions, take more for each further
        `OUTPUT_BYTES` lanes.
    tables_bram : float
        Those tables, for each `OUTPUT_BYTES` lanes: an engine with a depthwise unit has none.
    """

    engine_lut: float
    mac_lut: float
    lane_lut: float
    codec_lut: float
    blocks_lut: float
    whole_tier_lut: float
    lane_dsp: int
    tier_dsp: int
    whole_tier_dsp: int
    softmax_lut: float
    softmax_dsp: int
    unit_lut: float
    unit_dsp: int
    unit_bram: int
    fabric_lut: float
    port_lut: float
    results_lut: float
    step_bytes: int
    step_bram: int
    uneven_lut: float
    macs_per_bram: int
    engine_bram: float
    sums_bram: float
    tables_bram: float


_FITS = {
    # 64, 64-r4, 64-raw, 64-softmax, 128, 256 and 256-depthwise; 64-96k for memories.
    Family.XC7: _Fit(
        engine_lut=6_664,
        mac_lut=26,
        lane_lut=396,
        codec_lut=650,
        blocks_lut=2_750,
        whole_tier_lut=240,
        lane_dsp=2,
        tier_dsp=3,
        whole_tier_dsp=9,
        softmax_lut=1_150,
        softmax_dsp=4,
        unit_lut=4_630,
        unit_dsp=72,
        unit_bram=11,
        fabric_lut=92,
        port_lut=500,
        results_lut=1_900,
        # A bank of the scratchpad has lines of 16 bytes; true dual-port memories are 4 bytes wide.
        step_bytes=32 * 1024,
        step_bram=8,
        uneven_lut=590,
        macs_per_bram=8,
        engine_bram=6.5,
        sums_bram=4.5,
        tables_bram=1,
    ),
    # 32, 64, 64-r4, 64-raw and 64-m4; 64-32k, 64-128k and 64-96k, 32-48k, 64-48k-r4 for memories.
    Family.ECP5: _Fit(
        engine_lut=12_933,
        mac_lut=102,
        lane_lut=772,
        codec_lut=1_568,
        blocks_lut=3_200,
        whole_tier_lut=799,
        lane_dsp=4,
        tier_dsp=3,
        whole_tier_dsp=11,
        softmax_lut=2_660,
        softmax_dsp=4,
        unit_lut=8_000,
        unit_dsp=72,
        unit_bram=22,
        # Nor are those arrays that leave multipliers to be made of LUTs, or no reads or results.
        fabric_lut=0,
        port_lut=0,
        results_lut=0,
        # Yosys makes two copies of a bank, one for each port that reads, of memories of 2 KiB; the
        # least are 512 lines deep and 4 bytes wide.
        step_bytes=16 * 1024,
        step_bram=16,
        uneven_lut=1_030,
        macs_per_bram=4,
        engine_bram=13,
        # Those with more lanes are not for ECP5.
        sums_bram=0,
        tables_bram=0,
    ),
}
"""From the counts of `kiwicha area --config C --family F`; the search confirms its best."""


@dataclass(frozen=True)
class Measures:
    """What a point is judged by; names as in `OBJECTIVES`.

    Parameters
    ----------
    cycles : int
        Predicted, of one inference of each model, together.
    by_model : tuple of int
        The same, each.
    lut, dsp, bram : float
        Estimates for the CFU.
    """

    cycles: int
    by_model: tuple[int, ...]
    lut: float
    dsp: float
    bram: float


def resources(config: Config, family: Family) -> tuple[float, float, float]:
    """Return estimated LUT, DSP and block RAM of a configuration with an engine.

    Parameters
    ----------
    config : Config
        One that the family can have.
    family : Family
        Whose resources are meant, as `COUNTED` names them.
    """
    fit = _FITS[family]
    macs, is_whole = config.engine_macs, config.multipliers == LANES
    lanes = config.requantizer_lanes or outputs_of(macs)
    lut = fit.engine_lut + fit.mac_lut * macs + fit.lane_lut * lanes
    lut += fit.codec_lut * config.has_codec + fit.blocks_lut * config.has_blocks
    lut += fit.whole_tier_lut * is_whole
    dsp = (macs // 2 if has_packed(macs) else macs) + fit.lane_dsp * lanes
    dsp += fit.whole_tier_dsp if is_whole else fit.tier_dsp
    lut += fit.softmax_lut * config.has_softmax
    dsp += fit.softmax_dsp * config.has_softmax
    steps = -(-config.scratchpad_bytes // fit.step_bytes)
    lut += fit.uneven_lut * (steps.bit_count() > 1)
    bram = steps * fit.step_bram + macs / fit.macs_per_bram + fit.engine_bram
    # As many words as the weight buffer has.
    bram += macs / fit.macs_per_bram * bool(config.resident_words)
    further = max(outputs_of(macs) // OUTPUT_BYTES - 1, 0)
    bram += fit.sums_bram * further
    if config.has_depthwise:
        fabric = UNIT_TAPS**2 * fabric_chains_of(macs)
        lut += fit.unit_lut + fit.fabric_lut * fabric
        dsp += fit.unit_dsp - fabric
        bram += fit.unit_bram - fit.tables_bram * (1 + further)
        if has_own_reads(macs):
            lut += fit.port_lut
            bram += steps * fit.step_bram
        if has_own_results(macs):
            lut += fit.results_lut
            dsp += fit.lane_dsp * UNIT_CHANNELS
    return float(lut), float(dsp), bram


def timed_config(config: Config) -> Config:
    """Return the configuration with everything that predicted cycles depend on, the rest as usual.

    The engine works beside the instruction tier: how many multipliers that has decides what a few
    steps of the CPU take, which the cycle model assumes to be few and small.
    """
    return engine_config(
        config.engine_macs,
        config.scratchpad_bytes,
        requantizer_lanes=config.requantizer_lanes,
        has_codec=config.has_codec,
        has_softmax=config.has_softmax,
        has_blocks=config.has_blocks,
        is_resident=bool(config.resident_words),
        has_depthwise=config.has_depthwise,
    )


def measure(models: Sequence[bytes], config: Config) -> tuple[int, ...]:
    """Return the cycles of each model on a configuration by the cycle model.

    Parameters
    ----------
    models : sequence of bytes
        Contents of ``.tflite`` files.
    config : Config
        One with an engine, and the memory that is meant.

    Raises
    ------
    KiwichaError
        If a model is not supported.
    """
    return tuple(predict_program(compile_model(model, config))[0] for model in models)

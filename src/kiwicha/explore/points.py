"""One point of the search: what a configuration costs, and what models take on it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kiwicha.boards.capacity import CAPACITY, XC7_SYSTEM
from kiwicha.compiler import compile_model
from kiwicha.compiler.cycles import predict_program
from kiwicha.isa import LANES, Config, engine_config
from kiwicha.isa_engine import outputs_of

__all__ = ["BOARDS", "OBJECTIVES", "Board", "Measures", "measure", "resources", "timed_config"]

OBJECTIVES = ("cycles", "lut", "dsp", "bram")
"""What can be made small: predicted cycles of all models, and estimated resources of the CFU."""


@dataclass(frozen=True)
class Board:
    """What an FPGA has for the CFU: its own resources without those of the system around it.

    Parameters
    ----------
    lut, dsp, bram : float
        Block RAM is of 36 Kbit.
    """

    lut: float
    dsp: float
    bram: float


def _left(capacity: Mapping[str, float]) -> Board:
    lut, dsp, bram = (capacity[name] - XC7_SYSTEM[name] for name in ("LUT", "DSP48E1", "BRAM36"))
    return Board(lut, dsp, bram)


BOARDS = {name: _left(capacity) for name, capacity in CAPACITY.items() if "BRAM36" in capacity}
"""Those with Xilinx parts: the estimates below are for them."""

# Fitted to what `kiwicha area` counts for 64, 64-r4, 64-raw and 128; the search confirms its best.
_ENGINE_LUT, _LUT_PER_MAC, _LUT_PER_LANE, _LUT_PER_TIER_MULTIPLIER = 6_060, 23, 410, 80
_CODEC_LUT = 650
_MOST_MAC_DSP, _DSP_PER_LANE, _DSP_PER_TIER_MULTIPLIER = 64, 2, 2
# A bank of the scratchpad has lines of 16 bytes; true dual-port memories are 4 bytes wide.
_SCRATCHPAD_STEP_BYTES, _SCRATCHPAD_STEP_BRAM, _ENGINE_BRAM = 32 * 1024, 8, 0.5
_MACS_PER_WEIGHT_BRAM = 8


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


def resources(config: Config) -> tuple[float, float, float]:
    """Return estimated LUT, DSP and block RAM of a configuration with an engine."""
    macs, tier = config.engine_macs, config.multipliers
    lanes = config.requantizer_lanes or outputs_of(macs)
    lut = _ENGINE_LUT + _LUT_PER_MAC * macs + _LUT_PER_LANE * lanes + _CODEC_LUT * config.has_codec
    lut += _LUT_PER_TIER_MULTIPLIER * (tier - 1)
    dsp = min(macs, _MOST_MAC_DSP) + _DSP_PER_LANE * lanes
    dsp += _DSP_PER_TIER_MULTIPLIER * min(tier, LANES)
    steps = -(-config.scratchpad_bytes // _SCRATCHPAD_STEP_BYTES)
    bram = steps * _SCRATCHPAD_STEP_BRAM + macs / _MACS_PER_WEIGHT_BRAM + _ENGINE_BRAM
    return float(lut), float(dsp), bram


def timed_config(config: Config) -> Config:
    """Return the configuration with all that predicted cycles depend on, the rest as usual.

    The engine works beside the instruction tier: how many multipliers that has decides what a few
    steps of the CPU take, which the cycle model assumes to be few and small.
    """
    return engine_config(
        config.engine_macs,
        config.scratchpad_bytes,
        requantizer_lanes=config.requantizer_lanes,
        has_codec=config.has_codec,
    )


def measure(models: Sequence[bytes], config: Config) -> tuple[int, ...]:
    """Return the cycles of each model on a configuration by the cycle model.

    Parameters
    ----------
    models : sequence of bytes
        Contents of ``.tflite`` files.
    config : Config
        One with an engine.

    Raises
    ------
    KiwichaError
        If a model is not supported.
    """
    return tuple(predict_program(compile_model(model, config))[0] for model in models)

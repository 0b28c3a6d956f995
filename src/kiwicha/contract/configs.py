"""Configurations: what the hardware under a Program has, and their names."""

import dataclasses
import difflib
import zlib
from dataclasses import dataclass
from typing import Any

from kiwicha.contract.cfu import ISA_VERSION, LANES
from kiwicha.contract.codec import BLOCK_BYTES
from kiwicha.contract.depthwise import UNIT_MACS
from kiwicha.contract.engine import outputs_of
from kiwicha.contract.memories import DDR3_QUARTER_RATE, Memory
from kiwicha.contract.short_elements import has_short_elements
from kiwicha.errors import UsageError

__all__ = [
    "ALL_CONFIGS",
    "CONFIGS",
    "CONFIG_HELP",
    "ENGINE_CONFIGS",
    "ENGINE_FAMILY",
    "Config",
    "config_of_hash",
    "engine_config",
    "find_config",
    "requantizer_lanes_of",
]


_LATER = {
    "has_softmax",
    "has_blocks",
    "has_depthwise",
    "resident_words",
    "is_preemptible",
    "has_int16",
    "has_recurrent",
    "has_signal",
}
"""Fields that count where they are set."""


_PREEMPT = "-preempt"
"""Ends the names of what is preemptible."""
_INT16 = "-int16"
"""Ends the names of what has jobs of int16."""
_RECURRENT = "-recurrent"
"""Ends the names of what has steps of LSTMs, and the jobs of int16 that bring their sums."""
_SIGNAL = "-signal"
"""Ends the names of what has a unit for frames of sound."""


@dataclass(frozen=True)
class Config:
    """What the hardware under a Program has.

    Parameters
    ----------
    name : str
        Name on the command line.
    has_simd : bool
        Kernels may use the instruction tier.
    summary : str
        One line for listings.
    engine_macs : int
        int8 products per cycle of the engine; 0 without one.
    scratchpad_bytes : int
        Memory of the engine; 0 without one.
    multipliers : int
        Of the instruction tier, and again of its requantizer: 1, or one per lane.
    requantizer_lanes : int
        Results that the engine requantizes at a time; 0: as many as its array gives at once.
    has_codec : bool
        The engine decodes weights that are stored coded.
    has_softmax : bool
        The engine has jobs of kind SOFTMAX.
    has_blocks : bool
        Its decoder is that of weights in blocks, as fast as the memory.
    resident_words : int
        Words of weights that the engine keeps from list to list: 0 or `RESIDENT_WORDS`.
    has_depthwise : bool
        The engine has a unit for depthwise convolutions beside its array.
    is_preemptible : bool
        The engine can stop between jobs and go on later, and says with an interrupt that it has
        stopped.
    has_int16 : bool
        The engine has jobs of int16: sums that count 256 times, and results of 16 bits.
    has_recurrent : bool
        The engine has jobs of kind RECURRENT, which make a step of an LSTM. It has jobs of int16
        then, whose results are the sums of gates.
    has_signal : bool
        A unit for frames of sound is beside the instruction tier.
    memory : Memory
        DRAM of the system around it. Predictions and schedules are for it; a Program runs with any,
        so it is no part of what a configuration is.
    """

    name: str
    has_simd: bool
    summary: str = dataclasses.field(compare=False)
    engine_macs: int = 0
    scratchpad_bytes: int = 0
    multipliers: int = LANES
    requantizer_lanes: int = 0
    has_codec: bool = False
    has_softmax: bool = False
    has_blocks: bool = False
    resident_words: int = 0
    has_depthwise: bool = False
    is_preemptible: bool = False
    has_int16: bool = False
    has_recurrent: bool = False
    has_signal: bool = False
    memory: Memory = dataclasses.field(default=DDR3_QUARTER_RATE, compare=False, repr=False)

    @property
    def has_short_elements(self) -> bool:
        """Whether the engine has jobs of kind SHORT_ELEMENTS: with int16, from 64 products on."""
        return has_short_elements(self.engine_macs, has_int16=self.has_int16)

    @property
    def has_fused(self) -> bool:
        """Whether lists have jobs with `JobFlag.FUSED`.

        An engine with a depthwise unit has none. One that is preemptible does not stop while
        tables of such jobs are kept: none are, so that it need not run to the end of the list.
        """
        return bool(self.engine_macs) and not (self.has_depthwise or self.is_preemptible)

    @property
    def softmax_name(self) -> str:
        """Name of the same configuration with SOFTMAX jobs."""
        usual, unit, _ = self.name.partition("-depthwise")
        usual, preempt, _ = usual.partition(_PREEMPT)
        usual, int16, _ = usual.partition(_INT16)
        usual, recurrent, _ = usual.partition(_RECURRENT)
        usual, signal, _ = usual.partition(_SIGNAL)
        return f"{usual}-softmax{unit}{preempt}{int16}{recurrent}{signal}"

    def with_memory(self, memory: Memory) -> "Config":
        """Return the same hardware around another memory."""
        return self if memory == self.memory else dataclasses.replace(self, memory=memory)

    @property
    def macs_per_cycle(self) -> int:
        """int8 multiply-accumulates that the hardware can do in one cycle."""
        return self.engine_macs or (self.multipliers if self.has_simd else 1)

    @property
    def requantizer_cycles(self) -> int:
        """Cycles between results of the engine's array, at least, in units of a job's interval."""
        if not self.requantizer_lanes:
            return 1
        return outputs_of(self.engine_macs) // self.requantizer_lanes

    @property
    def hash(self) -> int:
        """32-bit hash that a Program, the firmware and the gateware must agree on.

        What came later counts only where it is: without it configurations are what they were.
        """
        facts: list[Any] = [ISA_VERSION] + [
            (field.name, getattr(self, field.name))
            for field in dataclasses.fields(self)
            if field.compare and (field.name not in _LATER or getattr(self, field.name))
        ]
        if self.has_short_elements:
            facts.append("has_short_elements")
        return zlib.crc32(repr(facts).encode())


CONFIGS = {
    config.name: config
    for config in (
        Config("baseline", has_simd=False, summary="portable C kernels, no custom instruction"),
        Config("simd", has_simd=True, summary="C kernels on the CFU's instruction tier"),
    )
}
ENGINE_MACS = (32, 64, 128, 256)
SCRATCHPAD_BYTES = tuple(kib * 1024 for kib in (8, 16, 32, 48, 56, 64, 96, 128, 256))
SOFTMAX_MACS = (128, 256)
"""Engines that have SOFTMAX jobs without being asked for them."""
DEFAULT_SCRATCHPAD_BYTES = 64 * 1024
RESIDENT_WORDS = 512
"""Words of weights that an engine keeps, if it keeps any: as many as are in its weight buffer."""
TIER_MULTIPLIERS = (1, LANES)
FEW_REQUANTIZER_LANES = 4
"""Instead of the 8 of an array: half of them."""


def requantizer_lanes_of(macs: int) -> tuple[int, ...]:
    """Return the `Config.requantizer_lanes` that an engine can have."""
    return (0, FEW_REQUANTIZER_LANES) if outputs_of(macs) == 2 * FEW_REQUANTIZER_LANES else (0,)


def engine_config(
    macs: int,
    scratchpad_bytes: int = DEFAULT_SCRATCHPAD_BYTES,
    multipliers: int = 1,
    requantizer_lanes: int = 0,
    *,
    has_codec: bool = True,
    has_softmax: bool = False,
    has_blocks: bool = False,
    is_resident: bool = False,
    has_depthwise: bool = False,
) -> Config:
    """Return a configuration with an engine.

    Its name tells what differs from the usual one: ``64-128k-m4-r4-raw-softmax`` has 64 products
    per cycle, a scratchpad of 128 KiB, 4 multipliers in the instruction tier, 4 lanes in the
    engine's requantizer, no codec, and SOFTMAX jobs, which `SOFTMAX_MACS` have anyway. Instead of
    ``raw`` may stand ``blocks``, or ``blocks-resident`` where weights stay on chip;
    ``64-depthwise`` has a depthwise unit.

    Parameters
    ----------
    macs : int
        One of `ENGINE_MACS`.
    scratchpad_bytes : int
        One of `SCRATCHPAD_BYTES`.
    multipliers : int
        One of `TIER_MULTIPLIERS`.
    requantizer_lanes : int
        One of `requantizer_lanes_of`.
    has_codec : bool
        Weights can be stored coded.
    has_softmax : bool
        Have SOFTMAX jobs with fewer products too.
    has_blocks : bool
        With a codec: decode weights in blocks; with 64 products or more and all lanes.
    is_resident : bool
        With blocks: keep `RESIDENT_WORDS` words of weights.
    has_depthwise : bool
        Have a depthwise unit: one of `UNIT_MACS`, with as many lanes as outputs.
    """
    name = str(macs)
    if scratchpad_bytes != DEFAULT_SCRATCHPAD_BYTES:
        name += f"-{scratchpad_bytes // 1024}k"
    if multipliers != 1:
        name += f"-m{multipliers}"
    if requantizer_lanes:
        name += f"-r{requantizer_lanes}"
    if not has_codec:
        name += "-raw"
    elif has_blocks:
        name += "-blocks-resident" if is_resident else "-blocks"
    if has_softmax and macs not in SOFTMAX_MACS:
        name += "-softmax"
    if has_depthwise:
        name += "-depthwise"
    return Config(
        name,
        has_simd=True,
        summary=f"engine of {macs} products per cycle, and the instruction tier",
        engine_macs=macs,
        scratchpad_bytes=scratchpad_bytes,
        multipliers=multipliers,
        requantizer_lanes=requantizer_lanes,
        has_codec=has_codec,
        has_softmax=has_softmax or macs in SOFTMAX_MACS,
        has_blocks=has_codec and has_blocks,
        resident_words=RESIDENT_WORDS if has_codec and has_blocks and is_resident else 0,
        has_depthwise=has_depthwise,
    )


ENGINE_FAMILY = {
    config.name: config
    for config in (
        engine_config(macs, scratchpad_bytes, multipliers, lanes, has_codec=has_codec)
        for macs in ENGINE_MACS
        for scratchpad_bytes in SCRATCHPAD_BYTES
        for multipliers in TIER_MULTIPLIERS
        for lanes in requantizer_lanes_of(macs)
        for has_codec in (True, False)
    )
}
"""Every combination of what all engines can have."""
SOFTMAX_FAMILY = {
    config.name: config
    for config in (
        engine_config(
            usual.engine_macs,
            usual.scratchpad_bytes,
            usual.multipliers,
            usual.requantizer_lanes,
            has_codec=usual.has_codec,
            has_softmax=True,
        )
        for usual in ENGINE_FAMILY.values()
        if not usual.has_softmax
    )
}
"""Those of them without SOFTMAX jobs, with them."""
DEPTHWISE_FAMILY = {
    config.name: config
    for config in (
        engine_config(
            usual.engine_macs,
            usual.scratchpad_bytes,
            usual.multipliers,
            has_codec=usual.has_codec,
            has_softmax=usual.has_softmax,
            has_depthwise=True,
        )
        for usual in (*ENGINE_FAMILY.values(), *SOFTMAX_FAMILY.values())
        if usual.engine_macs in UNIT_MACS and not usual.requantizer_lanes
    )
}
"""Those of them that can have a depthwise unit, with it."""
_WITH_BLOCKS = {(macs, 0) for macs in ENGINE_MACS if outputs_of(macs) >= BLOCK_BYTES}
"""Products and lanes of engines for which streams can be coded in blocks: weights and parameters of
8 channels are written at once."""
BLOCKS_FAMILY = {
    config.name: config
    for config in (
        engine_config(
            usual.engine_macs,
            usual.scratchpad_bytes,
            usual.multipliers,
            usual.requantizer_lanes,
            has_softmax=usual.has_softmax,
            has_blocks=True,
            is_resident=is_resident,
        )
        for is_resident in (False, True)
        for usual in (ENGINE_FAMILY | SOFTMAX_FAMILY).values()
        if usual.has_codec and (usual.engine_macs, usual.requantizer_lanes) in _WITH_BLOCKS
    )
}
"""Those of engine and SOFTMAX families with a decoder, with the one of blocks; and those that keep
weights as well."""
PREEMPT_FAMILY = {
    f"{name}{_PREEMPT}": dataclasses.replace(usual, name=f"{name}{_PREEMPT}", is_preemptible=True)
    for name, usual in (ENGINE_FAMILY | SOFTMAX_FAMILY | BLOCKS_FAMILY).items()
    if not usual.resident_words
}
"""Those without weights that stay and without a depthwise unit, which can stop between jobs."""
INT16_FAMILY = {
    f"{name}{_INT16}": dataclasses.replace(usual, name=f"{name}{_INT16}", has_int16=True)
    for name, usual in (ENGINE_FAMILY | SOFTMAX_FAMILY | BLOCKS_FAMILY).items()
    if not usual.requantizer_lanes
}
"""Those with all lanes of the requantizer and without a depthwise unit, with jobs of int16."""
RECURRENT_FAMILY = {
    name.removesuffix(_INT16) + _RECURRENT: dataclasses.replace(
        usual, name=name.removesuffix(_INT16) + _RECURRENT, has_recurrent=True
    )
    for name, usual in INT16_FAMILY.items()
}
"""Those with jobs of int16, which have steps of LSTMs as well."""
SIGNAL_FAMILY = {
    f"{name}{_SIGNAL}": dataclasses.replace(usual, name=f"{name}{_SIGNAL}", has_signal=True)
    for name, usual in ({"simd": CONFIGS["simd"]} | ENGINE_FAMILY | SOFTMAX_FAMILY).items()
}
"""The instruction tier alone, and those of engine and SOFTMAX families, with a unit for frames of
sound."""
SEARCHED_FAMILY = ENGINE_FAMILY | SOFTMAX_FAMILY | DEPTHWISE_FAMILY | BLOCKS_FAMILY
"""What ``kiwicha explore`` searches."""
ENGINE_CONFIGS = {str(macs): ENGINE_FAMILY[str(macs)] for macs in ENGINE_MACS}
"""Those usually meant; `CONFIGS` are those whose Programs run on the CPU."""
ALL_CONFIGS = (
    CONFIGS
    | ENGINE_FAMILY
    | SOFTMAX_FAMILY
    | DEPTHWISE_FAMILY
    | BLOCKS_FAMILY
    | PREEMPT_FAMILY
    | INT16_FAMILY
    | RECURRENT_FAMILY
    | SIGNAL_FAMILY
)
DEFAULT_CONFIG = "simd"


def config_of_hash(config_hash: int) -> Config | None:
    """Return the configuration with this `Config.hash`, None if there is none."""
    return next((c for c in ALL_CONFIGS.values() if c.hash == config_hash), None)


_KIB = [str(size // 1024) for size in SCRATCHPAD_BYTES]
_SIZES = f"{', '.join(_KIB[:-1])} or {_KIB[-1]} KiB"
_MACS = f"{', '.join(map(str, ENGINE_MACS[:-1]))} or {ENGINE_MACS[-1]}"
_CHOICES = (
    f"{', '.join(CONFIGS)}, {_MACS}; an engine's scratchpad is named as in 64-32k and has "
    f"{_SIZES}, {DEFAULT_SCRATCHPAD_BYTES // 1024} where none is named; "
    f"-m{LANES}, -r{FEW_REQUANTIZER_LANES}, -raw, -blocks or -blocks-resident, "
    "-softmax and -depthwise, -preempt, -int16, -recurrent or -signal may follow"
)
CONFIG_HELP = (
    f"{', '.join(CONFIGS)}, or an engine of {_MACS} products per cycle; 64-32k has a "
    f"scratchpad of 32 KiB (of {_SIZES})."
)
"""What ``--config`` takes, for ``--help``."""


def find_config(config: str | Config) -> Config:
    """Return the configuration of a name; a `Config` is returned as it is.

    Parameters
    ----------
    config : str or Config
        Such as ``simd`` or ``64-32k``: a key of `ALL_CONFIGS`.

    Raises
    ------
    UsageError
        If there is none of that name.
    """
    if isinstance(config, Config):
        return config
    if not isinstance(config, str):
        raise UsageError(f"config must be a string such as '64', not {config!r}")
    if config in ALL_CONFIGS:
        return ALL_CONFIGS[config]
    known = ALL_CONFIGS if "-" in config else CONFIGS | ENGINE_CONFIGS
    _refuse_depthwise(config)
    near = difflib.get_close_matches(config, known, n=1, cutoff=0.4)
    hint = f"; nearest is {near[0]!r}" if near else ""
    raise UsageError(f"config must be one of {_CHOICES}; not {config!r}{hint}")


def _refuse_depthwise(name: str) -> None:
    """Say why an engine has no depthwise unit, if that is all that is wrong with its name."""
    usual, unit, rest = name.partition("-depthwise")
    without = ALL_CONFIGS.get(usual)
    if not unit or rest or without is None or not without.engine_macs:
        return
    if without.requantizer_lanes:
        reason = "a requantizer of 8 lanes, which its results share"
        nearest = usual.replace(f"-r{without.requantizer_lanes}", "")
    else:
        macs = f"{', '.join(map(str, UNIT_MACS[:-1]))} or {UNIT_MACS[-1]}"
        reason = f"an array of {macs} products per cycle"
        near = min(UNIT_MACS, key=lambda macs: abs(macs - without.engine_macs))
        nearest = usual.replace(str(without.engine_macs), str(near), 1)
    raise UsageError(
        f"a depthwise unit must have beside it {reason}, not those of {usual!r}; "
        f"nearest is '{nearest}-depthwise'"
    )

"""Signal operators on the channels of a frame of sound: filters, noise, gain, logarithm.

Notes
-----
Ref: signal/micro/kernels/{filter_bank,filter_bank_square_root,filter_bank_spectral_subtraction,
pcan,filter_bank_log}.cc in tflite-micro.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.layout import Ref, Struct, array, ref, u32
from kiwicha.contract.program import Kernel
from kiwicha.kernels.kernel import Cost, Declaration, Memory, Work
from kiwicha.numerics import sound

__all__ = [
    "KERNELS",
    "SignalFilterBank",
    "SignalGain",
    "SignalLog",
    "SignalSquareRoot",
    "SignalSubtraction",
]


@dataclass(frozen=True)
class SignalFilterBank(Struct):
    """SignalFilterBank: the energy in each channel, from overlapping bands of frequencies."""

    input: Ref = ref("uint32 [size]: energies")
    weights: Ref = ref("int16 [weight_count], constant, 0 or more: for a channel")
    unweights: Ref = ref("int16 [weight_count], constant, 0 or more: for the one behind it")
    bands: Ref = ref("uint16 [channels + 1, 3], constant: first frequency and weight, and count")
    output: Ref = ref("uint64 [channels]")
    size: int = u32("frequencies")
    weight_count: int = u32("weights")
    channels: int = u32("channels; the first band belongs to none")


@dataclass(frozen=True)
class SignalSquareRoot(Struct):
    """SignalFilterBankSquareRoot: rounded roots, shifted down."""

    input: Ref = ref("uint64 [channels]")
    bits: Ref = ref("int32 [1]: counts modulo 32")
    output: Ref = ref("uint32 [channels]")
    channels: int = u32("numbers")


@dataclass(frozen=True)
class SignalSubtraction(Struct):
    """SignalFilterBankSpectralSubtraction: signals without their noise."""

    input: Ref = ref("uint32 [channels]")
    noise: Ref = ref("uint32 [channels]: state, written")
    output: Ref = ref("uint32 [channels]")
    channels: int = u32("signals")
    newest: tuple[int, ...] = array("u32", 2, "weight of the signal in even and odd channels")
    rest: tuple[int, ...] = array("u32", 2, "weight of the noise so far in those")
    least: int = u32("part of the signal that stays")
    noise_bits: int = u32("by which noise is finer than signals, at most 31")
    fraction_bits: int = u32("behind the point of weights, at most 63")
    is_clamped: int = u32("1: noise is never more than the signal")


@dataclass(frozen=True)
class SignalGain(Struct):
    """SignalPCAN: signals with the gain that their noise allows."""

    input: Ref = ref("uint32 [channels]")
    noise: Ref = ref("uint32 [channels]")
    gains: Ref = ref("int16 [125], constant: see numerics.sound.gained")
    output: Ref = ref("uint32 [channels]")
    channels: int = u32("signals")
    shift: int = u32("bits of a product that are dropped, at most 63")


@dataclass(frozen=True)
class SignalLog(Struct):
    """SignalFilterBankLog: natural logarithms times a scale."""

    input: Ref = ref("uint32 [channels]")
    points: Ref = ref("uint16 [129], constant: numerics.sound.log_points")
    output: Ref = ref("int16 [channels]")
    channels: int = u32("numbers")
    scale: int = u32("of the output")
    shift: int = u32("bits by which numbers are shifted up first, at most 31")


def _words(memory: Memory, source: Ref, count: int) -> NDArray[np.uint32]:
    return memory.load(source, np.uint32, (count,))


def _filter_bank(memory: Memory, p: SignalFilterBank) -> NDArray[np.uint64]:
    weights, unweights = (
        memory.load(source, np.int16, (p.weight_count,)) for source in (p.weights, p.unweights)
    )
    bands = memory.load(p.bands, np.int16, (p.channels + 1, 3))
    return sound.filtered(_words(memory, p.input, p.size), weights, unweights, bands)


def _square_root(memory: Memory, p: SignalSquareRoot) -> NDArray[np.uint32]:
    (bits,) = memory.load(p.bits, np.int32, (1,)).tolist()
    return sound.square_roots(memory.load(p.input, np.uint64, (p.channels,)), bits)


def _subtraction(memory: Memory, p: SignalSubtraction) -> NDArray[np.uint32]:
    how = sound.Smoothing(
        even=p.newest[0],
        odd=p.newest[1],
        even_rest=p.rest[0],
        odd_rest=p.rest[1],
        least=p.least,
        bits=p.noise_bits,
        fraction_bits=p.fraction_bits,
        is_clamped=bool(p.is_clamped),
    )
    signal, noise = (_words(memory, source, p.channels) for source in (p.input, p.noise))
    output, noise = sound.subtracted(signal, noise, how)
    raw = noise.astype("<u4").view(np.uint8)
    memory.scatter(p.noise, np.arange(raw.size, dtype=np.int64), raw)
    return output


def _gain(memory: Memory, p: SignalGain) -> NDArray[np.uint32]:
    signal, noise = (_words(memory, source, p.channels) for source in (p.input, p.noise))
    gains = memory.load(p.gains, np.int16, (sound.GAIN_ENTRIES,))
    return sound.gained(signal, noise, gains, p.shift)


def _log(memory: Memory, p: SignalLog) -> NDArray[np.int16]:
    return sound.logarithms(_words(memory, p.input, p.channels), p.scale, p.shift)


# Costs are those of a loud frame of speech, 40 channels.
KERNELS = (
    Declaration(
        kernel=Kernel.SIGNAL_FILTER_BANK,
        params=SignalFilterBank,
        reference=_filter_bank,
        is_on_demand=True,
        cost=Cost(step=300.0, output=40.0, unit=28.0),
        work=lambda p: Work(p.channels, p.weight_count),
    ),
    Declaration(
        kernel=Kernel.SIGNAL_SQUARE_ROOT,
        params=SignalSquareRoot,
        reference=_square_root,
        is_on_demand=True,
        cost=Cost(step=300.0, output=204.0),
        signal_cost=Cost(step=300.0, output=170.0),
        work=lambda p: Work(p.channels),
    ),
    Declaration(
        kernel=Kernel.SIGNAL_SUBTRACTION,
        params=SignalSubtraction,
        reference=_subtraction,
        is_on_demand=True,
        states=("noise",),
        cost=Cost(step=300.0, output=70.0),
        work=lambda p: Work(p.channels),
    ),
    Declaration(
        kernel=Kernel.SIGNAL_PCAN,
        params=SignalGain,
        reference=_gain,
        is_on_demand=True,
        cost=Cost(step=300.0, output=111.0),
        signal_cost=Cost(step=300.0, output=77.0),
        work=lambda p: Work(p.channels),
    ),
    Declaration(
        kernel=Kernel.SIGNAL_LOG,
        params=SignalLog,
        reference=_log,
        is_on_demand=True,
        cost=Cost(step=300.0, output=105.0),
        signal_cost=Cost(step=300.0, output=67.0),
        work=lambda p: Work(p.channels),
    ),
)

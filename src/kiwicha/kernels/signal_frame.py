"""Signal operators on a frame of sound: weights, scale, energies.

Notes
-----
Ref: signal/micro/kernels/{window,fft_auto_scale_kernel,energy}.cc in tflite-micro.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.layout import Ref, Struct, ref, u32
from kiwicha.contract.program import Kernel
from kiwicha.kernels.kernel import Cost, Declaration, Memory, Work
from kiwicha.numerics import sound

__all__ = [
    "KERNELS",
    "SignalEnergy",
    "SignalScale",
    "SignalScaleBits",
    "SignalTaper",
]


@dataclass(frozen=True)
class SignalTaper(Struct):
    """SignalWindow: samples times weights."""

    input: Ref = ref("int16 [rows, size]")
    weights: Ref = ref("int16 [size], constant")
    output: Ref = ref("int16 [rows, size]")
    rows: int = u32("frames")
    size: int = u32("samples of a frame")
    shift: int = u32("bits of a product that are dropped, at most 31")


@dataclass(frozen=True)
class SignalScaleBits(Struct):
    """SignalFftAutoScale, first part: by how many bits samples can be shifted up."""

    input: Ref = ref("int16 [size]")
    output: Ref = ref("int32 [1]")
    size: int = u32("samples")


@dataclass(frozen=True)
class SignalScale(Struct):
    """SignalFftAutoScale, second part: samples shifted up."""

    input: Ref = ref("int16 [size]")
    bits: Ref = ref("int32 [1]: counts modulo 32")
    output: Ref = ref("int16 [size]")
    size: int = u32("samples")


@dataclass(frozen=True)
class SignalEnergy(Struct):
    """SignalEnergy: squared magnitudes; 0 outside of what is asked for."""

    input: Ref = ref("int16 [size, 2]")
    output: Ref = ref("uint32 [size]")
    size: int = u32("frequencies")
    first: int = u32("first one that is asked for")
    end: int = u32("first one behind those")


def _taper(memory: Memory, p: SignalTaper) -> NDArray[np.int16]:
    samples = memory.load(p.input, np.int16, (p.rows, p.size))
    return sound.tapered(samples, memory.load(p.weights, np.int16, (p.size,)), p.shift)


def _scale_bits(memory: Memory, p: SignalScaleBits) -> NDArray[np.int32]:
    return np.array([sound.scale_bits(memory.load(p.input, np.int16, (p.size,)))], np.int32)


def _scale(memory: Memory, p: SignalScale) -> NDArray[np.int16]:
    (bits,) = memory.load(p.bits, np.int32, (1,)).tolist()
    samples = memory.load(p.input, np.int16, (p.size,)).astype(np.int64)
    scaled: NDArray[np.int16] = (samples << bits % 32).astype(np.int16)
    return scaled


def _energy(memory: Memory, p: SignalEnergy) -> NDArray[np.uint32]:
    return sound.energies(memory.load(p.input, np.int16, (p.size, 2)), p.first, p.end)


# Costs are those of a frame of speech, 480 samples.
KERNELS = (
    Declaration(
        kernel=Kernel.SIGNAL_TAPER,
        params=SignalTaper,
        reference=_taper,
        is_on_demand=True,
        cost=Cost(step=300.0, output=20.0),
        work=lambda p: Work(p.rows * p.size),
    ),
    Declaration(
        kernel=Kernel.SIGNAL_SCALE_BITS,
        params=SignalScaleBits,
        reference=_scale_bits,
        is_on_demand=True,
        cost=Cost(step=300.0, output=9.0),
        work=lambda p: Work(p.size),
    ),
    Declaration(
        kernel=Kernel.SIGNAL_SCALE,
        params=SignalScale,
        reference=_scale,
        is_in_place=True,
        is_on_demand=True,
        cost=Cost(step=300.0, output=4.3),
        work=lambda p: Work(p.size),
    ),
    Declaration(
        kernel=Kernel.SIGNAL_ENERGY,
        params=SignalEnergy,
        reference=_energy,
        is_on_demand=True,
        cost=Cost(step=300.0, output=15.5),
        work=lambda p: Work(p.size),
    ),
)

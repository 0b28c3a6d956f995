"""Signal operators on a frame of sound: weights, scale, Fourier transforms, energies.

Notes
-----
Ref: signal/micro/kernels/{window,fft_auto_scale_kernel,rfft,irfft,energy}.cc in tflite-micro.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.layout import Ref, Struct, ref, u32
from kiwicha.contract.program import Kernel
from kiwicha.kernels.kernel import Cost, Declaration, Memory, Work
from kiwicha.numerics import fourier, sound

__all__ = [
    "KERNELS",
    "SignalEnergy",
    "SignalScale",
    "SignalScaleBits",
    "SignalTaper",
    "SignalTransform",
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
class SignalTransform(Struct):
    """SignalRfft or SignalIrfft, of a power of two; half as many complex numbers are transformed.

    What the roots are is `kiwicha.numerics.fourier`.
    """

    input: Ref = ref("int16 [rows, samples], or of SignalIrfft [rows, 2 half + 2]")
    output: Ref = ref("int16 [rows, 2 half + 2], or of SignalIrfft [rows, 2 half]")
    twiddles: Ref = ref("int16 [half, 2], constant")
    super_twiddles: Ref = ref("int16 [half / 2, 2], constant")
    positions: Ref = ref("uint16 [half], constant: where numbers lie before the first stage")
    rows: int = u32("frames")
    samples: int = u32("of a frame in the input, at most 2 half; of SignalIrfft 2 half")
    half: int = u32("complex numbers of a transform, a power of two, 2 to 16384")


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


def _transform(memory: Memory, p: SignalTransform) -> NDArray[np.int16]:
    samples = memory.load(p.input, np.int16, (p.rows, p.samples))
    return fourier.real_transform(samples, 2 * p.half)


def _inverse_transform(memory: Memory, p: SignalTransform) -> NDArray[np.int16]:
    spectra = memory.load(p.input, np.int16, (p.rows, p.half + 1, 2))
    return fourier.inverse_real_transform(spectra, 2 * p.half)


def _energy(memory: Memory, p: SignalEnergy) -> NDArray[np.uint32]:
    return sound.energies(memory.load(p.input, np.int16, (p.size, 2)), p.first, p.end)


def _transform_work(p: SignalTransform) -> Work:
    numbers = p.rows * p.half
    return Work(numbers, numbers * len(fourier.stages(p.half)))


# Costs are those of a frame of speech, 480 samples.
KERNELS = (
    Declaration(
        kernel=Kernel.SIGNAL_TAPER,
        params=SignalTaper,
        reference=_taper,
        is_on_demand=True,
        cost=Cost(step=300.0, output=26.0),
        work=lambda p: Work(p.rows * p.size),
    ),
    Declaration(
        kernel=Kernel.SIGNAL_SCALE_BITS,
        params=SignalScaleBits,
        reference=_scale_bits,
        is_on_demand=True,
        cost=Cost(step=300.0, output=11.5),
        work=lambda p: Work(p.size),
    ),
    Declaration(
        kernel=Kernel.SIGNAL_SCALE,
        params=SignalScale,
        reference=_scale,
        is_in_place=True,
        is_on_demand=True,
        cost=Cost(step=300.0, output=11.5),
        work=lambda p: Work(p.size),
    ),
    Declaration(
        kernel=Kernel.SIGNAL_RFFT,
        params=SignalTransform,
        check="signal_rfft",
        reference=_transform,
        is_on_demand=True,
        cost=Cost(step=500.0, output=70.0, unit=38.0),
        work=_transform_work,
    ),
    Declaration(
        kernel=Kernel.SIGNAL_IRFFT,
        params=SignalTransform,
        check="signal_irfft",
        reference=_inverse_transform,
        is_on_demand=True,
        cost=Cost(step=500.0, output=70.0, unit=38.0),
        work=_transform_work,
    ),
    Declaration(
        kernel=Kernel.SIGNAL_ENERGY,
        params=SignalEnergy,
        reference=_energy,
        is_on_demand=True,
        cost=Cost(step=300.0, output=16.0),
        work=lambda p: Work(p.size),
    ),
)

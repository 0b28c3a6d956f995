"""Signal operators that transform frames of sound to spectra, and back.

Notes
-----
Ref: signal/micro/kernels/{rfft,irfft}.cc in tflite-micro.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.layout import Ref, Struct, ref, u32
from kiwicha.contract.program import Kernel
from kiwicha.kernels.kernel import Cost, Declaration, Memory, Work
from kiwicha.numerics import fourier

__all__ = ["KERNELS", "SignalTransform"]


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


def _transform(memory: Memory, p: SignalTransform) -> NDArray[np.int16]:
    samples = memory.load(p.input, np.int16, (p.rows, p.samples))
    return fourier.real_transform(samples, 2 * p.half)


def _inverse_transform(memory: Memory, p: SignalTransform) -> NDArray[np.int16]:
    spectra = memory.load(p.input, np.int16, (p.rows, p.half + 1, 2))
    return fourier.inverse_real_transform(spectra, 2 * p.half)


def _transform_work(p: SignalTransform) -> Work:
    numbers = p.rows * p.half
    return Work(numbers, numbers * len(fourier.stages(p.half)))


# Costs are those of a frame of speech, 480 samples.
KERNELS = (
    Declaration(
        kernel=Kernel.SIGNAL_RFFT,
        params=SignalTransform,
        check="signal_rfft",
        reference=_transform,
        is_on_demand=True,
        cost=Cost(step=400.0, output=57.0, unit=28.0),
        work=_transform_work,
    ),
    Declaration(
        kernel=Kernel.SIGNAL_IRFFT,
        params=SignalTransform,
        check="signal_irfft",
        reference=_inverse_transform,
        is_on_demand=True,
        cost=Cost(step=400.0, output=57.0, unit=28.0),
        work=_transform_work,
    ),
)

"""Frames of sound on the unit for them: from samples to the roots of what channels have."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.layout import Ref, Struct, ref, u32
from kiwicha.contract.program import Kernel
from kiwicha.kernels.kernel import Cost, Declaration, Memory, Work
from kiwicha.numerics import fourier, sound

__all__ = ["KERNELS", "UnitChannels"]


@dataclass(frozen=True)
class UnitChannels(Struct):
    """SignalWindow, SignalFftAutoScale, SignalRfft, SignalEnergy and the two of the filter bank."""

    input: Ref = ref("int16 [samples]")
    taper: Ref = ref("int16 [samples], constant: weights of samples")
    weights: Ref = ref("int16 [weight_count], constant, 0 or more: for a channel")
    unweights: Ref = ref("int16 [weight_count], constant, 0 or more: for the one behind it")
    bands: Ref = ref("uint16 [channels + 1, 3], constant: first frequency and weight, and count")
    output: Ref = ref("uint32 [channels]")
    samples: int = u32("of a frame, at most two for each point")
    shift: int = u32("bits of weighted samples that are dropped, at most 31")
    half_bits: int = u32("bits of the count of points, LEAST_HALF_BITS to MOST_HALF_BITS")
    weight_count: int = u32("weights of bands")
    channels: int = u32("channels; the first band belongs to none")


def _reference(memory: Memory, p: UnitChannels) -> NDArray[np.uint32]:
    def shorts(source: Ref, *shape: int) -> NDArray[np.int16]:
        return memory.load(source, np.int16, shape)

    samples = sound.tapered(shorts(p.input, p.samples), shorts(p.taper, p.samples), p.shift)
    bits = sound.scale_bits(samples)
    scaled = (samples.astype(np.int64) << bits).astype(np.int16)
    half = 1 << p.half_bits
    spectrum = fourier.real_transform(scaled[None], 2 * half)[0]
    sums = sound.filtered(
        sound.energies(spectrum, 0, half + 1),
        shorts(p.weights, p.weight_count),
        shorts(p.unweights, p.weight_count),
        shorts(p.bands, p.channels + 1, 3),
    )
    return sound.square_roots(sums, bits)


def _work(p: UnitChannels) -> Work:
    # A stage takes as many cycles as there are points; one of pairs, and the last one, twice those.
    half = 1 << p.half_bits
    stages = len(fourier.stages(half)) + p.half_bits % 2 + 2
    return Work(p.channels, p.samples // 2 + p.weight_count, half * stages)


# Costs are those of a frame of speech, 480 samples.
KERNELS = (
    Declaration(
        kernel=Kernel.UNIT_CHANNELS,
        params=UnitChannels,
        reference=_reference,
        is_on_demand=True,
        cost=Cost(step=500.0, output=30.0, unit=11.0, extra=1.0),
        work=_work,
    ),
)

"""Random models of signal operators that keep samples from one inference to the next."""

import numpy as np

from tests.support.models.signals import INT16, Make, SignalModel, Signals
from tests.support.programs.numbers import shorts

__all__ = ["STREAMS", "denoiser"]

_INFERENCES = 6


def framer(rng: np.random.Generator) -> Signals:
    """Give frames of several lines, as long as steps, shorter or longer."""
    model = SignalModel()
    step, size, frames = (int(rng.integers(1, most)) for most in (12, 40, 5))
    prefill = size >= step and bool(rng.integers(0, 2))
    lines = tuple(int(count) for count in rng.integers(1, 4, rng.integers(0, 3)))
    x = model.tensor((*lines, frames * step), np.int16)
    y, valid = model.tensor((*lines, frames, size), np.int16), model.tensor((), np.bool_)
    options = {"frame_size": size, "frame_step": step, "prefill": prefill}
    model.signal("SignalFramer", [x], [y, valid], **options)
    raw = model.build(inputs=[x], outputs=[y, valid])
    inputs = [(shorts(rng, *lines, frames * step),) for _ in range(_INFERENCES)]
    return Signals(raw, inputs, {0: 1})


def stacker(rng: np.random.Generator) -> Signals:
    """Give windows of frames around one."""
    model, channels = SignalModel(), int(rng.integers(1, 12))
    before, behind = (int(count) for count in rng.integers(0, 4, 2))
    stacked = before + 1 + behind
    x, y = (model.tensor((size,), np.int16) for size in (channels, channels * stacked))
    valid = model.tensor((), np.bool_)
    model.signal(
        "SignalStacker",
        *([x], [y, valid]),
        num_channels=channels,
        stacker_left_context=before,
        stacker_right_context=behind,
        stacker_step=int(rng.integers(1, stacked + 1)),
    )
    raw = model.build(inputs=[x], outputs=[y, valid])
    inputs = [(shorts(rng, channels),) for _ in range(2 * _INFERENCES)]
    return Signals(raw, inputs, {0: 1})


def delay(rng: np.random.Generator) -> Signals:
    """Give lines that come later, by more or less than an inference has, or not at all."""
    model = SignalModel()
    lines = tuple(int(count) for count in rng.integers(1, 4, rng.integers(0, 3)))
    shape = (*lines, int(rng.integers(1, 20)))
    x, y = (model.tensor(shape, np.int16) for _ in range(2))
    model.signal("SignalDelay", [x], [y], delay_length=int(rng.integers(0, 40)))
    raw = model.build(inputs=[x], outputs=[y])
    return Signals(raw, [(shorts(rng, *shape),) for _ in range(_INFERENCES)])


def overlaps(rng: np.random.Generator) -> Signals:
    """Give sums of frames that overlap, so loud that some saturate."""
    model, frames, size = SignalModel(), int(rng.integers(1, 4)), int(rng.integers(1, 40))
    step = size if rng.random() < 0.2 else int(rng.integers(1, size + 1))
    lines = tuple(int(count) for count in rng.integers(1, 4, rng.integers(0, 3)))
    shape = (*lines, frames, size)
    x, y = model.tensor(shape, np.int16), model.tensor((*lines, frames * step), np.int16)
    model.signal("SignalOverlapAdd", [x], [y], T=INT16, frame_step=step)
    raw = model.build(inputs=[x], outputs=[y])
    return Signals(raw, [(shorts(rng, *shape),) for _ in range(_INFERENCES)])


def denoiser(rng: np.random.Generator) -> Signals:
    """Give sound of which frequencies are made less, as denoisers do: frames there and back."""
    model, length = SignalModel(), int(2 ** rng.integers(3, 9))
    step, bins = length // int(2 ** rng.integers(1, 3)), length + 2
    x, frame = model.tensor((step,), np.int16), model.tensor((1, length), np.int16)
    options = {"frame_size": length, "frame_step": step, "prefill": True}
    model.signal("SignalFramer", [x], [frame, model.tensor((), np.bool_)], **options)
    weights = model.shorts((2**12 * np.sin(np.pi * (np.arange(length) + 0.5) / length)).round())
    tapered, scaled, again, back = (model.tensor((length,), np.int16) for _ in range(4))
    flat, bits = model.tensor((length,), np.int16), model.tensor((), np.int32)
    model.operator("RESHAPE", [frame], [flat], newShape=[length])
    model.signal("SignalWindow", [flat, weights], [tapered], shift=12)
    model.signal("SignalFftAutoScale", [tapered], [scaled, bits])
    found, less = (model.tensor((bins,), np.int16) for _ in range(2))
    model.signal("SignalRfft", [scaled], [found], T=INT16, fft_length=length)
    gains = model.shorts(rng.integers(0, 2**12, bins // 2).repeat(2))
    model.signal("SignalWindow", [found, gains], [less], shift=int(rng.integers(8, 13)))
    model.signal("SignalIrfft", [less], [back], T=INT16, fft_length=length)
    model.signal("SignalWindow", [back, weights], [again], shift=12)
    frames, y = model.tensor((1, length), np.int16), model.tensor((step,), np.int16)
    model.operator("RESHAPE", [again], [frames], newShape=[1, length])
    model.signal("SignalOverlapAdd", [frames], [y], T=INT16, frame_step=step)
    late = model.tensor((step,), np.int16)
    model.signal("SignalDelay", [x], [late], delay_length=length - step)
    raw = model.build(inputs=[x], outputs=[y, late])
    return Signals(raw, [(shorts(rng, step),) for _ in range(_INFERENCES)])


STREAMS: dict[str, Make] = {
    item.__name__: item for item in (framer, stacker, delay, overlaps, denoiser)
}
"""What is tried, by its name."""

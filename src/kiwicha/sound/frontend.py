"""The frontend for speech that micro_speech and microWakeWord take, as a model of its own.

It is compiled and executed as any other model, so that its cycles are those of the hardware. What
it gives equals audio_preprocessor_int8.tflite of tflite-micro, byte for byte.
"""

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.tflite.signal_operators import (
    ENERGY,
    FFT_AUTO_SCALE,
    FILTER_BANK,
    FILTER_BANK_LOG,
    PCAN,
    RFFT,
    SPECTRAL_SUBTRACTION,
    SQUARE_ROOT,
    TAPER,
)
from kiwicha.contract.sound import RATE_HZ
from kiwicha.custom import MODEL_PREFIX
from kiwicha.sound.filters import WEIGHT_BITS, bands, frame_weights, gains
from kiwicha.tflite_writer.builder import ModelBuilder

__all__ = ["CHANNELS", "FRAME_SAMPLES", "frames", "frontend_model"]

FRAME_SAMPLES = 480
"""30 ms."""
CHANNELS = 40
_LOWEST_HZ, _HIGHEST_HZ = 125.0, 7500.0
_FFT_BITS = 9
_FFT_LENGTH = 1 << _FFT_BITS
_FREQUENCIES = _FFT_LENGTH // 2 + 1
_FRACTION_BITS = 14
"""Behind the point of weights by which noise is followed."""
_NOISE_BITS = 10
_EVEN, _ODD, _LEAST = 0.025, 0.06, 0.05
_STRENGTH, _OFFSET, _GAIN_BITS = 0.95, 80.0, 21
_RATIO_BITS = 12
_CORRECTION_BITS = _FFT_BITS - WEIGHT_BITS // 2
"""By which transform and filters leave signals smaller than samples."""
_LOG_SCALE = 64
_OUTPUT_SCALE, _OUTPUT_DIVISOR = 256, 666
"""Features of 0 to 25.6 * 26 become bytes."""


def frontend_model() -> bytes:
    """Return the model: int16 [1, FRAME_SAMPLES] to int8 [CHANNELS]."""
    model = ModelBuilder("frontend for speech")

    def constant(values: NDArray[np.generic] | int, dtype: type[np.generic] = np.int32) -> int:
        data = np.asarray(values, dtype)
        return model.tensor(data.shape, dtype, data=data)

    def signal(name: str, inputs: list[int], outputs: list[int], **options: int | bool) -> None:
        model.operator(MODEL_PREFIX + name, inputs, outputs, **options)

    def channels(dtype: type[np.generic]) -> int:
        return model.tensor((CHANNELS,), dtype)

    def weight(part: float) -> int:
        return int(part * (1 << _FRACTION_BITS))

    heard = bands(CHANNELS, _LOWEST_HZ, _HIGHEST_HZ, RATE_HZ, _FREQUENCIES)
    samples = model.tensor((1, FRAME_SAMPLES), np.int16, name="samples")
    tapered = model.tensor((1, FRAME_SAMPLES), np.int16)
    weights = constant(frame_weights(FRAME_SAMPLES), np.int16)
    signal(TAPER, [samples, weights], [tapered], shift=WEIGHT_BITS)
    flat = model.tensor((FRAME_SAMPLES,), np.int16)
    model.operator("RESHAPE", [tapered, constant(np.array([-1]))], [flat])
    scaled, bits = model.tensor((FRAME_SAMPLES,), np.int16), model.tensor((), np.int32)
    signal(FFT_AUTO_SCALE, [flat], [scaled, bits])
    spectrum = model.tensor((2 * _FREQUENCIES,), np.int16)
    signal(RFFT, [scaled], [spectrum], T=7, fft_length=_FFT_LENGTH)
    energies = model.tensor((_FREQUENCIES,), np.uint32)
    signal(ENERGY, [spectrum], [energies], start_index=0, end_index=_FREQUENCIES)
    parts = [heard.weights, heard.unweights]
    parts += [heard.frequency_starts, heard.weight_starts, heard.widths]
    sums = channels(np.uint64)
    operands = [energies, *(constant(part, np.int16) for part in parts)]
    signal(FILTER_BANK, operands, [sums], num_channels=CHANNELS)
    roots, clean, noise, gained = (channels(np.uint32) for _ in range(4))
    signal(SQUARE_ROOT, [sums, bits], [roots])
    signal(
        SPECTRAL_SUBTRACTION,
        [roots],
        [clean, noise],
        num_channels=CHANNELS,
        smoothing=weight(_EVEN),
        one_minus_smoothing=(1 << _FRACTION_BITS) - weight(_EVEN),
        alternate_smoothing=weight(_ODD),
        alternate_one_minus_smoothing=(1 << _FRACTION_BITS) - weight(_ODD),
        min_signal_remaining=weight(_LEAST),
        smoothing_bits=_NOISE_BITS,
        spectral_subtraction_bits=_FRACTION_BITS,
        clamping=False,
    )
    table = gains(_STRENGTH, _OFFSET, _GAIN_BITS, _NOISE_BITS - _CORRECTION_BITS)
    shift = _GAIN_BITS - _CORRECTION_BITS - _RATIO_BITS
    signal(PCAN, [clean, noise, constant(table, np.int16)], [gained], snr_shift=shift)
    logarithms = channels(np.int16)
    log_options = {"output_scale": _LOG_SCALE, "input_correction_bits": _CORRECTION_BITS}
    signal(FILTER_BANK_LOG, [gained], [logarithms], **log_options)
    last = channels(np.int32)
    model.operator("CAST", [logarithms], [last])
    for name, value in (
        ("MUL", _OUTPUT_SCALE),
        ("ADD", _OUTPUT_DIVISOR // 2),
        ("DIV", _OUTPUT_DIVISOR),
        ("ADD", -128),
        ("MINIMUM", 127),
        ("MAXIMUM", -128),
    ):
        source, last = last, channels(np.int32)
        model.operator(name, [source, constant(value)], [last])
    features = model.tensor((CHANNELS,), np.int8, name="features")
    model.operator("CAST", [last], [features])
    return model.build(inputs=[samples], outputs=[features])


def frames(samples: NDArray[np.int16], step_samples: int) -> NDArray[np.int16]:
    """Return all whole frames of a recording, int16 [n, 1, FRAME_SAMPLES], a step apart."""
    if len(samples) < FRAME_SAMPLES:
        return np.zeros((0, 1, FRAME_SAMPLES), np.int16)
    every = np.lib.stride_tricks.sliding_window_view(samples, FRAME_SAMPLES)
    return np.ascontiguousarray(every[::step_samples, None])

"""Random models of signal operators, with int32 at their edges where these have uint32."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.custom import MODEL_PREFIX
from kiwicha.sound.filters import Bands, bands, gains
from tests.support.models.tflite_builder import ModelBuilder
from tests.support.programs.numbers import shorts, words

__all__ = ["INFERENCES", "INT16", "SIGNALS", "Make", "SignalModel", "Signals", "roots"]

Make = Callable[[np.random.Generator], "Signals"]
INT16 = 7
"""Of the schema's types."""
INFERENCES = 4


@dataclass(frozen=True, eq=False)
class Signals:
    """A model, and inputs for inferences in a row.

    Frames that the flag of their output says are missing are 0; the interpreter leaves them as they
    were.
    """

    model: bytes
    inputs: list[tuple[NDArray[Any], ...]]
    flags: Mapping[int, int] = field(default_factory=dict)
    """Outputs whose frames can be missing, and their flags among the outputs."""


class SignalModel(ModelBuilder):
    """Collects signal operators, and casts at the edges of a model."""

    def signal(self, name: str, inputs: list[int], outputs: list[int], **options: Any) -> None:
        """Add a signal operator."""
        self.operator(MODEL_PREFIX + name, inputs, outputs, **options)

    def unsigned(self, source: int, *shape: int) -> int:
        """Give an int32 tensor as uint32."""
        word = self.tensor(shape, np.uint32)
        self.operator("CAST", [source], [word])
        return word

    def signed(self, word: int, *shape: int) -> int:
        """Give a uint32 tensor as int32."""
        output = self.tensor(shape, np.int32)
        self.operator("CAST", [word], [output])
        return output

    def shorts(self, values: NDArray[Any]) -> int:
        """Give a constant of int16."""
        return self.tensor(values.shape, np.int16, data=values.astype(np.int16))


def _sets(make: Callable[[], tuple[NDArray[Any], ...]]) -> list[tuple[NDArray[Any], ...]]:
    return [make() for _ in range(INFERENCES)]


def _ints(rng: np.random.Generator, *shape: int) -> NDArray[np.int32]:
    return words(rng, *shape).astype(np.uint32).view(np.int32)


def spectrum(rng: np.random.Generator) -> Signals:
    """Give samples times weights, scaled and transformed, and the energies of that."""
    model, length = SignalModel(), int(2 ** rng.integers(2, 10))
    size = int(rng.integers(2, length + 1))
    x, tapered, scaled = (model.tensor((size,), np.int16) for _ in range(3))
    weights = model.shorts(shorts(rng, size))
    model.signal("SignalWindow", [x, weights], [tapered], shift=int(rng.integers(0, 16)))
    bits = model.tensor((), np.int32)
    model.signal("SignalFftAutoScale", [tapered], [scaled, bits])
    found = model.tensor((length + 2,), np.int16)
    model.signal("SignalRfft", [scaled], [found], T=INT16, fft_length=length)
    count = length // 2 + 1
    energies = model.tensor((count,), np.uint32)
    model.signal("SignalEnergy", [found], [energies], start_index=0, end_index=count)
    outputs = [tapered, scaled, bits, found, model.signed(energies, count)]
    raw = model.build(inputs=[x], outputs=outputs)
    return Signals(raw, _sets(lambda: (shorts(rng, size),)))


def inverse(rng: np.random.Generator) -> Signals:
    """Give rows of spectra, and the samples that they are of."""
    model, length, rows = SignalModel(), int(2 ** rng.integers(2, 10)), int(rng.integers(1, 4))
    x = model.tensor((rows, length + 2), np.int16)
    y, z = model.tensor((rows, length), np.int16), model.tensor((rows, length + 2), np.int16)
    model.signal("SignalIrfft", [x], [y], T=INT16, fft_length=length)
    model.signal("SignalRfft", [y], [z], T=INT16, fft_length=length)
    raw = model.build(inputs=[x], outputs=[y, z])
    return Signals(raw, _sets(lambda: (shorts(rng, rows, length + 2),)))


def channels(rng: np.random.Generator) -> Signals:
    """Give energies, filtered to channels, and their roots, up to one that saturates."""
    model, count, size = SignalModel(), int(rng.integers(1, 41)), 257
    heard = bands(count, 125.0, 7500.0, 16000, size)
    x, samples = model.tensor((size,), np.int32), model.tensor((4,), np.int16)
    scaled, bits = model.tensor((4,), np.int16), model.tensor((), np.int32)
    model.signal("SignalFftAutoScale", [samples], [scaled, bits])
    parts = (heard.weights, heard.unweights, heard.frequency_starts)
    operands = [model.shorts(part) for part in (*parts, heard.weight_starts, heard.widths)]
    sums, roots = model.tensor((count,), np.uint64), model.tensor((count,), np.uint32)
    word = model.unsigned(x, size)
    model.signal("SignalFilterBank", [word, *operands], [sums], num_channels=count)
    model.signal("SignalFilterBankSquareRoot", [sums, bits], [roots])
    raw = model.build(inputs=[x, samples], outputs=[model.signed(roots, count)])
    inputs = _sets(lambda: (_ints(rng, size), shorts(rng, 4)))
    inputs[-1] = (_just_below(2**32, heard, rng, size), shorts(rng, 4))
    return Signals(raw, inputs)


def _just_below(limit: int, heard: Bands, rng: np.random.Generator, size: int) -> NDArray[np.int32]:
    """Give energies of which one channel finds so little less than a limit, one weight at most."""
    energies = np.zeros(size, np.uint32)
    band = int(rng.integers(1, len(heard.widths)))
    first = heard.weight_starts[band]
    weights = heard.weights[first : first + heard.widths[band]]
    place = int(np.argmax(weights))
    energies[heard.frequency_starts[band] + place] = (limit - 1) // max(int(weights[place]), 1)
    return energies.view(np.int32)


def noise(rng: np.random.Generator) -> Signals:
    """Give signals whose noise is followed from one inference to the next."""
    model, count = SignalModel(), int(rng.integers(1, 41))
    x = model.tensor((count,), np.int32)
    clean, estimate = (model.tensor((count,), np.uint32) for _ in range(2))
    names = ("smoothing", "alternate_smoothing")
    even, odd = (int(value) for value in rng.integers(0, 2**14, 2))
    model.signal(
        "SignalFilterBankSpectralSubtraction",
        [model.unsigned(x, count)],
        [clean, estimate],
        num_channels=count,
        **dict(zip(names, (even, odd), strict=True)),
        one_minus_smoothing=2**14 - even,
        alternate_one_minus_smoothing=2**14 - odd,
        min_signal_remaining=int(rng.integers(0, 2**14)),
        smoothing_bits=int(rng.integers(0, 11)),
        spectral_subtraction_bits=14,
        clamping=bool(rng.integers(0, 2)),
    )
    outputs = [model.signed(clean, count), model.signed(estimate, count)]
    raw = model.build(inputs=[x], outputs=outputs)
    return Signals(raw, _sets(lambda: (_ints(rng, count),)))


def levels(rng: np.random.Generator) -> Signals:
    """Give signals with a gain by their noise, and logarithms of that."""
    model, count = SignalModel(), int(rng.integers(1, 41))
    x, y = (model.tensor((count,), np.int32) for _ in range(2))
    gained, logarithms = model.tensor((count,), np.uint32), model.tensor((count,), np.int16)
    table = model.shorts(gains(0.95, float(rng.uniform(1, 100)), 21, int(rng.integers(0, 11))))
    operands = [model.unsigned(x, count), model.unsigned(y, count), table]
    model.signal("SignalPCAN", operands, [gained], snr_shift=int(rng.integers(0, 16)))
    model.signal(
        "SignalFilterBankLog",
        [gained],
        [logarithms],
        output_scale=int(rng.integers(1, 2**12)),
        input_correction_bits=int(rng.integers(0, 8)),
    )
    raw = model.build(inputs=[x, y], outputs=[model.signed(gained, count), logarithms])
    return Signals(raw, _sets(lambda: (_ints(rng, count), _ints(rng, count))))


def roots(rng: np.random.Generator, shown: str = "") -> Signals:
    """Give frames, from samples to the roots of channels; a tensor between may be shown as well."""
    model, length = SignalModel(), int(2 ** rng.integers(6, 11))
    size, count = int(rng.integers(length // 2, length + 1)), length // 2 + 1
    number = int(rng.integers(1, 1 + length // 16))
    heard = bands(number, 125.0, 6000.0, 16000, count)
    between = {
        "tapered": model.tensor((size,), np.int16),
        "scaled": model.tensor((size,), np.int16),
        "bits": model.tensor((), np.int32),
        "spectrum": model.tensor((length + 2,), np.int16),
    }
    tapered, scaled, bits, found = between.values()
    x, weights = model.tensor((size,), np.int16), model.shorts(shorts(rng, size))
    model.signal("SignalWindow", [x, weights], [tapered], shift=int(rng.integers(0, 16)))
    model.signal("SignalFftAutoScale", [tapered], [scaled, bits])
    model.signal("SignalRfft", [scaled], [found], T=INT16, fft_length=length)
    energies, sums = model.tensor((count,), np.uint32), model.tensor((number,), np.uint64)
    model.signal("SignalEnergy", [found], [energies], start_index=0, end_index=count)
    parts = (heard.weights, heard.unweights, heard.frequency_starts)
    operands = [model.shorts(part) for part in (*parts, heard.weight_starts, heard.widths)]
    model.signal("SignalFilterBank", [energies, *operands], [sums], num_channels=number)
    word = model.tensor((number,), np.uint32)
    model.signal("SignalFilterBankSquareRoot", [sums, bits], [word])
    outputs = [model.signed(word, number), *([between[shown]] if shown else [])]
    raw = model.build(inputs=[x], outputs=outputs)
    return Signals(raw, _sets(lambda: (shorts(rng, size),)))


SIGNALS: dict[str, Make] = {
    item.__name__: item for item in (spectrum, inverse, channels, noise, levels, roots)
}
"""What is tried, by its name."""

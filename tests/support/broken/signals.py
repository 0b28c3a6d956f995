"""Signal operators that break a rule each."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from kiwicha.custom import MODEL_PREFIX
from tests.support.models.tflite_builder import ModelBuilder

__all__ = ["BROKEN_SIGNALS"]


def _model(
    name: str, inputs: list[dict[str, Any]], outputs: list[dict[str, Any]], **options: Any
) -> bytes:
    model = ModelBuilder()
    sources, results = ([model.tensor(**item) for item in items] for items in (inputs, outputs))
    model.operator(MODEL_PREFIX + name, sources, results, **options)
    computed = [k for k, item in zip(sources, inputs, strict=True) if "data" not in item]
    return model.build(inputs=computed, outputs=results)


def _is(*shape: int, dtype: type[np.generic] = np.int16) -> dict[str, Any]:
    return {"shape": shape, "dtype": dtype}


def _constant(values: list[int]) -> dict[str, Any]:
    return {**_is(len(values)), "data": np.array(values, np.int16)}


def _bank(
    size: int = 8, weight: int = 1, starts: tuple[int, int] = (0, 2), widths: int = 2
) -> bytes:
    parts = [[weight] * 4, [1] * 4, list(starts), [0, 2], [2, widths]]
    return _model(
        "SignalFilterBank",
        [_is(size, dtype=np.uint32), *map(_constant, parts)],
        [_is(1, dtype=np.uint64)],
        num_channels=1,
    )


def _framer(outputs: list[dict[str, Any]], prefill: bool = False, **options: int) -> bytes:
    flagged = [*outputs, _is(dtype=np.bool_)]
    return _model("SignalFramer", [_is(8)], flagged, prefill=prefill, **options)


def _stacker(outputs: list[dict[str, Any]], **options: int) -> bytes:
    usual = {"num_channels": 2, "stacker_left_context": 0, "stacker_right_context": 1}
    flagged = [*outputs, _is(dtype=np.bool_)]
    return _model("SignalStacker", [_is(2)], flagged, **{**usual, "stacker_step": 1, **options})


def _of(name: str) -> str:
    return f"operator 0 {MODEL_PREFIX}{name}: "


def _edge(tensor: int, what: str = "output", kind: str = "uint32") -> str:
    """Give what is said besides: such a type is none of a model's edges."""
    types = "int8 or uint8 or float32 or int32 or int64 or int16 or bool"
    return f"; model (t{tensor}): model {what} must be {types}, not {kind}"


_RFFT = partial(_model, "SignalRfft", [_is(8)])
_BANK_EDGES = _edge(0, "input") + _edge(6, kind="uint64")
_PAIR_EDGES = _edge(0, "input") + _edge(1, "input") + _edge(3)
_FRAMES = {"frame_size": 4, "frame_step": 4, "prefill": False}
_TAPER, _BANK = _of("SignalWindow"), _of("SignalFilterBank")

BROKEN_SIGNALS: list[tuple[Callable[[], bytes], str]] = [
    (
        partial(_model, "SignalWindow", [_is(8)], [_is(8)], shift=12),
        f"{_TAPER}number of inputs must be 2, not 1",
    ),
    (
        partial(_model, "SignalWindow", [_is(8), _constant([1] * 4)], [_is(8)], shift=12),
        f"{_TAPER}weights must be as many as samples of a frame, 8, not 4",
    ),
    (
        partial(_model, "SignalWindow", [_is(8), _is(8)], [_is(8)], shift=12),
        f"{_TAPER[:-2]} (t1): weights must be a constant, not computed",
    ),
    (
        partial(_model, "SignalWindow", [_is(2), _constant([1, 2])], [_is(2)], shift=32),
        f"{_TAPER}shift must be 0 to 31, not 32",
    ),
    (
        partial(_RFFT, [_is(14)], fft_length=12, T=7),
        f"{_of('SignalRfft')}fft_length must be a power of two, not 12",
    ),
    (
        partial(_RFFT, [_is(6)], fft_length=4, T=7),
        f"{_of('SignalRfft')}frame must have at most fft_length samples, 4, not 8",
    ),
    (
        partial(_RFFT, [_is(18, dtype=np.int32)], fft_length=16, T=7),
        f"{_of('SignalRfft')[:-2]} (t1): output must be int16, not int32",
    ),
    (
        partial(_RFFT, [_is(17)], fft_length=16, T=7),
        f"{_of('SignalRfft')}output must have shape [18], not [17]",
    ),
    (
        partial(_model, "SignalIrfft", [_is(8)], [_is(8)], fft_length=8, T=7),
        f"{_of('SignalIrfft')}frame must have fft_length + 2 numbers, 10, not 8",
    ),
    (
        partial(
            *(_model, "SignalEnergy", [_is(8)], [_is(4, dtype=np.uint32)]),
            start_index=3,
            end_index=5,
        ),
        (
            f"{_of('SignalEnergy')}start_index and end_index must ascend up to the 4 frequencies, "
            f"not be 3 and 5{_edge(1)}"
        ),
    ),
    (partial(_bank, weight=-1), f"{_BANK}weights must be 0 or more, not -1{_BANK_EDGES}"),
    (
        partial(_bank, starts=(0, 7)),
        f"{_BANK}frequencies of channel 1 must be among 8, not 7 to 9{_BANK_EDGES}",
    ),
    (
        partial(_bank, widths=3),
        f"{_BANK}weights of channel 1 must be among 4, not 2 to 5{_BANK_EDGES}",
    ),
    (
        partial(
            *(_model, "SignalPCAN"),
            [_is(2, dtype=np.uint32), _is(2, dtype=np.uint32), _constant([1] * 124)],
            [_is(2, dtype=np.uint32)],
            snr_shift=6,
        ),
        f"{_of('SignalPCAN')}gains must be 125, not 124{_PAIR_EDGES}",
    ),
    (
        partial(_framer, [_is(1, 3, 4)], frame_size=4, frame_step=3),
        f"{_of('SignalFramer')}input must have whole steps of 3 samples, not 8",
    ),
    (
        partial(_framer, [_is(1, 2)], frame_size=2, frame_step=8, prefill=True),
        f"{_of('SignalFramer')}frame_size must be frame_step or more with a prefill, 8, not 2",
    ),
    (
        partial(_framer, [_is(8, 4)], frame_size=40_000, frame_step=1),
        f"{_of('SignalFramer')}frame_size must be at most 32768 steps of 1, not 40000",
    ),
    (
        partial(_framer, [_is(4, 4)], frame_size=4, frame_step=4),
        f"{_of('SignalFramer')}output must have shape [2, 4], not [4, 4]",
    ),
    (
        partial(_model, "SignalFramer", [_is(8)], [_is(2, 4)], **_FRAMES),
        f"{_of('SignalFramer')}number of outputs must be 2, not 1",
    ),
    (
        partial(_model, "SignalFramer", [_is(8)], [_is(2, 4), _is(1, dtype=np.bool_)], **_FRAMES),
        f"{_of('SignalFramer')[:-2]} (t2): validity must have 0 dimensions, not 1",
    ),
    (
        partial(_stacker, [_is(4)], num_channels=4),
        f"{_of('SignalStacker')}input must have num_channels elements, 4, not 2",
    ),
    (
        partial(_stacker, [_is(4)], stacker_step=3),
        f"{_of('SignalStacker')}stacker_step must be at most the frames of the output, 2, not 3",
    ),
    (
        partial(_stacker, [_is(4)], stacker_left_context=40_000),
        f"{_of('SignalStacker')}frames of the output must be at most 32767, not 40002",
    ),
    (
        partial(_stacker, [_is(5)]),
        f"{_of('SignalStacker')}output must have shape [4], not [5]",
    ),
    (
        partial(_model, "SignalDelay", [_is(8)], [_is(8)], delay_length=2**20 + 1),
        f"{_of('SignalDelay')}delay_length must be 0 to 1048576, not 1048577",
    ),
    (
        partial(_model, "SignalOverlapAdd", [_is(8)], [_is(8)], frame_step=4),
        f"{_of('SignalOverlapAdd')}input must have 2 dimensions or more, not 1",
    ),
    (
        partial(_model, "SignalOverlapAdd", [_is(2, 8)], [_is(18)], frame_step=9),
        f"{_of('SignalOverlapAdd')}frame_step must be at most the samples of a frame, 8, not 9",
    ),
    (
        partial(_model, "SignalOverlapAdd", [_is(2, 8)], [_is(16)], frame_step=4),
        f"{_of('SignalOverlapAdd')}output must have shape [8], not [16]",
    ),
]

"""Signal operators that keep samples: frames of a line of sound, and lines of frames.

Notes
-----
Ref: signal/micro/kernels/{framer,stacker,delay,overlap_add}.cc in tflite-micro.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.layout import Ref, Struct, ref, u32
from kiwicha.contract.program import Kernel
from kiwicha.kernels.kernel import Cost, Declaration, Memory, Work
from kiwicha.numerics.framing import Framing, Line, framed, overlap_added

__all__ = ["COUNTS", "KERNELS", "VALID", "SignalFrames", "SignalOverlapAdd"]

COUNTS = 3
"""Numbers of SignalFrames.state behind its samples: frames that are missing before the next one
that is given, 1 before the first call, and 1 if the last call gave all its frames."""
VALID = 2
"""Which of them says the latter."""


@dataclass(frozen=True)
class SignalFrames(Struct):
    """SignalFramer, SignalStacker and SignalDelay: frames of what is kept and the input behind it.

    What they compute is `kiwicha.numerics.framing.framed`.
    """

    input: Ref = ref("int16 [rows, frames * step]")
    output: Ref = ref("int16 [rows, frames, size]")
    state: Ref = ref("int16 [rows * kept + 3]: samples of each row, and counts; state, written")
    rows: int = u32("lines of samples")
    frames: int = u32("frames of a row in a call")
    step: int = u32("samples from the beginning of a frame to that of the next one")
    size: int = u32("samples of a frame, at most kept + step")
    kept: int = u32("samples of a row that are kept")
    period: int = u32("every so many frames one is given, 1 to 32768")
    copies: int = u32("of the first frame before itself, of as many steps as are kept at most")


@dataclass(frozen=True)
class SignalOverlapAdd(Struct):
    """SignalOverlapAdd: sums of frames that overlap."""

    input: Ref = ref("int16 [rows, frames, size]")
    output: Ref = ref("int16 [rows, frames * step]")
    sums: Ref = ref("int16 [rows, size - step]: behind the output; state, written")
    rows: int = u32("lines of samples")
    frames: int = u32("frames of a row")
    step: int = u32("samples from the beginning of a frame to that of the next one")
    size: int = u32("samples of a frame, more than a step")


def _frames(memory: Memory, p: SignalFrames) -> NDArray[np.int16]:
    samples = memory.load(p.input, np.int16, (p.rows, p.frames * p.step))
    numbers = memory.load(p.state, np.int16, (p.rows * p.kept + COUNTS,))
    missing, is_new, _ = numbers[-COUNTS:].tolist()
    line = Line(numbers[:-COUNTS].reshape(p.rows, p.kept), missing, bool(is_new))
    how = Framing(p.frames, p.step, p.size, p.period, p.copies)
    output, line, is_valid = framed(samples, line, how)
    counts = np.array([line.missing, line.is_new, is_valid])
    _keep(memory, p.state, np.concatenate([line.kept.reshape(-1), counts]))
    return output


def _overlap_add(memory: Memory, p: SignalOverlapAdd) -> NDArray[np.int16]:
    frames = memory.load(p.input, np.int16, (p.rows, p.frames, p.size))
    sums = memory.load(p.sums, np.int16, (p.rows, p.size - p.step))
    output, sums = overlap_added(frames, sums, p.step)
    _keep(memory, p.sums, sums)
    return output


def _keep(memory: Memory, state: Ref, numbers: NDArray[np.int_] | NDArray[np.int16]) -> None:
    raw = np.ascontiguousarray(numbers.astype("<i2")).reshape(-1).view(np.uint8)
    memory.scatter(state, np.arange(raw.size, dtype=np.int64), raw)


def _overlap_work(p: SignalOverlapAdd) -> Work:
    frames = p.rows * p.frames
    return Work(frames * (p.size - p.step), frames * p.step, frames)


# Costs are those of frames of which none is missing, 128 to 512 samples long; that of SIGNAL_FRAMES
# has the copy of its flag in it.
KERNELS = (
    Declaration(
        kernel=Kernel.SIGNAL_FRAMES,
        params=SignalFrames,
        reference=_frames,
        is_on_demand=True,
        states=("state",),
        cost=Cost(step=1200.0, output=5.2, unit=3.5),
        work=lambda p: Work(p.rows * p.frames * p.size, p.rows * p.kept),
    ),
    Declaration(
        kernel=Kernel.SIGNAL_OVERLAP_ADD,
        params=SignalOverlapAdd,
        reference=_overlap_add,
        is_on_demand=True,
        states=("sums",),
        cost=Cost(step=500.0, output=17.5, unit=5.6, extra=168.0),
        work=_overlap_work,
    ),
)

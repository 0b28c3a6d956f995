"""Ways to divide the outputs of a convolution in patches, and its kernel in parts."""

from collections.abc import Iterator
from dataclasses import dataclass

from kiwicha.compiler.engine.codegen.streams import group_count, group_words, stream_bytes
from kiwicha.compiler.engine.cost.job_work import JOB_CYCLES
from kiwicha.compiler.engine.ir.plan import MAX_REGION_JOBS
from kiwicha.compiler.engine.ir.window import padded
from kiwicha.compiler.engine.ir.window_operations import Convolution
from kiwicha.compiler.engine.schedule.blocks.kernel_parts import (
    KernelPart,
    Patch,
    series_of,
    ways_to_divide,
)
from kiwicha.contract.cfu import ALIGNMENT_BYTES
from kiwicha.contract.configs import Config
from kiwicha.contract.engine import MAX_KEPT_SUMS, MAX_U16, OUTPUT_BYTES, outputs_of
from kiwicha.program.weight_streams import channels_per_group

__all__ = ["Patchwork", "patchworks"]

MOST_BLOCKS = 32
"""Of columns, or of output channels, that are tried."""
MOST_TRANSFERS = 32768
"""Of a list: more are possible, but take long to compile."""
_ROWS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 128, 256)


@dataclass(frozen=True)
class Patchwork:
    """Patches of a convolution's outputs, and parts of its kernel.

    Parameters
    ----------
    whole : Convolution
        All of it.
    parts : tuple of KernelPart
        The kernel.
    rows, columns, channels : int
        Outputs of a patch, at most.
    cycles : float
        About what it takes.
    """

    whole: Convolution
    parts: tuple[KernelPart, ...]
    rows: int
    columns: int
    channels: int
    cycles: float

    def patches(self) -> Iterator[Patch]:
        """Yield all patches; those of the same pixels follow each other."""
        window = self.whole.window
        rows, columns = range(window.image_rows), range(window.output_columns)
        channels = range(self.whole.output_channels)
        for image in range(window.images):
            for row in rows[:: self.rows]:
                for column in columns[:: self.columns]:
                    for channel in channels[:: self.channels]:
                        yield Patch(
                            image,
                            rows[row : row + self.rows],
                            columns[column : column + self.columns],
                            channels[channel : channel + self.channels],
                        )


def patchworks(whole: Convolution, config: Config) -> Iterator[Patchwork]:
    """Yield ways whose buffers may fit the scratchpad.

    Parameters
    ----------
    whole : Convolution
        All of it.
    config : Config
        With an engine.
    """
    window = whole.window
    unit = channels_per_group(config.engine_macs, whole.kind, whole.flags)
    heights = sorted({min(rows, window.image_rows) for rows in _ROWS})
    widths = _sizes(window.output_columns, 1)
    for parts in ways_to_divide(whole):
        for channels in _sizes(whole.output_channels, max(unit, 2 * OUTPUT_BYTES)):
            work = _Work.of(whole, parts, channels, config)
            for width in widths:
                for height in heights:
                    cycles = _cycles(work, height, width)
                    if cycles is not None:
                        yield Patchwork(whole, parts, height, width, channels, cycles)


def _sizes(count: int, unit: int) -> list[int]:
    """Return sizes of blocks of about the same size, multiples of a unit but for all at once."""
    blocks = range(1, min(MOST_BLOCKS, count) + 1)
    return sorted({min(-(-count // (k * unit)) * unit, count) for k in blocks})


@dataclass(frozen=True)
class _Work:
    """What the jobs of a patch take.

    Parameters
    ----------
    whole : Convolution
        All of it.
    parts : tuple of KernelPart
        The kernel.
    channels : int
        Outputs of a patch.
    config : Config
        With an engine.
    pixel_cycles : float
        Of each pixel.
    weight_bytes : int
        Of all weight streams.
    """

    whole: Convolution
    parts: tuple[KernelPart, ...]
    channels: int
    config: Config
    pixel_cycles: float
    weight_bytes: int

    @classmethod
    def of(
        cls, whole: Convolution, parts: tuple[KernelPart, ...], channels: int, config: Config
    ) -> "_Work":
        """Return the work of a patch of so many channels."""
        macs = config.engine_macs
        beats = channels_per_group(macs, whole.kind, whole.flags) // outputs_of(macs)
        interval = beats * config.requantizer_cycles
        cycles, size = 0.0, 0
        # The first chunk of a part of each size stands for others.
        known: dict[tuple[int, int, int], tuple[int, int]] = {}
        for part in parts:
            for chunk in part.chunks:
                key = (chunk[2].stop - chunk[2].start, len(part.columns), len(part.channels))
                if key not in known:
                    (item,) = series_of(whole, range(channels), [chunk])
                    words = group_words(item, macs, len(part.channels))
                    groups = group_count(item, macs)
                    known[key] = (
                        groups * max(words, interval),
                        stream_bytes(item, macs, len(part.channels)),
                    )
                cycles += known[key][0]
                size += known[key][1]
        return cls(whole, parts, channels, config, cycles, size)


def _cycles(work: _Work, height: int, width: int) -> float | None:
    """Return about what patches of such a size take; None if they are too large."""
    whole, config, window = work.whole, work.config, work.whole.window
    pixels, jobs = height * width, sum(len(part.chunks) for part in work.parts)
    if jobs > 1 and pixels * padded(work.channels) > MAX_KEPT_SUMS:
        return None
    sizes = []
    loads = 0
    for part in work.parts:
        reach = (len(part.columns) - 1) * window.dilation_columns + 1
        columns = min((width - 1) * window.stride_columns + reach, window.input_columns)
        row_bytes = columns * len(part.channels)
        if max(row_bytes, window.stride_columns * len(part.channels)) > MAX_U16:
            return None
        is_one = columns == window.input_columns and window.stride_rows == 1
        is_one = is_one and len(part.channels) == window.channels
        loads += 1 if is_one or height == 1 else height
        sizes.append(height * (row_bytes + ALIGNMENT_BYTES))
    stored = height * (width * padded(whole.output_channels) + ALIGNMENT_BYTES)
    if 2 * (max(sizes) + stored) > config.scratchpad_bytes:
        return None
    across = -(-window.image_rows // height) * -(-window.output_columns // width)
    pixel_patches = window.images * across
    patches = pixel_patches * -(-whole.output_channels // work.channels)
    transfers = patches * loads + pixel_patches * height
    if patches * jobs > MAX_REGION_JOBS or transfers > MOST_TRANSFERS:
        return None
    compute = patches * (pixels * work.pixel_cycles + jobs * JOB_CYCLES)
    moved = patches * (sum(sizes) + work.weight_bytes) + pixel_patches * stored
    memory = config.memory
    return max(compute, moved / memory.bytes_per_cycle + transfers * memory.transfer_cycles)

"""Random element-wise jobs of the engine, and series of them, with the bytes that come of them."""

import dataclasses
import itertools
from dataclasses import dataclass
from functools import partial

import numpy as np

from kiwicha.contract.engine import (
    ELEMENT_KINDS,
    MAX_KEPT_SUMS,
    PAIR_KINDS,
    TABLE_ENTRIES,
    TABLE_KINDS,
    EngineJob,
    JobKind,
    SumFlag,
    last_unit_of,
    outputs_of,
)
from kiwicha.numerics import requantization as numerics
from tests.gateware.engine.element_jobs import element_fills, element_job
from tests.gateware.engine.window_jobs import Fill
from tests.gateware.engine.works import Bytes, Ints, Work, places

__all__ = ["element_series", "element_work"]

_ROOT = 2**13 + 2**12
"""Of entries of tables whose sums, with a bias, are squared."""
_SUM = 2**21
"""Of entries of tables whose sums are added to those of other jobs."""


@dataclass(frozen=True)
class _Shape:
    """How many results there are, and how far apart.

    Parameters
    ----------
    macs : int
        Products per cycle.
    groups : int
        Groups of channels.
    in_groups : bool
        Results are by channel, not behind each other.
    results : int
        Of a group.
    missing : int
        Bytes that the last group, or the last result, leaves out.
    """

    macs: int
    groups: int
    in_groups: bool
    results: int
    missing: int

    @classmethod
    def random(cls, rng: np.random.Generator, macs: int, most: int, most_groups: int) -> "_Shape":
        """Return a shape of about so many bytes at most."""
        outputs = outputs_of(macs)
        in_groups = bool(rng.integers(2))
        groups = int(rng.integers(1, most_groups)) if in_groups else 1
        results = int(rng.integers(1, max(most // outputs // groups, 2)))
        missing = (outputs - last_unit_of(macs)) * int(rng.integers(2))
        return cls(macs, groups, in_groups, results, missing)

    @property
    def outputs(self) -> int:
        """Results of a beat."""
        return outputs_of(self.macs)

    @property
    def pitch(self) -> int:
        """From a result of the input to the next one."""
        return self.groups * self.outputs - (self.missing if self.in_groups else 0)

    @property
    def output_pitch(self) -> int:
        """The same of the output."""
        return -(-self.pitch // 8) * 8 if self.in_groups else self.outputs

    @property
    def input_bytes(self) -> int:
        """Bytes of a tensor that is read."""
        return self.results * self.pitch - (0 if self.in_groups else self.missing)

    @property
    def output_bytes(self) -> int:
        """Bytes from the first one that is written to the last."""
        last = 0 if self.in_groups else self.missing
        return (self.results - 1) * self.output_pitch + self.pitch - last

    @property
    def channels(self) -> Ints:
        """Of which channel each sum is."""
        if self.in_groups:
            return np.arange(self.pitch)
        return np.arange(self.input_bytes) % self.pitch


@dataclass(frozen=True, eq=False)
class _Elements:
    """An element-wise job: what it reads and computes, as `kiwicha.contract.engine` says."""

    kind: JobKind
    shape: _Shape
    inputs: list[range]
    output: range
    tables: Ints | None
    zero_points: list[int]
    parameters: Ints
    is_wide: bool
    is_square: bool
    has_one_pixel: bool
    offset: int
    clamp: tuple[int, int]

    @property
    def job(self) -> EngineJob:
        """The descriptor."""
        shape = self.shape
        return element_job(
            self.kind,
            shape.macs,
            [(x.start, zero) for x, zero in zip(self.inputs, self.zero_points, strict=True)],
            self.output.start,
            shape.results,
            pitches=(shape.pitch, shape.output_pitch),
            groups=shape.groups if shape.in_groups else 0,
            last_values=shape.outputs - shape.missing,
            has_one_pixel=self.has_one_pixel,
            is_wide=self.is_wide,
            is_square=self.is_square,
            output_zero_point=self.offset,
            clamp=self.clamp,
        )

    @property
    def fills(self) -> list[Fill]:
        """The weight stream."""
        shape = self.shape
        parameters = self.parameters.reshape(3, shape.groups, shape.outputs)
        return element_fills(shape.macs, parameters, self.tables)

    @property
    def biases(self) -> Ints:
        """What is added to each sum."""
        found: Ints = self.parameters[0, self.shape.channels]
        return found

    def sums(self, memory: Bytes) -> Ints:
        """Return the sums without biases."""
        octets = [memory[span.start : span.stop] for span in self.inputs]
        if self.shape.in_groups:
            octets = [octet.reshape(-1, self.shape.pitch) for octet in octets]
        if self.tables is not None:
            first, *others = (t[x] for t, x in zip(self.tables, octets, strict=False))
            total: Ints = sum(others, first)
            return total
        a, b = (octet.astype(np.int8).astype(np.int64) for octet in octets)
        product: Ints = (a - self.zero_points[0]) * (b - self.zero_points[1])
        return product

    def write(self, sums: Ints, memory: Bytes) -> None:
        """Write what comes of sums with biases."""
        channels = self.shape.channels
        _, multiplier, shift = self.parameters[:, channels]
        totals = numerics.wrap_int32(sums)
        totals = totals**2 if self.is_square else totals
        values = numerics.requantize(totals, multiplier, shift, self.offset, *self.clamp)
        at = np.arange(self.output.start, self.output.stop)
        if self.shape.in_groups:
            steps = np.arange(self.shape.results)[:, None] * self.shape.output_pitch
            at = self.output.start + steps + channels
        memory[at] = values.astype(np.int8).view(np.uint8)

    def apply(self, memory: Bytes) -> None:
        """Change a scratchpad's bytes as the job must."""
        self.write(self.sums(memory) + self.biases, memory)


def element_work(rng: np.random.Generator, macs: int, kind: JobKind, memory_bytes: int) -> Work:
    """Return an ADD, TABLE or MUL, sometimes in place, or with one pixel as second tensor."""
    shape = _Shape.random(rng, macs, memory_bytes // 4, 4 if kind in TABLE_KINDS else 9)
    has_one_pixel = _has_one_pixel(rng, kind, shape)
    sizes = [*_input_sizes(kind, shape, has_one_pixel), shape.output_bytes]
    *inputs, output = places(rng, sizes, memory_bytes - 8)
    output = range(output.start // 8 * 8, output.start // 8 * 8 + len(output))
    if rng.integers(4) == 0 and shape.pitch == shape.output_pitch:
        inputs[0] = output
    found = _elements(rng, kind, shape, (inputs, output), 1, has_one_pixel)
    return Work(found.job, found.fills, inputs, output, found.apply)


def element_series(rng: np.random.Generator, macs: int, memory_bytes: int) -> list[Work]:
    """Return element-wise jobs of any kinds whose sums together are an output."""
    count = int(rng.integers(2, 4))
    most = min(memory_bytes // (2 * count + 2), MAX_KEPT_SUMS // 2)
    shape = _Shape.random(rng, macs, most, 4)
    kinds = [JobKind(int(rng.choice(sorted(ELEMENT_KINDS)))) for _ in range(count)]
    ones = [_has_one_pixel(rng, kind, shape) for kind in kinds]
    sizes = [_input_sizes(kind, shape, one) for kind, one in zip(kinds, ones, strict=True)]
    *sources, target = places(
        rng, [*itertools.chain.from_iterable(sizes), shape.output_bytes], memory_bytes - 8
    )
    output = range(target.start // 8 * 8, target.start // 8 * 8 + len(target))
    kept: list[Ints] = []
    works = []
    for number, (kind, one, size) in enumerate(zip(kinds, ones, sizes, strict=True)):
        inputs, sources = sources[: len(size)], sources[len(size) :]
        part = _elements(rng, kind, shape, (inputs, output), count, one)
        is_last = number == count - 1
        sums = SumFlag.CONTINUE if number else SumFlag.NONE
        job = dataclasses.replace(part.job, sums=sums if is_last else sums | SumFlag.KEEP)
        change = partial(_add, kept, part, number, is_last=is_last)
        works.append(Work(job, part.fills, inputs, output if is_last else range(0), change))
    return works


def _add(kept: list[Ints], part: _Elements, number: int, memory: Bytes, *, is_last: bool) -> None:
    """Do what one job of a series does: ``kept`` are the sums of those before it."""
    if number == 0:
        kept[:] = [part.biases]
    kept.append(part.sums(memory))
    if is_last:
        part.write(np.sum([np.broadcast_to(sums, kept[1].shape) for sums in kept], axis=0), memory)


def _has_one_pixel(rng: np.random.Generator, kind: JobKind, shape: _Shape) -> bool:
    return shape.in_groups and kind in PAIR_KINDS and bool(rng.integers(2))


def _input_sizes(kind: JobKind, shape: _Shape, has_one_pixel: bool) -> list[int]:
    second = shape.pitch if has_one_pixel else shape.input_bytes
    return [shape.input_bytes, second][: 1 + (kind in PAIR_KINDS)]


def _elements(
    rng: np.random.Generator,
    kind: JobKind,
    shape: _Shape,
    spans: tuple[list[range], range],
    count: int,
    has_one_pixel: bool,
) -> _Elements:
    """Return one of so many jobs whose sums are added."""
    has_tables = kind in TABLE_KINDS
    is_series = count > 1
    is_square = has_tables and not is_series and bool(rng.integers(3) == 0)
    is_wide = is_square or bool(rng.integers(2))
    limit = _ROOT if is_square else _SUM if is_series else _sum_limit(rng, is_wide=is_wide)
    # Of a series the others may be of tables.
    largest = limit if has_tables or is_series else 255 * 255
    parameters = _parameters(rng, shape.groups * shape.outputs, largest, is_square=is_square)
    inputs, output = spans
    return _Elements(
        kind=kind,
        shape=shape,
        inputs=inputs,
        output=output,
        tables=rng.integers(-limit, limit, (2, TABLE_ENTRIES)) if has_tables else None,
        zero_points=[0 if has_tables else int(rng.choice((-128, 0, 127))) for _ in inputs],
        parameters=parameters,
        is_wide=is_wide,
        is_square=is_square,
        has_one_pixel=has_one_pixel,
        offset=int(rng.integers(-128, 128)),
        clamp=(int(rng.choice((-128, -20))), int(rng.choice((127, 50)))),
    )


def _sum_limit(rng: np.random.Generator, *, is_wide: bool) -> int:
    """Return what entries of tables are less than."""
    if not is_wide:
        return 2**22
    return 2**31 if rng.integers(2) else 2**28


def _parameters(rng: np.random.Generator, count: int, largest: int, *, is_square: bool) -> Ints:
    """Return [bias, multiplier, shift] by channel; squares are scaled alike."""
    factors = rng.uniform(30, 300, count) / (largest**2 if is_square else largest)
    if is_square:
        # Sometimes by more than 1.
        factors[:] = rng.choice((factors[0], 2000))
    scales = [numerics.quantize_multiplier(float(factor)) for factor in factors]
    multiplier, shift = (np.array(column, np.int64) for column in zip(*scales, strict=True))
    return np.array([rng.integers(-1000, 1000, count), multiplier, shift])

"""The unit for frames of sound against its model, and against what it is for."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from kiwicha.contract.signal import (
    MOST_HALF_BITS,
    SIGNAL_INDEXES,
    SignalBand,
    SignalOp,
    SignalPoint,
    SignalRoot,
)
from kiwicha.gateware.signal.signal_unit import SignalUnit
from kiwicha.numerics import fourier, sound
from kiwicha.sim.reference.signal_model import SignalModel
from tests.gateware.signal.signal_driver import execute
from tests.support.choices import at_night
from tests.support.gateware.unit_simulation import UnitSimulation

EXTREMES = (0, 1, 0x7FFF, 0x8000, 0x8000_8000, 0x7FFF_8000, 0x7FFF_FFFF, 0xFFFF_FFFF)


@pytest.fixture(scope="module")
def unit() -> UnitSimulation[SignalUnit]:
    return UnitSimulation(SignalUnit())


def pairs(values: NDArray[np.int16]) -> list[int]:
    """Give words of two numbers each."""
    return np.ascontiguousarray(values, "<i2").reshape(-1).view("<u4").tolist()


def frame(rng: np.random.Generator, size: int, kind: str) -> NDArray[np.int16]:
    if kind == "extremes":
        return rng.choice(np.array([-(2**15), 2**15 - 1], np.int16), size)
    most = {"loud": 2**15, "quiet": 40}[kind]
    return rng.integers(-most, most, size).astype(np.int16)


@pytest.mark.parametrize(
    ("half_bits", "kind"),
    [
        *[(2, "loud"), (3, "extremes"), (4, "quiet"), (5, "loud"), (6, "extremes"), (8, "loud")],
        *map(at_night, [(7, "loud"), (7, "extremes"), (8, "quiet"), (8, "extremes")]),
    ],
)
def test_a_frame(unit: UnitSimulation[SignalUnit], half_bits: int, kind: str) -> None:
    """Spectrum, energies and sums of bands are those of `kiwicha.numerics`."""
    rng = np.random.default_rng(half_bits)
    half, shift = 1 << half_bits, 12
    samples = frame(rng, 2 * half, kind)
    # Weights of 1 leave extremes what they are: sums then need more than 16 bits.
    weights = rng.integers(-4096, 4097, 2 * half).astype(np.int16)
    if kind == "extremes":
        weights[:] = 4096
    tapered = sound.tapered(samples, weights, shift)
    bits = sound.scale_bits(tapered)
    scaled = (tapered.astype(np.int64) << bits).astype(np.int16)
    spectrum = fourier.real_transform(scaled[None], 2 * half)[0]
    energies = sound.energies(spectrum, 0, half + 1)
    bands = rng.integers(0, 2**16, (half + 1, 2))

    async def bench(ctx: Any) -> None:
        async def run(op: int, index: int = 0, a: int = 0, b: int = 0) -> int:
            answer, _ = await execute(ctx, unit.component, op, index, a, b)
            return answer

        await run(SignalOp.BEGIN, 0, half_bits, shift)
        for pair in zip(pairs(samples), pairs(weights), strict=True):
            await run(SignalOp.TAPER, 0, *pair)
        magnitudes = np.abs(tapered.astype(int))
        assert await run(SignalOp.MAGNITUDE) == np.bitwise_or.reduce(magnitudes)
        await run(SignalOp.TRANSFORM, 0, bits)
        found = [await run(SignalOp.POINT, SignalPoint.NUMBER) for _ in range(half + 1)]
        assert found == pairs(spectrum)
        await run(SignalOp.POINT, SignalPoint.SEEK, 0)
        found = [await run(SignalOp.POINT, SignalPoint.ENERGY) for _ in range(half + 1)]
        assert found == energies.tolist()
        await run(SignalOp.POINT, SignalPoint.SEEK, 0)
        await run(SignalOp.BAND, SignalBand.CLEAR)
        for near, far in bands.tolist():
            await run(SignalOp.BAND, SignalBand.ADD, near, far)
        for k in range(2):
            await run(SignalOp.ROOT, SignalRoot.OF_BAND)
            total = sum(int(e) * int(w) for e, w in zip(energies, bands[:, k], strict=True))
            wanted = sound.square_roots(np.array([total], np.uint64), 0)
            assert await run(SignalOp.ROOT, SignalRoot.RESULT) == wanted[0]

    unit.run(bench)


@pytest.mark.parametrize("half_bits", [2, 3, 6, *map(at_night, [4, 5, 7, 8])])
def test_cycles_of_a_transform(unit: UnitSimulation[SignalUnit], half_bits: int) -> None:
    half, stages = 1 << half_bits, len(fourier.stages(1 << half_bits))
    wanted = (half_bits % 2 + stages) * half + 10 * stages + 2 * half + 14 + 6

    async def bench(ctx: Any) -> None:
        await execute(ctx, unit.component, SignalOp.BEGIN, 0, half_bits, 0)
        await execute(ctx, unit.component, SignalOp.TRANSFORM, 0, 0, 0)
        _, waited = await execute(ctx, unit.component, SignalOp.POINT, SignalPoint.NUMBER, 0, 0)
        assert waited == wanted

    unit.run(bench)


@pytest.mark.parametrize(
    ("op", "index", "cycles"),
    [
        (SignalOp.BEGIN, 0, 0),
        (SignalOp.TAPER, 0, 2),
        (SignalOp.MAGNITUDE, 0, 0),
        (SignalOp.POINT, SignalPoint.ENERGY, 5),
        (SignalOp.BAND, SignalBand.ADD, 5),
        (SignalOp.BAND, SignalBand.NEXT, 0),
        (SignalOp.ROOT, SignalRoot.OF_NUMBER, 0),
        (SignalOp.BITS, 0, 0),
    ],
)
def test_cycles(unit: UnitSimulation[SignalUnit], op: int, index: int, cycles: int) -> None:
    """So long the next instruction waits."""

    async def bench(ctx: Any) -> None:
        await execute(ctx, unit.component, op, index, 2, 0)
        _, waited = await execute(ctx, unit.component, SignalOp.BITS, 0, 0, 0)
        assert waited == cycles

    unit.run(bench)


@pytest.mark.parametrize("seed", [0, *map(at_night, [1, 2])])
def test_random_instructions_equal_the_model(unit: UnitSimulation[SignalUnit], seed: int) -> None:
    rng = np.random.default_rng(seed)

    def word() -> int:
        return int(rng.choice(EXTREMES) if rng.random() < 0.2 else rng.integers(0, 2**32))

    async def bench(ctx: Any) -> None:
        model = SignalModel()
        # Everything that is read has been written.
        await run(ctx, model, SignalOp.BEGIN, 0, 0, int(rng.integers(0, 32)))
        for _ in range(1 << MOST_HALF_BITS):
            await run(ctx, model, SignalOp.TAPER, 0, word(), word())
        await run(ctx, model, SignalOp.TRANSFORM, 0, 0, 0)
        await run(ctx, model, SignalOp.ROOT, SignalRoot.OF_NUMBER, word(), word())
        for _ in range(400):
            op = int(rng.choice(len(SignalOp), p=[0.05, 0.25, 0.05, 0.03, 0.2, 0.2, 0.17, 0.05]))
            index = int(rng.integers(0, SIGNAL_INDEXES[SignalOp(op)]))
            # Short transforms, mostly: they are simulated cycle by cycle.
            a = int(rng.integers(0, 6)) if op == SignalOp.BEGIN else word()
            for _ in range(int(rng.choice((1, 1, 5)))):
                await run(ctx, model, op, index, a, word())
                a = a if op == SignalOp.BEGIN else word()

    async def run(ctx: Any, model: SignalModel, op: int, index: int, a: int, b: int) -> None:
        answer, _ = await execute(ctx, unit.component, op, index, a, b)
        name = SignalOp(op).name
        assert answer == model.execute(op, index, a, b), (name, index, hex(a), hex(b))

    unit.run(bench)


@pytest.mark.parametrize("seed", [0])
def test_roots(unit: UnitSimulation[SignalUnit], seed: int) -> None:
    rng = np.random.default_rng(seed)
    numbers = [0, 1, 2, 3, 2**32 - 1, 2**32, 2**64 - 1, 0xFFFE_0001, 0xFFFF_0000, 0xFFFF_0001]
    roots = [int(rng.integers(0, 2**32)) for _ in range(20)]
    numbers += [root * root + rest for root in roots for rest in (0, root, root + 1)]
    numbers += [
        int(rng.integers(0, 2**64, dtype=np.uint64)) >> int(rng.integers(64)) for _ in range(40)
    ]
    numbers = [number % 2**64 for number in numbers]

    async def bench(ctx: Any) -> None:
        for number in numbers:
            high, low = divmod(number, 2**32)
            await execute(ctx, unit.component, SignalOp.ROOT, SignalRoot.OF_NUMBER, low, high)
            found, _ = await execute(ctx, unit.component, SignalOp.ROOT, SignalRoot.RESULT, 0, 0)
            assert found == sound.square_roots(np.array([number], np.uint64), 0)[0], number

    unit.run(bench)

"""The check of the unit for frames of sound: spectra, sums of bands, and roots."""

import random
from collections.abc import Iterator, Mapping

from kiwicha.boards.selftest.finding import Finding
from kiwicha.boards.selftest.runner import Runner
from kiwicha.contract.cfu import Group, function_id
from kiwicha.contract.configs import Config
from kiwicha.contract.serial import SerialInstruction
from kiwicha.contract.signal import (
    LEAST_HALF_BITS,
    MOST_HALF_BITS,
    SignalBand,
    SignalOp,
    SignalPoint,
    SignalRoot,
)
from kiwicha.sim.reference.cfu_model import CfuModel

__all__ = ["check_sound_unit"]

_BANDS = 12
_WIDEST_BAND = 16
_NUMBERS = 40
_CAUSES: Mapping[str, str] = {
    "spectra": "the unit's memory of points, its roots of one or its multipliers",
    "bands": "the unit's sums of bands, or its multipliers",
    "numbers": "the unit's search for roots, or its count of bits",
}


def check_sound_unit(runner: Runner, config: Config, *, seed: int) -> Iterator[Finding]:
    """Yield what comes of the unit's instructions, in sequences that know what is in it.

    Parameters
    ----------
    runner : Runner
        The board.
    config : Config
        What its custom function unit has.
    seed : int
        Of samples, weights and numbers.
    """
    if not config.has_signal:
        return
    rng = random.Random(seed)
    model = CfuModel(config)
    sizes = range(LEAST_HALF_BITS, MOST_HALF_BITS + 1)
    for name, asked in (
        ("spectra", [item for half_bits in sizes for item in _spectrum(rng, half_bits)]),
        ("bands", _bands(rng)),
        ("numbers", _numbers(rng)),
    ):
        answers = runner.execute(asked)
        wanted = [model.execute(*item) for item in (_operands(item) for item in asked)]
        wrong = [n for n, pair in enumerate(zip(wanted, answers, strict=True)) if len({*pair}) > 1]
        check = f"sound unit, {name}"
        if not wrong:
            yield Finding(check, f"{len(asked):,} instructions")
            continue
        first = wrong[0]
        op = SignalOp(asked[first].function_id >> 7)
        yield Finding(
            check,
            "",
            f"execution {first}, {op.name}: expected {wanted[first]:#010x}, got "
            f"{answers[first]:#010x}; {len(wrong):,} of {len(asked):,} answers differ",
            f"{_CAUSES[name]}: a path that is too slow for this clock, or a bad multiplier or RAM",
        )


def _operands(item: SerialInstruction) -> tuple[int, int, int]:
    return item.function_id, item.inputs_0, item.inputs_1


def _op(op: SignalOp, index: int = 0, a: int = 0, b: int = 0) -> SerialInstruction:
    return SerialInstruction(function_id(Group.SIGNAL, op, index), a, b)


def _words(rng: random.Random) -> tuple[int, int]:
    return rng.getrandbits(32), rng.getrandbits(32)


def _frame(rng: random.Random, half_bits: int) -> list[SerialInstruction]:
    """Return what transforms random samples, of all points of the unit that count."""
    return [
        _op(SignalOp.BEGIN, 0, half_bits, rng.randrange(12, 17)),
        *(_op(SignalOp.TAPER, 0, *_words(rng)) for _ in range(1 << half_bits)),
        _op(SignalOp.MAGNITUDE),
        _op(SignalOp.TRANSFORM, 0, rng.randrange(0, 3)),
    ]


def _spectrum(rng: random.Random, half_bits: int) -> list[SerialInstruction]:
    numbers = (1 << half_bits) + 1
    return [
        *_frame(rng, half_bits),
        *[_op(SignalOp.POINT, SignalPoint.NUMBER)] * numbers,
        _op(SignalOp.POINT, SignalPoint.SEEK, rng.randrange(numbers)),
        _op(SignalOp.POINT, SignalPoint.ENERGY),
    ]


def _bands(rng: random.Random) -> list[SerialInstruction]:
    found = [*_frame(rng, MOST_HALF_BITS), _op(SignalOp.BAND, SignalBand.CLEAR)]
    for _ in range(_BANDS):
        first = rng.randrange((1 << MOST_HALF_BITS) - _WIDEST_BAND)
        found.append(_op(SignalOp.POINT, SignalPoint.SEEK, first))
        for _ in range(rng.randrange(1, _WIDEST_BAND)):
            found.append(_op(SignalOp.BAND, SignalBand.ADD, *_words(rng)))
        if rng.random() < 0.2:
            found.append(_op(SignalOp.BAND, SignalBand.NEXT))
        found.append(_op(SignalOp.ROOT, SignalRoot.OF_BAND))
        found.append(_op(SignalOp.ROOT, SignalRoot.RESULT))
    return found


def _numbers(rng: random.Random) -> list[SerialInstruction]:
    found = []
    for bits in (*range(65), *(64,) * _NUMBERS):
        number = rng.getrandbits(bits) | (1 << bits >> 1)
        low, high = number & 0xFFFF_FFFF, number >> 32
        found.append(_op(SignalOp.ROOT, SignalRoot.OF_NUMBER, low, high))
        found.append(_op(SignalOp.ROOT, SignalRoot.RESULT))
        found.append(_op(SignalOp.BITS, 0, low))
    return found

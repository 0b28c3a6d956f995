"""The instruction tier in Python: what each custom instruction answers and changes."""

from collections import deque
from collections.abc import Callable

from kiwicha.contract.cfu import (
    INSTRUCTIONS,
    ISA_VERSION,
    LANES,
    PIXELS,
    RESULT_FIFO_DEPTH,
    UNKNOWN_RESPONSE,
    AccumulatorOp,
    ConfigOp,
    DataOp,
    Group,
    RequantizeOp,
)
from kiwicha.contract.configs import Config
from kiwicha.numerics import requantization as numerics
from kiwicha.sim.reference.signal_model import SignalModel

__all__ = ["CfuModel"]

_WORD = 0xFFFF_FFFF

_INDEXES: dict[tuple[int, int], int] = {
    (item.group, item.op): item.indexes for item in INSTRUCTIONS.values()
}

Execute = Callable[[int, int, int], int]
"""From index, inputs_0 and inputs_1 to the answer."""


def _signed(value: int, bits: int) -> int:
    """Return the low bits as a two's complement number."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def _bytes(word: int) -> list[int]:
    """Return the four int8 of a word, least significant first."""
    return [_signed(word >> (8 * k), 8) for k in range(4)]


def _word(values: list[int]) -> int:
    """Return the word of four int8, least significant first."""
    return sum((value & 0xFF) << (8 * k) for k, value in enumerate(values))


class CfuModel:
    """Execute custom instructions, each completely before the next.

    Parameters
    ----------
    config : Config
        Which instructions are known.

    Notes
    -----
    Scales are 0 until SCALE sets them; in gateware they are then unspecified.
    """

    def __init__(self, config: Config) -> None:
        self.config = config
        self.cycles = 0
        """What CYCLES answers; its user counts."""
        self.accumulators = [[0] * LANES for _ in range(PIXELS)]
        self.biases = [0] * LANES
        self.scales = [(0, 0)] * LANES
        self.input_offset = 0
        self.output = (0, 0, 0)
        self.results: deque[int] = deque()
        self._signal = SignalModel() if config.has_signal else None
        self._instructions: dict[tuple[int, int], Execute] = {
            (Group.CONFIG, ConfigOp.ISA_VERSION): lambda i, a, b: ISA_VERSION,
            (Group.CONFIG, ConfigOp.CONFIG_HASH): lambda i, a, b: config.hash,
            (Group.CONFIG, ConfigOp.CYCLES): lambda i, a, b: self.cycles & _WORD,
        }
        if config.has_simd:
            self._instructions |= {
                (Group.CONFIG, ConfigOp.INPUT_OFFSET): self._input_offset,
                (Group.CONFIG, ConfigOp.OUTPUT): self._output,
                (Group.MAC, 0): self._mac,
                (Group.MAC_LANES, 0): self._mac_lanes,
                (Group.ACCUMULATOR, AccumulatorOp.BIAS): self._bias,
                (Group.ACCUMULATOR, AccumulatorOp.START): self._start,
                (Group.ACCUMULATOR, AccumulatorOp.READ): self._read,
                (Group.ACCUMULATOR, AccumulatorOp.WRITE): self._write,
                (Group.REQUANTIZE, RequantizeOp.SCALE): self._scale,
                (Group.REQUANTIZE, RequantizeOp.PUSH): self._push,
                (Group.REQUANTIZE, RequantizeOp.POP): self._pop,
                (Group.REQUANTIZE, RequantizeOp.VALUE): self._value,
                (Group.REQUANTIZE, RequantizeOp.RESCALE): self._rescale,
                (Group.DATA, DataOp.ALIGN): lambda i, a, b: ((b << 32 | a) >> 8 * i) & _WORD,
                (Group.DATA, DataOp.EXTRACT): lambda i, a, b: _bytes(a)[i] & _WORD,
                (Group.DATA, DataOp.PACK): lambda i, a, b: (b & 0xFF) << 24 | a >> 8,
                (Group.DATA, DataOp.MAX): lambda i, a, b: _word(
                    list(map(max, _bytes(a), _bytes(b)))
                ),
            }

    def execute(self, function_id: int, inputs_0: int = 0, inputs_1: int = 0) -> int:
        """Execute one instruction and return its answer.

        Parameters
        ----------
        function_id : int
            0 to 1023.
        inputs_0, inputs_1 : int
            Operands, 0 to 2**32 - 1.
        """
        group, index, op = function_id & 7, function_id >> 3 & 15, function_id >> 7
        if group == Group.SIGNAL and self._signal is not None:
            answer = self._signal.execute(op, index, inputs_0, inputs_1)
            return UNKNOWN_RESPONSE + function_id if answer is None else answer
        execute = self._instructions.get((group, op))
        if execute is None or index >= _INDEXES[group, op]:
            return UNKNOWN_RESPONSE + function_id
        is_push = (group, op) == (Group.REQUANTIZE, RequantizeOp.PUSH)
        if is_push and len(self.results) == RESULT_FIFO_DEPTH:
            return UNKNOWN_RESPONSE + function_id
        return execute(index, inputs_0, inputs_1)

    def _input_offset(self, index: int, a: int, b: int) -> int:
        self.input_offset = _signed(a, 9)
        return 0

    def _output(self, index: int, a: int, b: int) -> int:
        self.output = (_signed(a, 8), _signed(b, 8), _signed(b >> 8, 8))
        return 0

    def _add(self, pixel: int, lane: int, summand: int) -> None:
        total = self.accumulators[pixel][lane] + summand
        self.accumulators[pixel][lane] = _signed(total, 32)

    def _products(self, a: int, b: int) -> list[int]:
        return [(x + self.input_offset) * y for x, y in zip(_bytes(a), _bytes(b), strict=True)]

    def _mac(self, index: int, a: int, b: int) -> int:
        self._add(*divmod(index, LANES), sum(self._products(a, b)))
        return 0

    def _mac_lanes(self, index: int, a: int, b: int) -> int:
        for lane, product in enumerate(self._products(a, b)):
            self._add(index, lane, product)
        return 0

    def _bias(self, index: int, a: int, b: int) -> int:
        self.biases[index] = _signed(a, 32)
        return 0

    def _start(self, index: int, a: int, b: int) -> int:
        self.accumulators = [list(self.biases) for _ in range(PIXELS)]
        return 0

    def _read(self, index: int, a: int, b: int) -> int:
        pixel, lane = divmod(index, LANES)
        return self.accumulators[pixel][lane] & _WORD

    def _write(self, index: int, a: int, b: int) -> int:
        pixel, lane = divmod(index, LANES)
        self.accumulators[pixel][lane] = _signed(a, 32)
        return 0

    def _scale(self, index: int, a: int, b: int) -> int:
        self.scales[index] = (a & 0x7FFF_FFFF, _signed(b, 6))
        return 0

    def _push(self, index: int, a: int, b: int) -> int:
        multipliers, shifts = zip(*self.scales, strict=True)
        accumulators = self.accumulators[index]
        values = numerics.requantize(accumulators, multipliers, shifts, *self.output)
        self.results.append(_word([int(value) for value in values]))
        return 0

    def _pop(self, index: int, a: int, b: int) -> int:
        return self.results.popleft() if self.results else 0

    def _value(self, index: int, a: int, b: int) -> int:
        value = numerics.requantize(_signed(a, 32), *self.scales[index], *self.output)
        return int(value) & _WORD

    def _rescale(self, index: int, a: int, b: int) -> int:
        scaled = numerics.multiply_by_quantized_multiplier(_signed(a, 32), *self.scales[index])
        return int(scaled) & _WORD

"""UNIDIRECTIONAL_SEQUENCE_LSTM with custom instructions: the four gates of a unit are the lanes."""

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.cfu import LANES
from kiwicha.contract.program import Kernel
from kiwicha.kernels.kernel import Call, Cost, Declaration, Memory, Work
from kiwicha.kernels.lstm import GATES, Lstm, LstmGates, gates, sequence
from kiwicha.kernels.weight_order import WORD_BYTES, pack_conv, unpack_conv

__all__ = ["KERNELS"]

assert LANES == GATES


def _packed(call: Call) -> Call:
    weights = pack_conv(call.constants["weights"].astype(np.int8, copy=False))
    return dataclasses.replace(call, constants={**call.constants, "weights": weights})


def _gates(memory: Memory, p: LstmGates) -> NDArray[np.int16]:
    packed = memory.load(p.weights, np.int8, (p.weights.bytes,))
    return gates(memory, p, unpack_conv(packed, GATES * p.units, p.inputs))


def _sequence(memory: Memory, p: Lstm) -> NDArray[np.integer[Any]]:
    packed = memory.load(p.weights, np.int8, (p.weights.bytes,))
    return sequence(memory, p, unpack_conv(packed, GATES * p.units, p.units))


def _gates_fit(call: Call) -> bool:
    return bool(call.params.inputs % WORD_BYTES == 0)


def _sequence_fits(call: Call) -> bool:
    return bool(call.params.units % WORD_BYTES == 0)


def _gates_work(p: LstmGates) -> Work:
    fours, singles = divmod(p.rows, LANES)
    outputs = p.units * GATES
    return Work(p.rows * outputs, fours * LANES * outputs * p.inputs, singles * outputs * p.inputs)


KERNELS = (
    Declaration(
        kernel=Kernel.SIMD_LSTM_GATES,
        params=LstmGates,
        reference=_gates,
        is_on_demand=True,
        cost=Cost(step=1680.0, output=24.4, unit=1.41, extra=2.52),
        work=_gates_work,
        replaces=(Kernel.LSTM_GATES,),
        condition=_gates_fit,
        prepare=_packed,
    ),
    Declaration(
        kernel=Kernel.SIMD_LSTM,
        params=Lstm,
        reference=_sequence,
        is_on_demand=True,
        optional=("bias",),
        states=("hidden", "cell"),
        cost=Cost(step=1460.0, output=257.0, unit=2.54),
        replaces=(Kernel.LSTM,),
        condition=_sequence_fits,
        prepare=_packed,
    ),
)

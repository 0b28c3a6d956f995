"""Steps of UNIDIRECTIONAL_SEQUENCE_LSTM of int16, weights of int8: sums have 64 bits.

What inputs add to the gates is a FULLY_CONNECTED of int16 with four outputs for each unit.

Notes
-----
Ref: tensorflow/lite/micro/kernels/lstm_eval.{h,cc} in tflite-micro.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.program import Kernel
from kiwicha.kernels.kernel import Cost, Declaration, Memory
from kiwicha.kernels.lstm import GATES, Lstm, sequence, sequence_work

__all__ = ["KERNELS"]


def _sequence(memory: Memory, p: Lstm) -> NDArray[np.integer[Any]]:
    weights = memory.load(p.weights, np.int8, (GATES * p.units, p.units))
    return sequence(memory, p, weights, np.int16)


KERNELS = (
    Declaration(
        kernel=Kernel.SHORT_LSTM,
        params=Lstm,
        reference=_sequence,
        is_on_demand=True,
        optional=("bias",),
        states=("hidden", "cell"),
        cost=Cost(step=1720.0, output=330.0, unit=5.0),
        work=sequence_work,
    ),
)

"""Signal operators: custom operators of TensorFlow Lite Micro that make features of sound.

They have no scales: each computes with the integers as they are.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

from flatbuffers import flexbuffers

from kiwicha import custom
from kiwicha.compiler.tflite.graph import Operator
from kiwicha.compiler.tflite.tensor import TensorType
from kiwicha.custom import MODEL_PREFIX
from kiwicha.errors import ModelError

__all__ = [
    "DELAY",
    "ENERGY",
    "FFT_AUTO_SCALE",
    "FILTER_BANK",
    "FILTER_BANK_LOG",
    "FRAMER",
    "IRFFT",
    "OVERLAP_ADD",
    "PCAN",
    "RFFT",
    "SIGNAL_OPERATORS",
    "SPECTRAL_SUBTRACTION",
    "SQUARE_ROOT",
    "STACKER",
    "TAPER",
    "Operand",
    "SignalKind",
    "is_signal",
    "signal_kind",
    "signal_name",
    "signal_options",
]

TAPER = "SignalWindow"
FFT_AUTO_SCALE = "SignalFftAutoScale"
RFFT = "SignalRfft"
IRFFT = "SignalIrfft"
ENERGY = "SignalEnergy"
FILTER_BANK = "SignalFilterBank"
SQUARE_ROOT = "SignalFilterBankSquareRoot"
SPECTRAL_SUBTRACTION = "SignalFilterBankSpectralSubtraction"
PCAN = "SignalPCAN"
FILTER_BANK_LOG = "SignalFilterBankLog"
FRAMER = "SignalFramer"
STACKER = "SignalStacker"
DELAY = "SignalDelay"
OVERLAP_ADD = "SignalOverlapAdd"

_SHORT, _INT = TensorType.INT16, TensorType.INT32
_WORD, _LONG = TensorType.UINT32, TensorType.UINT64
_FLAG = TensorType.BOOL


@dataclass(frozen=True)
class Operand:
    """An input or output of a signal operator.

    Parameters
    ----------
    name : str
        In messages.
    type : TensorType
        Of its elements.
    rank : int or None
        Number of its dimensions; None for 1 or more.
    is_constant : bool
        The model holds its values.
    """

    name: str
    type: TensorType
    rank: int | None = 1
    is_constant: bool = False


@dataclass(frozen=True)
class SignalKind:
    """What is known of a signal operator.

    Parameters
    ----------
    inputs, outputs : tuple of Operand
        In the model's order.
    options : mapping of str to (int, int)
        Its custom options that count, and their least and largest values.
    """

    inputs: tuple[Operand, ...]
    outputs: tuple[Operand, ...]
    options: Mapping[str, tuple[int, int]] = dataclasses.field(default_factory=dict)


_SHIFT, _UNSIGNED = (0, 31), (0, 2**31 - 1)
_NUMBER = (1, 2**31 - 1)
_LONGEST_DELAY = 2**20
"""Samples: more than a minute of speech."""
_FFT: dict[str, tuple[int, int]] = {"fft_length": (4, 2**15)}

SIGNAL_OPERATORS: dict[str, SignalKind] = {
    TAPER: SignalKind(
        (Operand("input", _SHORT, None), Operand("weights", _SHORT, is_constant=True)),
        (Operand("output", _SHORT, None),),
        {"shift": _SHIFT},
    ),
    FFT_AUTO_SCALE: SignalKind(
        (Operand("input", _SHORT),),
        (Operand("output", _SHORT), Operand("scale bits", _INT, 0)),
    ),
    RFFT: SignalKind((Operand("input", _SHORT, None),), (Operand("output", _SHORT, None),), _FFT),
    IRFFT: SignalKind((Operand("input", _SHORT, None),), (Operand("output", _SHORT, None),), _FFT),
    ENERGY: SignalKind(
        (Operand("input", _SHORT),),
        (Operand("output", _WORD),),
        {"start_index": _UNSIGNED, "end_index": _UNSIGNED},
    ),
    FILTER_BANK: SignalKind(
        (
            Operand("input", _WORD),
            *(
                Operand(name, _SHORT, is_constant=True)
                for name in (
                    *("weights", "unweights"),
                    *("frequency starts", "weight starts", "channel widths"),
                )
            ),
        ),
        (Operand("output", _LONG),),
        {"num_channels": _NUMBER},
    ),
    SQUARE_ROOT: SignalKind(
        (Operand("input", _LONG), Operand("scale bits", _INT, 0)), (Operand("output", _WORD),)
    ),
    SPECTRAL_SUBTRACTION: SignalKind(
        (Operand("input", _WORD),),
        (Operand("output", _WORD), Operand("noise estimate", _WORD)),
        {
            "num_channels": _NUMBER,
            **dict.fromkeys(
                (
                    *("smoothing", "one_minus_smoothing"),
                    *("alternate_smoothing", "alternate_one_minus_smoothing"),
                    "min_signal_remaining",
                ),
                _UNSIGNED,
            ),
            "smoothing_bits": _SHIFT,
            "spectral_subtraction_bits": (0, 63),
            "clamping": (0, 1),
        },
    ),
    PCAN: SignalKind(
        (
            Operand("input", _WORD),
            Operand("noise estimate", _WORD),
            Operand("gains", _SHORT, is_constant=True),
        ),
        (Operand("output", _WORD),),
        {"snr_shift": (0, 63)},
    ),
    FILTER_BANK_LOG: SignalKind(
        (Operand("input", _WORD),),
        (Operand("output", _SHORT),),
        {"output_scale": _UNSIGNED, "input_correction_bits": _SHIFT},
    ),
    FRAMER: SignalKind(
        (Operand("input", _SHORT, None),),
        (Operand("output", _SHORT, None), Operand("validity", _FLAG, 0)),
        {"frame_size": _NUMBER, "frame_step": _NUMBER, "prefill": (0, 1)},
    ),
    STACKER: SignalKind(
        (Operand("input", _SHORT),),
        (Operand("output", _SHORT), Operand("validity", _FLAG, 0)),
        {
            "num_channels": _NUMBER,
            "stacker_left_context": _UNSIGNED,
            "stacker_right_context": _UNSIGNED,
            "stacker_step": _NUMBER,
        },
    ),
    DELAY: SignalKind(
        (Operand("input", _SHORT, None),),
        (Operand("output", _SHORT, None),),
        {"delay_length": (0, _LONGEST_DELAY)},
    ),
    OVERLAP_ADD: SignalKind(
        (Operand("input", _SHORT, None),),
        (Operand("output", _SHORT, None),),
        {"frame_step": _NUMBER},
    ),
}
"""By their names: those of a frontend in its order, then those that keep samples."""


def is_signal(operator: Operator) -> bool:
    """Whether an operator of a file is one of these, and no package has one of that name."""
    name = signal_name(operator)
    is_custom = operator.name.startswith(MODEL_PREFIX)
    return is_custom and name in SIGNAL_OPERATORS and custom.find(operator.name) is None


def signal_name(operator: Operator) -> str:
    """Return the name of a signal operator without what those of files have before it."""
    return operator.name.removeprefix(MODEL_PREFIX)


def signal_kind(operator: Operator) -> SignalKind:
    """Return what is known of a signal operator."""
    return SIGNAL_OPERATORS[signal_name(operator)]


def signal_options(operator: Operator) -> dict[str, int]:
    """Return the options that count.

    Raises
    ------
    ModelError
        If they are damaged, or one is missing.
    """
    kind = signal_kind(operator)
    if not kind.options:
        return {}
    try:
        found = flexbuffers.Loads(operator.options.custom)
        return {name: int(found[name]) for name in kind.options}
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        where = f"operator {operator.index} {operator.name}"
        raise ModelError(f"{where}: options are damaged ({error})") from error

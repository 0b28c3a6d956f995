"""What an application's resolver must know of a model, in TensorFlow Lite Micro's words."""

__all__ = ["method"]

_OWN_SPELLING = {
    "BATCH_MATMUL": "BatchMatMul",
    "CUMSUM": "CumSum",
    "PADV2": "PadV2",
    "TFLite_Detection_PostProcess": "DetectionPostprocess",
    "TFLM_DECODE": "Decode",
    "UNIDIRECTIONAL_SEQUENCE_LSTM": "UnidirectionalSequenceLSTM",
}
_SIGNAL = "Signal"


def method(name: str) -> str:
    """Return the method of ``MicroMutableOpResolver`` that adds an operator.

    Parameters
    ----------
    name : str
        Of the operator: as the schema has it, or a custom one's.

    Notes
    -----
    Ref: tensorflow/lite/micro/micro_mutable_op_resolver.h.
    """
    if name.startswith(_SIGNAL):
        return f"Add{name.removeprefix(_SIGNAL)}"
    words = _OWN_SPELLING.get(name) or "".join(word.capitalize() for word in name.split("_"))
    return f"Add{words.removesuffix('2d')}2D" if words.endswith("2d") else f"Add{words}"

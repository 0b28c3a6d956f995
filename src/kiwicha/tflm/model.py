"""The .tflite file that TensorFlow Lite Micro runs: Programs are constants of custom operators."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from kiwicha.compiler.tflite.graph import NO_TENSOR
from kiwicha.errors import ModelError
from kiwicha.tflite_writer.builder import CUSTOM, ModelBuilder
from kiwicha.tflm.partitions import Partition, Partitioned

__all__ = ["OPERATOR", "write_model"]

OPERATOR = "KIWICHA"
"""Name of the custom operator."""


def write_model(description: str, model: Partitioned) -> bytes:
    """Return a file in which each partition is one operator, and every other stays as it is.

    The operator's first input is a constant, the stored form of the Program, at a multiple of 16
    bytes; behind it are the inputs of the Program. Inputs and outputs of the model keep their
    order, names, types, shapes and quantization. Constants that nobody reads any more are left out.

    Parameters
    ----------
    description : str
        Stored in the file.
    model : Partitioned
        From `kiwicha.tflm.partitions.divide`.

    Raises
    ------
    ModelError
        If a tensor cannot be copied, or a Program has other inputs or outputs than its operators.
    """
    source = model.source
    builder = ModelBuilder(description)
    places: dict[int, int] = {NO_TENSOR: NO_TENSOR}

    def placed(indices: Iterable[int]) -> tuple[int, ...]:
        for index in indices:
            if index not in places:
                tensor = source.tensors[index]
                if tensor.is_sparse:
                    raise ModelError(
                        f"tensor {index} ({tensor.name}) must be dense where an operator stays "
                        "TensorFlow Lite Micro's own"
                    )
                places[index] = len(builder.tensors)
                builder.tensors.append(tensor)
        return tuple(places[index] for index in indices)

    ends = placed(source.inputs), placed(source.outputs)
    starts = {item.operators.start: item for item in model.partitions}
    taken = {index for item in model.partitions for index in item.operators}
    for index, operator in enumerate(source.operators):
        if index in starts:
            item = starts[index]
            program = _program(item)
            # Their order in the file is that of their positions in the model.
            constant = builder.tensor(
                (len(program),), np.uint8, name=f"{OPERATOR} {index}", data=program
            )
            builder.operator(
                f"{CUSTOM}{OPERATOR}", (constant, *placed(item.inputs)), placed(item.outputs)
            )
        if index not in taken:
            builder.operators.append(
                replace(operator, inputs=placed(operator.inputs), outputs=placed(operator.outputs))
            )

    def renamed(indices: Mapping[str, int]) -> dict[str, int]:
        return {name: placed([index])[0] for name, index in indices.items()}

    signatures = {
        key: (renamed(inputs), renamed(outputs))
        for key, (inputs, outputs) in source.signatures.items()
    }
    return builder.build(*ends, signatures=signatures)


def _program(item: Partition) -> bytes:
    """Return the stored form of a Program, whose tensors have to be those of its operators."""
    program = item.compilation.program
    for what, indices, tensors in (
        ("inputs", item.inputs, program.inputs),
        ("outputs", item.outputs, program.outputs),
    ):
        if len(indices) != len(tensors):
            raise ModelError(
                f"operators {item.operators.start} to {item.operators.stop - 1}: a Program must "
                f"have {len(indices)} {what}, not {len(tensors)}"
            )
    return program.to_bytes()

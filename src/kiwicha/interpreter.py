"""Models from Python, in the shape of the TensorFlow Lite interpreter.

The interface is that of ``ai_edge_litert.interpreter.Interpreter``, so that in a script which
classifies pictures only the import line changes::

    from kiwicha import Interpreter

    interpreter = Interpreter(model_path="person_detect.tflite")
    interpreter.allocate_tensors()
    image = interpreter.get_input_details()[0]
    interpreter.set_tensor(image["index"], pixels)
    interpreter.invoke()
    scores = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
"""

import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kiwicha.compiler import compile_stages
from kiwicha.detection import DETECTION_NAME, Detection
from kiwicha.errors import UsageError
from kiwicha.isa_program import DType
from kiwicha.layout import Ref
from kiwicha.program import IoTensor
from kiwicha.sim import reference
from kiwicha.sim.system import RunResult, run_program

__all__ = ["TARGETS", "Interpreter"]

TARGETS = ("reference", "sim")
"""What can execute a model: numpy, or the simulated system on chip."""

Details = dict[str, Any]


class Interpreter:
    """A model that is executed as Kiwicha's hardware does, bit for bit.

    Parameters
    ----------
    model_path : str or Path, optional
        A ``.tflite`` file.
    model_content : bytes, optional
        Its content instead.
    config : str
        Name of the configuration that it is compiled for, as on the command line: see
        `kiwicha.configs.find_config`.
    target : str
        One of `TARGETS`.
    num_threads : int, optional
        Taken because scripts pass it; without effect.

    Attributes
    ----------
    cycles : int or None
        Cycles of the last inference; None before the first and with ``target="reference"``.

    Raises
    ------
    UsageError
        If neither or both of path and content are given, or configuration or target are unknown.
    ModelError, UnsupportedModelError, CapacityError
        If the model is damaged, or asks for more than the compiler supports.
    """

    def __init__(
        self,
        model_path: str | Path | None = None,
        model_content: bytes | None = None,
        *,
        config: str = "simd",
        target: str = "reference",
        num_threads: int | None = None,
    ) -> None:
        if (model_path is None) == (model_content is None):
            given = "neither" if model_path is None else "both"
            raise UsageError(f"model_path or model_content must be given, not {given}")
        if target not in TARGETS:
            raise UsageError(f"target must be {' or '.join(TARGETS)}, not {target!r}")
        model = Path(model_path) if model_path is not None else model_content
        assert model is not None
        compilation = compile_stages(model, config)
        self.cycles: int | None = None
        self._program = compilation.program
        self._target = target
        graph = compilation.graph
        self._signatures = [tensor.shape_signature for tensor in graph.tensors]
        self._inputs = dict(zip(graph.inputs, self._program.inputs, strict=True))
        self._detection = compilation.detection
        self._outputs = (
            dict(zip(graph.outputs, self._program.outputs, strict=True))
            if self._detection is None
            else _found_tensors(len(graph.tensors), self._detection)
        )
        self._values: dict[int, NDArray[Any]] = {}

    def allocate_tensors(self) -> None:
        """Set all inputs to zero and forget the outputs."""
        self._values = {
            index: np.zeros(tensor.shape, _numpy_type(tensor))
            for index, tensor in self._inputs.items()
        }

    def get_input_details(self) -> list[Details]:
        """Return name, index, shape, dtype and quantization of the inputs, in the model's order.

        Returns
        -------
        list of dict
            With the keys of TensorFlow Lite: ``name``, ``index``, ``shape``, ``shape_signature``,
            ``dtype``, ``quantization`` (scale, zero point), ``quantization_parameters``,
            ``sparsity_parameters``.
        """
        return [self._details(index, tensor) for index, tensor in self._inputs.items()]

    def get_output_details(self) -> list[Details]:
        """Return the same as `get_input_details`, of the outputs."""
        return [self._details(index, tensor) for index, tensor in self._outputs.items()]

    def set_tensor(self, tensor_index: int, value: ArrayLike) -> None:
        """Set an input.

        Parameters
        ----------
        tensor_index : int
            ``index`` of `get_input_details`.
        value : array_like
            Of the tensor's type and shape; copied.

        Raises
        ------
        UsageError
            If there is no such input, tensors are not allocated, or type or shape differ.
        """
        tensor = self._inputs.get(tensor_index)
        if tensor is None:
            raise UsageError(f"tensor_index must be {_known(self._inputs)}, not {tensor_index}")
        self._check_allocated()
        array = np.asarray(value)
        dtype = np.dtype(_numpy_type(tensor))
        if array.dtype != dtype:
            raise UsageError(f"value of {tensor.name!r} must be {dtype}, not {array.dtype}")
        if array.shape != tensor.shape:
            raise UsageError(
                f"value of {tensor.name!r} must have shape {list(tensor.shape)}, "
                f"not {list(array.shape)}"
            )
        self._values[tensor_index] = array.copy()

    def invoke(self) -> None:
        """Execute the model once.

        Raises
        ------
        UsageError
            If tensors are not allocated.
        SimulationError, ToolError
            With ``target="sim"``: what `kiwicha.sim.system.run_program` raises.
        """
        self._check_allocated()
        inputs = [self._values[index].tobytes() for index in self._inputs]
        if self._target == "reference":
            outputs = reference.run(self._program, inputs)
        else:
            result = run_program(self._program, inputs)
            self.cycles = result.last_cycles
            outputs = self._arrays(result)
        if self._detection is not None:
            outputs = list(self._detection.find(*outputs).outputs)
        self._values |= dict(zip(self._outputs, outputs, strict=True))

    def get_tensor(self, tensor_index: int) -> NDArray[Any]:
        """Return a copy of an input or output.

        Raises
        ------
        UsageError
            If there is no such input or output, or nothing has given it a value.
        """
        if tensor_index not in self._inputs | self._outputs:
            known = _known(self._inputs | self._outputs)
            raise UsageError(f"tensor_index must be {known}, not {tensor_index}")
        self._check_allocated()
        if tensor_index not in self._values:
            raise UsageError("invoke must be called before an output is read")
        return self._values[tensor_index].copy()

    def _check_allocated(self) -> None:
        if self._inputs and not self._values:
            raise UsageError("allocate_tensors must be called first")

    def _details(self, index: int, tensor: IoTensor) -> Details:
        is_quantized = not math.isclose(tensor.scale, 0.0)
        return {
            "name": tensor.name,
            "index": index,
            "shape": np.array(tensor.shape, np.int32),
            "shape_signature": np.array(self._signature(index) or tensor.shape, np.int32),
            "dtype": _numpy_type(tensor),
            "quantization": (tensor.scale, tensor.zero_point),
            "quantization_parameters": {
                "scales": np.array([tensor.scale] if is_quantized else [], np.float32),
                "zero_points": np.array([tensor.zero_point] if is_quantized else [], np.int32),
                "quantized_dimension": 0,
            },
            "sparsity_parameters": {},
        }

    def _signature(self, index: int) -> tuple[int, ...]:
        return self._signatures[index] if index < len(self._signatures) else ()

    def _arrays(self, result: RunResult) -> list[NDArray[Any]]:
        return [
            np.frombuffer(raw, _numpy_type(tensor)).reshape(tensor.shape)
            for raw, tensor in zip(result.outputs, self._program.outputs, strict=True)
        ]


def _found_tensors(first: int, detection: Detection) -> dict[int, IoTensor]:
    """Return the outputs of a detector; the model says neither their types nor their shapes."""
    return {
        first + number: IoTensor(f"{DETECTION_NAME}:{number}", Ref(), DType.FLOAT32, shape, 0.0, 0)
        for number, shape in enumerate(detection.settings.output_shapes)
    }


def _known(tensors: dict[int, IoTensor]) -> str:
    return " or ".join(f"{index} ({tensor.name!r})" for index, tensor in tensors.items())


def _numpy_type(tensor: IoTensor) -> type[np.generic]:
    return reference.NUMPY_TYPES[tensor.dtype]

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

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kiwicha.compiler import compile_stages
from kiwicha.compiler.tflite.signatures import interface
from kiwicha.contract.layout import Ref
from kiwicha.contract.program import DType
from kiwicha.detection.boxes import DETECTION_NAME, Detection
from kiwicha.errors import UsageError
from kiwicha.interpreter.arguments import check_others, model_of
from kiwicha.interpreter.signature_runner import SignatureRunner
from kiwicha.interpreter.tensor_details import Details, details
from kiwicha.program.parts import IoTensor
from kiwicha.sim.reference import executor as reference
from kiwicha.sim.verilator.program_run import SimulatedRun, run_program

__all__ = ["TARGETS", "Interpreter"]

TARGETS = ("reference", "sim")
"""What can execute a model: numpy, or the simulated system on chip."""


class Interpreter:
    """A model that is executed as Kiwicha's hardware does, bit for bit.

    Parameters
    ----------
    model_path : str or Path, optional
        A ``.tflite`` file.
    model_content : bytes, bytearray or memoryview, optional
        Its content instead.
    config : str
        Name of the configuration that it is compiled for, as on the command line: see
        `kiwicha.contract.configs.find_config`.
    target : str
        One of `TARGETS`.
    num_threads : int, optional
        Taken because scripts pass it; without effect.
    **others
        LiteRT's arguments that begin with ``experimental_``, with their defaults: there are no
        delegates, and results are always those of the reference kernels.

    Attributes
    ----------
    cycles : int or None
        Cycles of the last inference; None before the first and with ``target="reference"``.

    Raises
    ------
    UsageError
        If neither or both of path and content are given, or configuration, target or an argument
        are unknown, or an argument of LiteRT's is to have an effect.
    ModelError, UnsupportedModelError, CapacityError
        If the model is damaged, or asks for more than the compiler supports.
    """

    def __init__(
        self,
        model_path: str | Path | None = None,
        model_content: bytes | bytearray | memoryview | None = None,
        *,
        config: str = "simd",
        target: str = "reference",
        num_threads: int | None = None,
        **others: Any,
    ) -> None:
        check_others(others)
        model = model_of(model_path, model_content)
        if target not in TARGETS:
            raise UsageError(f"target must be {' or '.join(TARGETS)}, not {target!r}")
        if num_threads is not None and (not isinstance(num_threads, int) or num_threads < 1):
            raise UsageError(f"num_threads must be None or 1 or more, not {num_threads!r}")
        compilation = compile_stages(model, config)
        self.cycles: int | None = None
        self._program = compilation.program
        self._target = target
        self._graph = compilation.graph
        self._inputs = dict(zip(self._graph.inputs, self._program.inputs, strict=True))
        self._detection = compilation.detection
        called = interface(model.read_bytes() if isinstance(model, Path) else model)
        self._signatures = called.signatures
        # Of the boxes that a detector gives, the model says neither types nor shapes.
        outputs = self._program.outputs if self._detection is None else _found(self._detection)
        self._outputs = dict(zip(called.outputs, outputs, strict=True))
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
        return [self._details(index) for index in self._inputs]

    def get_output_details(self) -> list[Details]:
        """Return the same as `get_input_details`, of the outputs."""
        return [self._details(index) for index in self._outputs]

    def get_tensor_details(self, subgraph_index: int = 0) -> list[Details]:
        """Return the same as `get_input_details`, of all tensors of the model.

        Values can be had of inputs and outputs only: what lies between is never all in memory.

        Raises
        ------
        UsageError
            If the number of the subgraph is not 0.
        """
        if subgraph_index != 0:
            raise UsageError(f"subgraph_index must be 0, not {subgraph_index}")
        known = self._inputs | self._outputs
        return [
            found
            for tensor in self._graph.tensors
            if (found := details(tensor, getattr(known.get(tensor.index), "shape", tensor.shape)))
        ]

    def get_signature_list(self) -> dict[str, dict[str, list[str]]]:
        """Return the names of ``inputs`` and ``outputs`` of each signature, by its key."""
        return {
            key: {"inputs": list(signature.inputs), "outputs": list(signature.outputs)}
            for key, signature in self._signatures.items()
        }

    def get_signature_runner(self, signature_key: str | None = None) -> SignatureRunner:
        """Return what executes the model by the names of a signature.

        Parameters
        ----------
        signature_key : str, optional
            Key of `get_signature_list`; may be left out if there is one.

        Raises
        ------
        UsageError
            If there is no such signature, or not one alone.
        """
        keys = " or ".join(map(repr, self._signatures))
        if not keys:
            raise UsageError("the model must have a signature; use set_tensor and get_tensor")
        if signature_key is None and len(self._signatures) == 1:
            (signature_key,) = self._signatures
        if signature_key is None or signature_key not in self._signatures:
            raise UsageError(f"signature_key must be {keys}, not {signature_key!r}")
        signature = self._signatures[signature_key]
        if not (
            set(signature.inputs.values()) <= set(self._inputs)
            and set(signature.outputs.values()) <= set(self._outputs)
        ):
            raise UsageError(f"signature {signature_key!r} must name the model's own tensors")
        return SignatureRunner(self, signature, self._details)

    def resize_tensor_input(
        self, input_index: int, tensor_size: Sequence[int], strict: bool = False
    ) -> None:
        """Accept the shape that an input has; every other one is refused.

        Parameters
        ----------
        input_index : int
            ``index`` of `get_input_details`.
        tensor_size : sequence of int
            The shape.
        strict : bool
            Without effect.

        Raises
        ------
        UsageError
            If there is no such input, or its shape differs.
        """
        tensor = self._input(input_index)
        shape = [int(size) for size in tensor_size]
        if shape != list(tensor.shape):
            raise UsageError(
                f"shape of {tensor.name!r} must be {list(tensor.shape)}, not {shape}: shapes are "
                "fixed when a model is compiled; convert the model with this shape"
            )

    def reset_all_variables(self) -> None:
        """Do nothing: a model that keeps something between inferences is refused."""

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
        tensor = self._input(tensor_index)
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
        self._values[tensor_index][...] = array

    def invoke(self) -> None:
        """Execute the model once.

        Raises
        ------
        UsageError
            If tensors are not allocated.
        SimulationError, ToolError
            With ``target="sim"``: what `kiwicha.sim.verilator.program_run.run_program` raises.
        """
        self._check_allocated()
        inputs = [self._values[index] for index in self._inputs]
        if self._target == "reference":
            outputs = reference.run(self._program, inputs)
        else:
            result = run_program(self._program, [value.tobytes() for value in inputs])
            self.cycles = result.last_cycles
            outputs = self._arrays(result)
        if self._detection is not None:
            outputs = list(self._detection.find(*outputs).outputs)
        for index, output in zip(self._outputs, outputs, strict=True):
            place = self._values.setdefault(index, np.empty_like(output))
            place[...] = output

    def get_tensor(self, tensor_index: int) -> NDArray[Any]:
        """Return a copy of an input or output.

        Raises
        ------
        UsageError
            If there is no such input or output, or nothing has given it a value.
        """
        return self._value(tensor_index).copy()

    def tensor(self, tensor_index: int) -> Callable[[], NDArray[Any]]:
        """Return a function that gives an input or output itself, to read or fill.

        An array that it gave is the tensor's place until `allocate_tensors` comes: what is written
        into that of an input is what `invoke` reads, and `invoke` writes into that of an output.

        Raises
        ------
        UsageError
            From the function: what `get_tensor` raises.
        """
        return lambda: self._value(tensor_index)

    def _input(self, index: int) -> IoTensor:
        if index not in self._inputs:
            raise UsageError(f"tensor_index must be {_known(self._inputs)}, not {index}")
        return self._inputs[index]

    def _value(self, tensor_index: int) -> NDArray[Any]:
        if tensor_index not in self._inputs | self._outputs:
            known = _known(self._inputs | self._outputs)
            raise UsageError(f"tensor_index must be {known}, not {tensor_index}")
        self._check_allocated()
        if tensor_index not in self._values:
            raise UsageError("invoke must be called before an output is read")
        return self._values[tensor_index]

    def _check_allocated(self) -> None:
        if self._inputs and not self._values:
            raise UsageError("allocate_tensors must be called first")

    def _details(self, index: int) -> Details:
        tensor = self._graph.tensors[index]
        known = (self._inputs | self._outputs).get(index)
        found = details(tensor, tensor.shape if known is None else known.shape)
        assert found is not None
        return found

    def _arrays(self, result: SimulatedRun) -> list[NDArray[Any]]:
        return [
            np.frombuffer(raw, _numpy_type(tensor)).reshape(tensor.shape)
            for raw, tensor in zip(result.outputs, self._program.outputs, strict=True)
        ]


def _found(detection: Detection) -> list[IoTensor]:
    """Return the outputs of a detector."""
    return [
        IoTensor(f"{DETECTION_NAME}:{number}", Ref(), DType.FLOAT32, shape, 0.0, 0)
        for number, shape in enumerate(detection.settings.output_shapes)
    ]


def _known(tensors: dict[int, IoTensor]) -> str:
    return " or ".join(f"{index} ({tensor.name!r})" for index, tensor in tensors.items())


def _numpy_type(tensor: IoTensor) -> type[np.generic]:
    return reference.NUMPY_TYPES[tensor.dtype]

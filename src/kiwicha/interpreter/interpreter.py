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

from kiwicha.compiler import compile_model, compile_stages
from kiwicha.compiler.tflite.signatures import Interface, interface
from kiwicha.contract.layout import Ref
from kiwicha.contract.program import DType
from kiwicha.detection.boxes import DETECTION_NAME, Detection
from kiwicha.errors import NotReadyError, UsageError
from kiwicha.firmware.native_library import NATIVE_CONFIG
from kiwicha.interpreter.arguments import check_others, model_of
from kiwicha.interpreter.batches import Shape, batch_of, batch_shape, joined, split
from kiwicha.interpreter.executors import TARGETS, executor_of, numpy_type
from kiwicha.interpreter.notebook import layers_as_html
from kiwicha.interpreter.preserved import all_tensors
from kiwicha.interpreter.signature_runner import SignatureRunner
from kiwicha.interpreter.tensor_details import Details, constant, details
from kiwicha.program.parts import IoTensor
from kiwicha.report.answers import largest

__all__ = ["Interpreter"]


class Interpreter:
    """A model that is executed as Kiwicha's hardware does, bit for bit.

    Parameters
    ----------
    model_path : str or Path, optional
        A ``.tflite`` or ``.onnx`` file; as a str also ``demo``, or a name of the zoo or gallery, as
        on the command line.
    model_content : bytes, bytearray or memoryview, optional
        Its content instead.
    config : str
        Name of the configuration that it is compiled for, as on the command line: see
        `kiwicha.contract.configs.find_config`.
    target : str
        One of `TARGETS`.
    num_threads : int, optional
        How many inputs of a batch ``target="native"`` computes at a time; by default one.
    experimental_preserve_all_tensors : bool
        Keep what lies between inputs and outputs, so that `get_tensor` gives it, too. Not with
        ``target="sim"``, whose memory never holds all tensors: every target computes the same.
    **others
        LiteRT's other arguments that begin with ``experimental_``: there are no delegates, and
        results are always those of the reference kernels.

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
        target: str = "native",
        num_threads: int | None = None,
        experimental_preserve_all_tensors: bool = False,
        **others: Any,
    ) -> None:
        check_others(others)
        name, model, self._labels = model_of(model_path, model_content)
        if target not in TARGETS:
            *first, last = TARGETS
            raise UsageError(f"target must be {', '.join(first)} or {last}, not {target!r}")
        if num_threads is not None and (not isinstance(num_threads, int) or num_threads < 1):
            raise UsageError(f"num_threads must be None or 1 or more, not {num_threads!r}")
        compilation = compile_stages(model, config)
        program = compilation.program
        between: list[int] = []
        if experimental_preserve_all_tensors:
            raw = model.read_bytes() if isinstance(model, Path) else model
            between, program = all_tensors(compilation, raw, target)
        elif target == "native" and program.config.has_simd:
            # Results do not depend on the configuration, and these kernels need nothing but C.
            program = compile_model(model, NATIVE_CONFIG)
        self._name, self._compilation = name, compilation
        self._executor = executor_of(target, program, num_threads or 1)
        self._has_states = bool(program.states)
        self._graph = compilation.graph
        self._inputs = dict(zip(self._graph.inputs, program.inputs, strict=True))
        self._detection = compilation.detection
        called = Interface(compilation.file.outputs, {})
        if not compilation.file.is_onnx:
            called = interface(model.read_bytes() if isinstance(model, Path) else model)
        self._signatures = called.signatures
        # Of the boxes that a detector gives, the model says neither types nor shapes.
        count = len(program.outputs) - len(between)
        outputs = program.outputs[:count] if self._detection is None else _found(self._detection)
        self._outputs = dict(zip(called.outputs, outputs, strict=True))
        self._between = dict(zip(between, program.outputs[count:], strict=True))
        self._values: dict[int, NDArray[Any]] = {}
        self._batches = dict.fromkeys(self._inputs, 1)

    @property
    def cycles(self) -> int | None:
        """Cycles of the last inference; None before the first, and unless ``target="sim"``."""
        return self._executor.cycles

    def allocate_tensors(self) -> None:
        """Set all inputs to zero and forget the outputs.

        The first time on a machine this compiles the kernels of ``target="native"``, in some ten
        seconds.

        Raises
        ------
        UsageError
            If the inputs have been given batches of different sizes.
        ToolError
            If the kernels cannot be compiled.
        """
        if len(set(self._batches.values())) > 1:
            sizes = ", ".join(
                f"{tensor.name!r} {list(self._shape(index))}"
                for index, tensor in self._inputs.items()
            )
            raise UsageError(f"all inputs must be resized to a batch of one size, not {sizes}")
        self._executor.prepare()
        self._values = {
            index: np.zeros(self._shape(index), numpy_type(tensor))
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

        Values can be had of inputs, outputs and constants, and of what lies between only with
        ``experimental_preserve_all_tensors``: otherwise it is never all in memory.

        Raises
        ------
        UsageError
            If the number of the subgraph is not 0.
        """
        if subgraph_index != 0:
            raise UsageError(f"subgraph_index must be 0, not {subgraph_index}")
        return [
            found
            for tensor in self._graph.tensors
            if (found := details(tensor, self._shape(tensor.index)))
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
        """Choose how many inputs one `invoke` computes: a multiple of the first dimension.

        Each of them is computed for itself, as if by an `invoke` of its own. Of several inputs all
        must be resized alike. `allocate_tensors` must be called again. All other dimensions are
        fixed when a model is compiled.

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
            If there is no such input, or the shape differs in anything but the first dimension.
        """
        tensor = self._input(input_index)
        shape = [int(size) for size in tensor_size]
        count = batch_of(tensor.shape, shape)
        has_rows = all(output.shape for output in self._outputs.values())
        if count is None or (count > 1 and not has_rows):
            raise UsageError(
                f"shape of {tensor.name!r} must be {list(tensor.shape)}, or a batch of such, not "
                f"{shape}: shapes are fixed when a model is compiled; convert the model with this "
                "shape"
            )
        if count > 1 and self._has_states:
            raise UsageError(
                f"shape of {tensor.name!r} must be {list(tensor.shape)}, not {shape}: the model "
                "keeps something between inferences, so invoke it for one input after the other"
            )
        if count != self._batches[input_index]:
            self._batches[input_index] = count
            self._values = {}

    def reset_all_variables(self) -> None:
        """Give everything that the model keeps between inferences its first value.

        That is what the model's initialization assigns, also where LiteRT resets only what has no
        initialization, or to zero. `allocate_tensors` does not do it.
        """
        self._executor.reset()

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
        dtype = np.dtype(numpy_type(tensor))
        if array.dtype != dtype:
            raise UsageError(f"value of {tensor.name!r} must be {dtype}, not {array.dtype}")
        shape = self._shape(tensor_index)
        if array.shape != shape:
            raise UsageError(
                f"value of {tensor.name!r} must have shape {list(shape)}, not {list(array.shape)}"
            )
        self._values[tensor_index][...] = array

    def invoke(self) -> None:
        """Execute the model once, or once for each input of a batch.

        Raises
        ------
        UsageError
            If tensors are not allocated.
        ToolError
            If the kernels of ``target="native"`` or the simulator cannot be built.
        SimulationError
            With ``target="sim"``: what `kiwicha.sim.verilator.program_run.run_program` raises.
        """
        self._check_allocated()
        values = [self._values[index] for index in self._inputs]
        results = self._executor.run(split(values, self._batch))
        if self._detection is not None:
            results = [list(self._detection.find(*outputs).outputs) for outputs in results]
        written = [*self._outputs, *self._between]
        for index, output in zip(written, joined(results), strict=True):
            place = self._values.setdefault(index, np.empty_like(output))
            place[...] = output

    def get_tensor(self, tensor_index: int) -> NDArray[Any]:
        """Return a copy of an input, an output or a constant, or of any preserved tensor.

        Raises
        ------
        UsageError
            If there is no such tensor, or nothing has given it a value.
        """
        if 0 <= tensor_index < len(self._graph.tensors):
            found = constant(self._graph.tensors[tensor_index])
            if found is not None and tensor_index not in self._values:
                return found
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

    @property
    def labels(self) -> tuple[str, ...]:
        """What each element of the first output means; () if neither zoo nor file says it."""
        return self._labels

    def top(self, count: int = 5) -> list[tuple[str, float]]:
        """Return the largest elements of the first output, with their labels or numbers.

        Parameters
        ----------
        count : int
            How many, at most.

        Raises
        ------
        UsageError
            If nothing has given the output a value, or it is that of a batch.
        """
        index, tensor = next(iter(self._outputs.items()))
        if self._batch > 1:
            raise UsageError("top must be called for one input, not for a batch")
        return largest(tensor, self._value(index), self._labels, count)

    def _repr_html_(self) -> str:
        """Return the layers as a table with a chart of their cycles, for notebooks."""
        return layers_as_html(self._name, self._compilation, self._executor.result)

    def _input(self, index: int) -> IoTensor:
        if index not in self._inputs:
            raise UsageError(f"tensor_index must be {_known(self._inputs)}, not {index}")
        return self._inputs[index]

    def _value(self, tensor_index: int) -> NDArray[Any]:
        if tensor_index not in self._inputs | self._outputs | self._between:
            known = _known(self._inputs | self._outputs)
            more = "; experimental_preserve_all_tensors=True keeps those between"
            raise UsageError(
                f"tensor_index must be {known}, not {tensor_index}{more * (not self._between)}"
            )
        self._check_allocated()
        if tensor_index not in self._values:
            raise NotReadyError("invoke must be called before an output is read")
        return self._values[tensor_index]

    def _check_allocated(self) -> None:
        if self._inputs and not self._values:
            raise NotReadyError("allocate_tensors must be called first")

    def _details(self, index: int) -> Details:
        found = details(self._graph.tensors[index], self._shape(index))
        assert found is not None
        return found

    @property
    def _batch(self) -> int:
        """How many sets of inputs an `invoke` has."""
        return next(iter(self._batches.values()), 1)

    def _shape(self, index: int) -> Shape:
        """Return the shape of a tensor, that of a batch where it has one."""
        known = self._inputs | self._outputs | self._between
        tensor = known.get(index)
        if tensor is None:
            return self._graph.tensors[index].shape
        return batch_shape(tensor.shape, self._batches.get(index, self._batch))


def _found(detection: Detection) -> list[IoTensor]:
    """Return the outputs of a detector."""
    return [
        IoTensor(f"{DETECTION_NAME}:{number}", Ref(), DType.FLOAT32, shape, 0.0, 0)
        for number, shape in enumerate(detection.settings.output_shapes)
    ]


def _known(tensors: dict[int, IoTensor]) -> str:
    return " or ".join(f"{index} ({tensor.name!r})" for index, tensor in tensors.items())

"""A model called by the names of one of its signatures."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kiwicha.compiler.tflite.signatures import Signature
from kiwicha.errors import UsageError
from kiwicha.interpreter.tensor_details import Details

if TYPE_CHECKING:
    from kiwicha.interpreter.interpreter import Interpreter

__all__ = ["SignatureRunner"]


class SignatureRunner:
    """What `kiwicha.Interpreter.get_signature_runner` returns.

    Parameters
    ----------
    interpreter : Interpreter
        Of the model.
    signature : Signature
        One of the model's.
    describe : callable
        Takes a tensor index, gives the tensor's details.
    """

    def __init__(
        self, interpreter: "Interpreter", signature: Signature, describe: Callable[[int], Details]
    ) -> None:
        self._interpreter = interpreter
        self._signature = signature
        self._describe = describe

    def __call__(self, **values: ArrayLike) -> dict[str, NDArray[Any]]:
        """Execute the model once, or once for each input of a batch.

        Parameters
        ----------
        **values : array_like
            Every input by its name in the signature, of its type and shape, or a batch of such: see
            `kiwicha.Interpreter.resize_tensor_input`.

        Returns
        -------
        dict of str to ndarray
            The outputs by their names.

        Raises
        ------
        UsageError
            If the names are not those of the inputs, or a type or shape differs.
        """
        inputs = self._signature.inputs
        if set(values) != set(inputs):
            raise UsageError(
                f"inputs of the signature must be {' and '.join(inputs)}, "
                f"not {' and '.join(values) or 'none'}"
            )
        for name, value in values.items():
            self._interpreter.resize_tensor_input(inputs[name], np.shape(value))
        self._interpreter.allocate_tensors()
        for name, value in values.items():
            self._interpreter.set_tensor(inputs[name], value)
        self._interpreter.invoke()
        outputs = self._signature.outputs.items()
        return {name: self._interpreter.get_tensor(index) for name, index in outputs}

    def get_input_details(self) -> dict[str, Details]:
        """Return the inputs' details by name; see `kiwicha.Interpreter.get_input_details`."""
        return {name: self._describe(index) for name, index in self._signature.inputs.items()}

    def get_output_details(self) -> dict[str, Details]:
        """Return the outputs' details by name."""
        return {name: self._describe(index) for name, index in self._signature.outputs.items()}

"""The writer of .tflite models with variables, and subgraphs that are executed once."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import tflite
from numpy.typing import NDArray

from kiwicha.tflite_writer.tables import (
    OperatorRecord,
    TensorRecord,
    offset_vector,
    operator_table,
    table,
    tensor_table,
    vector,
)
from tests.support.models.tflite_builder import ModelBuilder

__all__ = ["StreamingBuilder", "Subgraph"]


class Subgraph:
    """A further subgraph: tensors of its own, and constants that the first one has, too.

    Parameters
    ----------
    builder : ModelBuilder
        Of the first subgraph.
    """

    def __init__(self, builder: ModelBuilder) -> None:
        self._builder = builder
        self.tensors: list[tuple[TensorRecord, int | None]] = []
        self.operators: list[OperatorRecord] = []

    def handle(self, name: str) -> int:
        """Add a variable's handle and return its index."""
        index = self._tensor(TensorRecord(name, tflite.TensorType.RESOURCE, ()))
        self.operator("VAR_HANDLE", [], [index], "VarHandleOptions", sharedName=name, container="")
        return index

    def constant(self, index: int) -> int:
        """Add a constant, which is this tensor in the first subgraph, and return its index."""
        return self._tensor(self._builder.tensors[index], index)

    def operator(
        self,
        code: str,
        inputs: Sequence[int],
        outputs: Sequence[int],
        options: str = "",
        **fields: Any,
    ) -> None:
        """Add an operator; ``options`` is the name of their table."""
        self.operators.append(
            OperatorRecord((code, 1), tuple(inputs), tuple(outputs), options, fields)
        )

    def _tensor(self, record: TensorRecord, place: int | None = None) -> int:
        self.tensors.append((record, place))
        return len(self.tensors) - 1


class StreamingBuilder(ModelBuilder):
    """Collects tensors, operators and variables."""

    def __init__(self) -> None:
        super().__init__("streaming", code_fields="both")
        self.others: list[Subgraph] = []
        self.handles: dict[str, int] = {}

    def subgraph(self) -> Subgraph:
        """Add a subgraph behind those that are there."""
        self.others.append(Subgraph(self))
        return self.others[-1]

    def variable(self, name: str, first: NDArray[Any] | None, **tensor: Any) -> None:
        """Add a variable, and unless it has no first value, what sets it once.

        Parameters
        ----------
        name : str
            Its name.
        first : ndarray or None
            What it is at first.
        **tensor
            What `tensor` takes for that.
        """
        if first is not None:
            self.others = self.others or [Subgraph(self)]
            constant = self.tensor(first.shape, first.dtype, data=first, **tensor)
            other = self.others[0]
            other.operator("ASSIGN_VARIABLE", [other.handle(name), other.constant(constant)], [])
            if not self.operators:
                self.operator("CALL_ONCE", [], [], initSubgraphIndex=1)
        self.handles[name] = self.tensor((), name=name, type_code=tflite.TensorType.RESOURCE)
        self.operator("VAR_HANDLE", [], [self.handles[name]], sharedName=name, container="")

    def read(self, name: str, shape: Sequence[int], /, **tensor: Any) -> int:
        """Read a variable and return the tensor; ``tensor`` as of `tensor`."""
        value = self.tensor(shape, **tensor)
        self.operator("READ_VARIABLE", [self.handles[name]], [value])
        return value

    def assign(self, name: str, value: int) -> None:
        """Assign a tensor to a variable."""
        self.operator("ASSIGN_VARIABLE", [self.handles[name], value], [])

    def all_operators(self) -> list[OperatorRecord]:
        """Return the operators of all subgraphs."""
        return [*self.operators, *(item for other in self.others for item in other.operators)]

    def subgraphs(
        self,
        fbb: Any,
        codes: Sequence[tuple[str, int]],
        places: Sequence[int],
        inputs: Sequence[int],
        outputs: Sequence[int],
    ) -> list[int]:
        """Write the subgraphs and return their offsets."""
        first = super().subgraphs(fbb, codes, places, inputs, outputs)
        return [*first, *(self._other(fbb, codes, places, other) for other in self.others)]

    def _other(
        self, fbb: Any, codes: Sequence[tuple[str, int]], places: Sequence[int], other: Subgraph
    ) -> int:
        tensors = [
            tensor_table(fbb, record, 0 if index is None else places[index])
            for record, index in other.tensors
        ]
        operators = [operator_table(fbb, one, codes.index(one.code)) for one in other.operators]
        return table(
            fbb,
            "SubGraph",
            Tensors=offset_vector(fbb, tensors),
            Inputs=vector(fbb, [], np.int32),
            Outputs=vector(fbb, [], np.int32),
            Operators=offset_vector(fbb, operators),
            Name=fbb.CreateString("once"),
        )

"""What lowering gives: one `Layer` per operator, all numbers computed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.graph import Graph, Tensor
from kiwicha.isa import Kernel
from kiwicha.layout import Struct

__all__ = ["Layer", "Network", "Values"]

Values = NDArray[np.generic]
_OPTIONAL = {Kernel.CUSTOM: ("input_2", "input_3", "input_4", "parameters")}
"""References that a kernel can do without."""


@dataclass(frozen=True, eq=False)
class Layer:
    """One operator of the model, as a call of a portable kernel.

    Parameters
    ----------
    operator : int
        Operator index.
    name : str
        TFLite operator name.
    macs : int
        Multiply-accumulates of one inference.
    kernel : Kernel or None
        None if nothing has to be executed.
    params : Struct or None
        The kernel's parameters, all references still empty.
    tensors : mapping of str to int
        Reference fields of ``params`` that hold tensors of the graph.
    constants : mapping of str to array
        Reference fields of ``params`` that hold values computed here.
    """

    operator: int
    name: str
    macs: int = 0
    kernel: Kernel | None = None
    params: Any = None
    tensors: Mapping[str, int] = field(default_factory=dict)
    constants: Mapping[str, Values] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Network:
    """A lowered model.

    Parameters
    ----------
    graph : Graph
        The model.
    layers : tuple of Layer
        One per operator, in order of execution.
    aliases : mapping of int to int
        Tensors that share the memory of another tensor with the same bytes.
    """

    graph: Graph
    layers: tuple[Layer, ...]
    aliases: Mapping[int, int]

    def storage(self, tensor: int) -> Tensor:
        """Return the tensor in whose memory a tensor's values are."""
        while tensor in self.aliases:
            tensor = self.aliases[tensor]
        return self.graph.tensors[tensor]

    def verify(self) -> None:
        """Assert that every layer is complete and reads only what is written before it."""
        assert len(self.layers) == len(self.graph.operators)
        written = set(self.graph.inputs)
        for layer in self.layers:
            if layer.kernel is None:
                continue
            assert isinstance(layer.params, Struct)
            for name, tensor in layer.tensors.items():
                storage = self.storage(tensor)
                if name == "output":
                    assert not storage.is_constant
                    written.add(storage.index)
                assert storage.is_constant or storage.index in written, (layer.operator, name)
            references = {n for n, kind, _ in layer.params.layout() if kind.base == "ref"}
            missing = references - {*layer.tensors, *layer.constants}
            assert {*layer.tensors, *layer.constants} <= references
            assert missing <= {"scratch", *_OPTIONAL.get(layer.kernel, ())}, layer.operator
        for output in self.graph.outputs:
            assert self.storage(output).index in written

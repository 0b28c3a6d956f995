"""What lowering gives: one `Layer` per operator, all numbers computed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.tflite.graph import Graph, Tensor
from kiwicha.contract.layout import Struct
from kiwicha.contract.program import Kernel

__all__ = ["Layer", "Network", "Values", "weights_of"]

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
    ranges : mapping of str to (int, int)
        Of tensors that are not meant as a whole: first byte and number of bytes.
    more : tuple of Layer
        Further calls that the operator needs, in order.
    """

    operator: int
    name: str
    macs: int = 0
    kernel: Kernel | None = None
    params: Any = None
    tensors: Mapping[str, int] = field(default_factory=dict)
    constants: Mapping[str, Values] = field(default_factory=dict)
    ranges: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    more: tuple["Layer", ...] = ()

    @property
    def calls(self) -> tuple["Layer", ...]:
        """All kernel calls, in order; none if nothing has to be executed."""
        return () if self.kernel is None else (self, *self.more)


def weights_of(layer: Layer) -> NDArray[np.int16]:
    """Return what a layer multiplies by, in the order of its weights: -255 to 255."""
    offset = np.int16(layer.params.weight_offset)
    return layer.constants["weights"].astype(np.int16) + offset


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
    parts : mapping of int to (int, int)
        Tensors, as stored, that lie inside the memory of another one: that one, as stored, and
        the first byte there.
    """

    graph: Graph
    layers: tuple[Layer, ...]
    aliases: Mapping[int, int]
    parts: Mapping[int, tuple[int, int]] = field(default_factory=dict)

    def storage(self, tensor: int) -> Tensor:
        """Return the tensor in whose memory a tensor's values are."""
        while tensor in self.aliases:
            tensor = self.aliases[tensor]
        return self.graph.tensors[tensor]

    def root(self, tensor: int) -> int:
        """Return the tensor, as stored, that lies in no other one and holds a tensor."""
        storage = self.storage(tensor).index
        while storage in self.parts:
            storage = self.parts[storage][0]
        return storage

    def verify(self) -> None:
        """Assert that every layer is complete and reads only what is written before it."""
        assert len(self.layers) == len(self.graph.operators)
        written = set(self.graph.inputs)
        for layer in self.layers:
            for call in layer.calls:
                assert isinstance(call.params, Struct)
                assert call.kernel is not None
                for name, tensor in call.tensors.items():
                    storage = self.storage(tensor)
                    if name == "output":
                        assert not storage.is_constant
                        written.add(storage.index)
                    assert storage.is_constant or storage.index in written, (call, name)
                references = {n for n, kind, _ in call.params.layout() if kind.base == "ref"}
                missing = references - {*call.tensors, *call.constants}
                assert {*call.tensors, *call.constants} <= references
                assert missing <= {"scratch", *_OPTIONAL.get(call.kernel, ())}, layer.operator
            operator = self.graph.operators[layer.operator]
            for tensor in operator.outputs:
                # Without a call of its own, it is part of another tensor or made of its parts.
                related = {self.storage(tensor).index} & self.shared
                written |= related
        for output in self.graph.outputs:
            assert self.storage(output).index in written

    @property
    def shared(self) -> set[int]:
        """Tensors, as stored, of which one lies inside the other."""
        return {*self.parts, *(whole for whole, _ in self.parts.values())}

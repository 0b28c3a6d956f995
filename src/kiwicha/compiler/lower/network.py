"""What lowering gives: one `Layer` per operator, all numbers computed."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.tflite.graph import Graph
from kiwicha.compiler.tflite.tensor import Tensor
from kiwicha.contract.layout import Struct
from kiwicha.contract.program import Kernel
from kiwicha.kernels.registry import KERNELS

__all__ = ["Layer", "Network", "Values", "weights_of"]

Values = NDArray[np.generic]


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
    is_shared : bool
        A tensor that the operator gives lies inside another one, or holds another one.
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
    is_shared: bool = False

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

    Calls name the tensors whose memory they read and write, never an alias: `lower` resolves
    aliases once.

    Parameters
    ----------
    graph : Graph
        The model, for tensors by index, and for what reports and outputs are called.
    layers : tuple of Layer
        One per operator, in order of execution.
    outputs : tuple of int
        Tensors in whose memory the outputs of the graph are, in their order.
    aliases : mapping of int to int
        Tensors without memory of their own, and the one that has the same bytes. For reports, and
        for passes that change the shape of that one.
    parts : mapping of int to (int, int)
        Tensors that lie inside another one: the outermost, and the first byte there.
    """

    graph: Graph
    layers: tuple[Layer, ...]
    outputs: tuple[int, ...]
    aliases: Mapping[int, int] = field(default_factory=dict)
    parts: Mapping[int, tuple[int, int]] = field(default_factory=dict)

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """All tensors, by index."""
        return self.graph.tensors

    @cached_property
    def shared(self) -> frozenset[int]:
        """Tensors of which one lies inside the other."""
        return frozenset({*self.parts, *(whole for whole, _ in self.parts.values())})

    @cached_property
    def state_writers(self) -> frozenset[int]:
        """Positions of the layers that write what is kept for the next inference."""
        afters = {state.after for state in self.graph.states if not state.is_own}
        return frozenset(
            position
            for position, layer in enumerate(self.layers)
            if any(call.tensors["output"] in afters for call in layer.calls)
        )

    def readers(self, tensor: int) -> int:
        """Return how often a tensor is read: as an output, and where it shares memory, as well."""
        return self._readers[tensor]

    @cached_property
    def _readers(self) -> Counter[int]:
        used = Counter([*self.outputs, *self.shared])
        for layer in self.layers:
            for call in layer.calls:
                used.update(t for name, t in call.tensors.items() if name != "output")
        return used

    def verify(self) -> None:
        """Assert that every layer is complete and reads only what is written before it."""
        assert len(self.layers) == len(self.graph.operators)
        assert not set(self.aliases) & set(self.aliases.values())
        assert not set(self.parts) & {whole for whole, _ in self.parts.values()}
        assert not self.shared & set(self.aliases)
        written = {*self.graph.inputs, *(state.before for state in self.graph.states)}
        for layer in self.layers:
            for call in layer.calls:
                self._verify_call(call, written)
            for tensor in self.graph.operators[layer.operator].outputs:
                # Without a call of its own, it is part of another tensor or made of its parts.
                written |= {self.aliases.get(tensor, tensor)} & self.shared
        assert len(self.outputs) == len(self.graph.outputs)
        assert set(self.outputs) <= written

    def _verify_call(self, call: Layer, written: set[int]) -> None:
        assert isinstance(call.params, Struct)
        assert call.kernel is not None
        assert not set(call.tensors.values()) & set(self.aliases), call
        for name, tensor in call.tensors.items():
            if name == "output":
                assert not self.tensors[tensor].is_constant
                written.add(tensor)
            assert self.tensors[tensor].is_constant or tensor in written, (call, name)
        references = {n for n, kind, _ in call.params.layout() if kind.base == "ref"}
        missing = references - {*call.tensors, *call.constants}
        assert {*call.tensors, *call.constants} <= references
        assert missing <= {"scratch", *KERNELS[call.kernel].optional}, call.operator

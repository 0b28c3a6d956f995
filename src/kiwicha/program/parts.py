"""What a Program consists of, layers, steps, inputs and outputs, and the record of each."""

from dataclasses import dataclass, field

from kiwicha.contract.layout import Ref, Struct
from kiwicha.contract.program import (
    DType,
    IoRecord,
    Kernel,
    LayerRecord,
    StateRecord,
    StepRecord,
    Where,
)
from kiwicha.kernels.registry import KERNEL_PARAMS
from kiwicha.program.format import Names, name_at, padded_shape, shape_of

__all__ = [
    "IoTensor",
    "Layer",
    "StateTensor",
    "Step",
    "io_record",
    "io_tensor_of",
    "layer_of",
    "layer_record",
    "state_record",
    "state_tensor_of",
    "step_of",
]


@dataclass(frozen=True)
class Layer:
    """One operator of the model, for reports.

    Parameters
    ----------
    index : int
        Operator index in the model.
    operator : str
        TFLite operator name.
    shape : tuple of int
        First output.
    macs : int
        Multiply-accumulates of one inference.
    where : Where
        What executes it.
    """

    index: int
    operator: str
    shape: tuple[int, ...]
    macs: int
    where: Where


@dataclass(frozen=True)
class Step:
    """One kernel call.

    Parameters
    ----------
    kernel : Kernel
        What is called.
    layer : int
        On behalf of which layer: its position in `Program.layers`.
    params : Struct
        The kernel's parameters.
    job_layers : tuple of int
        Of a list of the engine with layers that lie too far from this one for descriptors: the
        layer of each of its jobs, counted from this one. The stored form does not say it.
    """

    kernel: Kernel
    layer: int
    params: Struct
    job_layers: tuple[int, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True)
class IoTensor:
    """One input or output of the model.

    Parameters
    ----------
    name : str
        As in the model.
    ref : Ref
        Where it is in the arena.
    dtype : DType
        Element type.
    shape : tuple of int
        Row-major.
    scale : float
        ``real = scale * (value - zero_point)``; 0 if not quantized.
    zero_point : int
        See ``scale``.
    """

    name: str
    ref: Ref
    dtype: DType
    shape: tuple[int, ...]
    scale: float
    zero_point: int


@dataclass(frozen=True)
class StateTensor:
    """A tensor that keeps its bytes from one inference to the next.

    Parameters
    ----------
    name : str
        As in the model.
    ref : Ref
        Where it is in the arena.
    first : Ref
        Constant that it is before the first inference; one byte stands for as many as it has.
    """

    name: str
    ref: Ref
    first: Ref


def layer_record(layer: Layer, names: Names) -> LayerRecord:
    """Return the record of a layer."""
    return LayerRecord(
        index=layer.index,
        name_offset=names.add(layer.operator),
        macs_low=layer.macs & 0xFFFF_FFFF,
        macs_high=layer.macs >> 32,
        where=layer.where,
        rank=len(layer.shape),
        reserved=0,
        shape=padded_shape(layer.shape),
    )


def io_record(tensor: IoTensor, names: Names) -> IoRecord:
    """Return the record of an input or output."""
    return IoRecord(
        tensor=tensor.ref,
        name_offset=names.add(tensor.name),
        dtype=tensor.dtype,
        rank=len(tensor.shape),
        reserved=0,
        scale=tensor.scale,
        zero_point=tensor.zero_point,
        shape=padded_shape(tensor.shape),
    )


def layer_of(record: LayerRecord, names: bytes) -> Layer:
    """Return the layer of a record."""
    return Layer(
        index=record.index,
        operator=name_at(names, record.name_offset),
        shape=shape_of(record),
        macs=record.macs_low | record.macs_high << 32,
        where=Where(record.where),
    )


def io_tensor_of(record: IoRecord, names: bytes) -> IoTensor:
    """Return the input or output of a record."""
    return IoTensor(
        name=name_at(names, record.name_offset),
        ref=record.tensor,
        dtype=DType(record.dtype),
        shape=shape_of(record),
        scale=record.scale,
        zero_point=record.zero_point,
    )


def state_record(state: StateTensor, names: Names) -> StateRecord:
    """Return the record of a state."""
    return StateRecord(state.ref, state.first, names.add(state.name), 0)


def state_tensor_of(record: StateRecord, names: bytes) -> StateTensor:
    """Return the state of a record."""
    return StateTensor(name_at(names, record.name_offset), record.tensor, record.first)


def step_of(record: StepRecord, raw: bytes) -> Step:
    """Return the step of a record; ``raw`` begins with its parameters."""
    kernel = Kernel(record.kernel)
    kind = KERNEL_PARAMS[kernel]
    if record.params_bytes != kind.size_bytes():
        raise ValueError(f"{kind.__name__} must have {kind.size_bytes()} bytes ({record})")
    return Step(kernel, record.layer, kind.unpack(raw))

"""A compiled model: steps, constants and tensors, and its stored form.

`Program.to_bytes` gives what firmware executes from DRAM; `Program.from_bytes` reads it back, every
byte checked. The layouts are those of `kiwicha.isa`.
"""

import dataclasses
from dataclasses import dataclass
from typing import Self, TypeVar

import numpy as np

from kiwicha import isa
from kiwicha.errors import ProgramError
from kiwicha.layout import Ref, Struct

__all__ = ["IoTensor", "Layer", "Program", "Step", "checksum"]

S = TypeVar("S", bound=Struct)

_CHECKED_FROM = 20
"""First byte that the checksum covers: what follows the checksum field."""


def checksum(raw: bytes) -> tuple[int, int]:
    """Return the two words of a Program's checksum.

    Parameters
    ----------
    raw : bytes
        A multiple of 4 bytes, read as little-endian words w[0], w[1], ...

    Returns
    -------
    tuple of int
        Modulo 2**32, the sum of the words and the sum of all prefix sums: any changed word changes
        the first, any two exchanged ones the second.
    """
    words = np.frombuffer(raw, "<u4").astype(np.uint64)
    weights = np.arange(len(words), 0, -1, dtype=np.uint64)
    return int(words.sum()) & 0xFFFF_FFFF, int((words * weights).sum(dtype=np.uint64)) & 0xFFFF_FFFF


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
    where : isa.Where
        What executes it.
    """

    index: int
    operator: str
    shape: tuple[int, ...]
    macs: int
    where: isa.Where


@dataclass(frozen=True)
class Step:
    """One kernel call on behalf of layer number ``layer`` (position in `Program.layers`)."""

    kernel: isa.Kernel
    layer: int
    params: Struct


@dataclass(frozen=True)
class IoTensor:
    """One input or output of the model.

    Parameters
    ----------
    name : str
        As in the model.
    ref : Ref
        Where it is in the arena.
    dtype : isa.DType
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
    dtype: isa.DType
    shape: tuple[int, ...]
    scale: float
    zero_point: int


@dataclass(frozen=True)
class Program:
    """Everything that is needed to run a model on one configuration.

    Parameters
    ----------
    config_hash : int
        `isa.Config.hash` of the configuration it was compiled for.
    arena_bytes : int
        Size of the arena.
    inputs, outputs : tuple of IoTensor
        In the model's order.
    layers : tuple of Layer
        In the model's order.
    steps : tuple of Step
        In order of execution.
    constants : bytes
        Weights, biases, scales and tables. A constant `Ref` of a step counts from the first of
        these bytes; in the stored form from the Program's first byte.
    """

    config_hash: int
    arena_bytes: int
    inputs: tuple[IoTensor, ...]
    outputs: tuple[IoTensor, ...]
    layers: tuple[Layer, ...]
    steps: tuple[Step, ...]
    constants: bytes

    @property
    def config(self) -> isa.Config:
        """The configuration it was compiled for.

        Raises
        ------
        ProgramError
            If this version has no such configuration.
        """
        for config in isa.CONFIGS.values():
            if config.hash == self.config_hash:
                return config
        known = ", ".join(f"{c.name} ({c.hash:08x})" for c in isa.CONFIGS.values())
        raise ProgramError(
            f"configuration of the Program must be one of {known}, not {self.config_hash:08x}; "
            "compile the model again"
        )

    def to_bytes(self) -> bytes:
        """Return the stored form."""
        names = _Names()
        layers = [_layer_record(layer, names) for layer in self.layers]
        inputs = [_io_record(tensor, names) for tensor in self.inputs]
        outputs = [_io_record(tensor, names) for tensor in self.outputs]

        offset = _aligned(isa.ProgramHeader.size_bytes())
        offsets: dict[str, int] = {}
        for key, size in (
            ("steps", len(self.steps) * isa.StepRecord.size_bytes()),
            ("layers", len(layers) * isa.LayerRecord.size_bytes()),
            ("inputs", len(inputs) * isa.IoRecord.size_bytes()),
            ("outputs", len(outputs) * isa.IoRecord.size_bytes()),
            ("names", len(names.raw)),
            ("params", sum(_aligned(step.params.size_bytes()) for step in self.steps)),
        ):
            offsets[key] = offset
            offset += _aligned(size)
        total = offset + _aligned(len(self.constants))

        image = bytearray(total)
        params_at = offsets["params"]
        for number, step in enumerate(self.steps):
            params = _moved(step.params, offset).pack()
            image[params_at : params_at + len(params)] = params
            record = isa.StepRecord(step.kernel, step.layer, params_at, len(params), 0)
            _put(image, offsets["steps"] + number * record.size_bytes(), record)
            params_at += _aligned(len(params))
        for key, records in (("layers", layers), ("inputs", inputs), ("outputs", outputs)):
            for number, item in enumerate(records):
                _put(image, offsets[key] + number * item.size_bytes(), item)
        image[offsets["names"] : offsets["names"] + len(names.raw)] = names.raw
        image[offset : offset + len(self.constants)] = self.constants

        header = isa.ProgramHeader(
            magic=isa.PROGRAM_MAGIC,
            version=isa.PROGRAM_VERSION,
            config_hash=self.config_hash,
            checksum=(0, 0),
            total_bytes=total,
            arena_bytes=self.arena_bytes,
            step_count=len(self.steps),
            steps_offset=offsets["steps"],
            layer_count=len(layers),
            layers_offset=offsets["layers"],
            input_count=len(inputs),
            inputs_offset=offsets["inputs"],
            output_count=len(outputs),
            outputs_offset=offsets["outputs"],
            names_offset=offsets["names"],
            names_bytes=len(names.raw),
            constants_offset=offsets["params"],
            constants_bytes=total - offsets["params"],
            reserved=0,
        )
        _put(image, 0, header)
        header = dataclasses.replace(header, checksum=checksum(bytes(image[_CHECKED_FROM:])))
        _put(image, 0, header)
        return bytes(image)

    @classmethod
    def from_bytes(cls, raw: bytes) -> Self:
        """Return the Program stored in ``raw``.

        Raises
        ------
        ProgramError
            If the bytes are not a Program of this version, are damaged, or contradict themselves.
        """
        try:
            header = isa.ProgramHeader.unpack(raw)
        except ValueError as error:
            raise _refusal(isa.Status.BAD_MAGIC, f"{len(raw)} bytes") from error
        if header.magic != isa.PROGRAM_MAGIC:
            raise _refusal(isa.Status.BAD_MAGIC, f"first word {header.magic:#010x}")
        if header.version != isa.PROGRAM_VERSION:
            raise _refusal(isa.Status.BAD_VERSION, f"version {header.version}")
        if header.total_bytes != len(raw) or len(raw) % 4:
            raise _refusal(isa.Status.BAD_BOUNDS, f"{len(raw)} bytes, not {header.total_bytes}")
        if header.checksum != checksum(raw[_CHECKED_FROM:]):
            raise _refusal(isa.Status.BAD_CHECKSUM, "checksum differs")
        try:
            return cls._from_records(header, raw)
        except (ValueError, UnicodeDecodeError) as error:
            raise _refusal(isa.Status.BAD_BOUNDS, str(error)) from error

    @classmethod
    def _from_records(cls, header: isa.ProgramHeader, raw: bytes) -> Self:
        names = raw[header.names_offset : header.names_offset + header.names_bytes]
        steps = []
        base = header.constants_offset
        for record in _records(isa.StepRecord, raw, header.steps_offset, header.step_count):
            kernel = isa.Kernel(record.kernel)
            params = isa.KERNEL_PARAMS[kernel].unpack(raw[record.params_offset :])
            base = max(base, record.params_offset + _aligned(record.params_bytes))
            steps.append(Step(kernel, record.layer, params))
        return cls(
            config_hash=header.config_hash,
            arena_bytes=header.arena_bytes,
            inputs=tuple(
                _io_tensor(r, names)
                for r in _records(isa.IoRecord, raw, header.inputs_offset, header.input_count)
            ),
            outputs=tuple(
                _io_tensor(r, names)
                for r in _records(isa.IoRecord, raw, header.outputs_offset, header.output_count)
            ),
            layers=tuple(
                Layer(
                    r.index,
                    _name(names, r.name_offset),
                    r.shape[: r.rank],
                    r.macs_low | r.macs_high << 32,
                    isa.Where(r.where),
                )
                for r in _records(isa.LayerRecord, raw, header.layers_offset, header.layer_count)
            ),
            steps=tuple(Step(s.kernel, s.layer, _moved(s.params, -base)) for s in steps),
            constants=raw[base:],
        )


class _Names:
    """Zero-terminated strings, each stored once."""

    def __init__(self) -> None:
        self.raw = b""
        self._offsets: dict[str, int] = {}

    def add(self, name: str) -> int:
        if name not in self._offsets:
            self._offsets[name] = len(self.raw)
            self.raw += name.encode() + b"\0"
        return self._offsets[name]


def _name(names: bytes, offset: int) -> str:
    return names[offset : names.index(b"\0", offset)].decode()


def _layer_record(layer: Layer, names: _Names) -> isa.LayerRecord:
    return isa.LayerRecord(
        index=layer.index,
        name_offset=names.add(layer.operator),
        macs_low=layer.macs & 0xFFFF_FFFF,
        macs_high=layer.macs >> 32,
        where=layer.where,
        rank=len(layer.shape),
        reserved=0,
        shape=_shape(layer.shape),
    )


def _io_record(tensor: IoTensor, names: _Names) -> isa.IoRecord:
    return isa.IoRecord(
        tensor=tensor.ref,
        name_offset=names.add(tensor.name),
        dtype=tensor.dtype,
        rank=len(tensor.shape),
        reserved=0,
        scale=tensor.scale,
        zero_point=tensor.zero_point,
        shape=_shape(tensor.shape),
    )


def _io_tensor(record: isa.IoRecord, names: bytes) -> IoTensor:
    return IoTensor(
        name=_name(names, record.name_offset),
        ref=record.tensor,
        dtype=isa.DType(record.dtype),
        shape=record.shape[: record.rank],
        scale=record.scale,
        zero_point=record.zero_point,
    )


def _shape(shape: tuple[int, ...]) -> tuple[int, ...]:
    return shape + (0,) * (isa.MAX_RANK - len(shape))


def _aligned(size: int) -> int:
    return -(-size // isa.ALIGNMENT_BYTES) * isa.ALIGNMENT_BYTES


def _put(image: bytearray, offset: int, record: Struct) -> None:
    raw = record.pack()
    image[offset : offset + len(raw)] = raw


def _records(kind: type[S], raw: bytes, offset: int, count: int) -> list[S]:
    size = kind.size_bytes()
    if offset + count * size > len(raw):
        raise ValueError(f"{count} {kind.__name__} at {offset} must lie inside {len(raw)} bytes")
    return [kind.unpack(raw[offset + k * size :]) for k in range(count)]


def _moved(params: Struct, distance: int) -> Struct:
    """Return ``params`` with every constant reference moved by ``distance`` bytes."""
    changes = {}
    for name, kind, _ in params.layout():
        value = getattr(params, name)
        if kind.base == "ref" and value.is_constant and value.bytes:
            if value.offset + distance < 0:
                raise ValueError(f"{type(params).__name__}.{name} must point at a constant")
            changes[name] = dataclasses.replace(value, offset=value.offset + distance)
    return dataclasses.replace(params, **changes)  # type: ignore[type-var]


def _refusal(status: isa.Status, detail: str) -> ProgramError:
    return ProgramError(f"{isa.STATUS_TEXT[status]} ({detail})")

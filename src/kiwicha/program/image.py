"""A compiled model: steps, constants and tensors, and its stored form.

`Program.to_bytes` gives what firmware executes from DRAM; `Program.from_bytes` reads it back, every
byte checked. The layouts are those of `kiwicha.contract.program`.
"""

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from kiwicha.contract import cfu, configs
from kiwicha.contract.layout import Ref, Struct
from kiwicha.contract.memories import DDR3_QUARTER_RATE, Memory
from kiwicha.contract.program import (
    PROGRAM_MAGIC,
    PROGRAM_VERSION,
    IoRecord,
    LayerRecord,
    ProgramHeader,
    StateRecord,
    StepRecord,
)
from kiwicha.errors import ProgramError
from kiwicha.program.format import (
    CHECKED_FROM,
    Names,
    aligned,
    check_refs,
    checksum,
    moved_constants,
    put,
    records,
)
from kiwicha.program.parts import (
    IoTensor,
    Layer,
    StateTensor,
    Step,
    io_record,
    io_tensor_of,
    layer_of,
    layer_record,
    state_record,
    state_tensor_of,
    step_of,
)

__all__ = ["Program"]


@dataclass(frozen=True)
class Program:
    """Everything that is needed to run a model on one configuration.

    Parameters
    ----------
    config_hash : int
        `configs.Config.hash` of the configuration it was compiled for.
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
    shift_bytes : int
        By how much every second inference lies further in the arena, so that its inputs can be
        written during the one before; 0 if all lie at its start. With states only the places of
        inputs and outputs do; what an inference works with is copied, see `inner_bytes`.
    states : tuple of StateTensor
        What is kept from one inference to the next.
    memory : Memory
        DRAM that it was scheduled for. It runs with any, and its stored form does not say.
    """

    config_hash: int
    arena_bytes: int
    inputs: tuple[IoTensor, ...]
    outputs: tuple[IoTensor, ...]
    layers: tuple[Layer, ...]
    steps: tuple[Step, ...]
    constants: bytes
    shift_bytes: int = 0
    states: tuple[StateTensor, ...] = ()
    memory: Memory = dataclasses.field(default=DDR3_QUARTER_RATE, compare=False, repr=False)

    @property
    def window_bytes(self) -> int:
        """Bytes of the arena that one inference uses."""
        return self.arena_bytes - (0 if self.states else self.shift_bytes)

    @property
    def inner_bytes(self) -> int:
        """By how much inputs and outputs lie further for an inference than in its first place."""
        return 2 * self.shift_bytes if self.states else 0

    def first_values(self) -> list[bytes]:
        """Return what the states are before the first inference."""
        values = []
        for state in self.states:
            raw = self.constants[state.first.offset :][: state.first.bytes]
            values.append(raw * (state.ref.bytes if len(raw) == 1 else 1))
        return values

    def with_first_values(self, values: Sequence[bytes]) -> Self:
        """Return a Program that begins with other values of its states, one for each.

        Parameters
        ----------
        values : sequence of bytes
            As many as the state has, of each.
        """
        constants, states = bytearray(self.constants), []
        for state, value in zip(self.states, values, strict=True):
            assert len(value) == state.ref.bytes
            constants.extend(bytes(-len(constants) % cfu.ALIGNMENT_BYTES))
            first = Ref(len(constants), len(value), is_constant=True)
            states.append(dataclasses.replace(state, first=first))
            constants.extend(value)
        return dataclasses.replace(self, constants=bytes(constants), states=tuple(states))

    @property
    def config(self) -> configs.Config:
        """The configuration it was compiled for, with its memory.

        Raises
        ------
        ProgramError
            If this version has no such configuration.
        """
        config = configs.config_of_hash(self.config_hash)
        if config is not None:
            return config.with_memory(self.memory)
        known = ", ".join(f"{c.name} ({c.hash:08x})" for c in configs.CONFIGS.values())
        raise ProgramError(
            f"configuration of the Program must be one of {known}, not {self.config_hash:08x}; "
            "compile the model again"
        )

    def to_bytes(self) -> bytes:
        """Return the stored form, from which `from_bytes` makes an equal Program.

        Equal as far as 32 bits hold the scales of inputs and outputs.

        Raises
        ------
        ValueError
            If a number, name or shape does not fit its field.
        """
        names = Names()
        layers = [layer_record(layer, names) for layer in self.layers]
        inputs = [io_record(tensor, names) for tensor in self.inputs]
        outputs = [io_record(tensor, names) for tensor in self.outputs]
        states = [state_record(state, names) for state in self.states]

        offset = aligned(ProgramHeader.size_bytes())
        offsets: dict[str, int] = {}
        for key, size in (
            ("steps", len(self.steps) * StepRecord.size_bytes()),
            ("layers", len(layers) * LayerRecord.size_bytes()),
            ("inputs", len(inputs) * IoRecord.size_bytes()),
            ("outputs", len(outputs) * IoRecord.size_bytes()),
            ("states", len(states) * StateRecord.size_bytes()),
            ("names", len(names.raw)),
            ("params", sum(aligned(step.params.size_bytes()) for step in self.steps)),
        ):
            offsets[key] = offset
            offset += aligned(size)
        total = offset + aligned(len(self.constants))

        image = bytearray(total)
        params_at = offsets["params"]
        for number, step in enumerate(self.steps):
            params = moved_constants(step.params, offset).pack()
            image[params_at : params_at + len(params)] = params
            record = StepRecord(step.kernel, step.layer, params_at, len(params), 0)
            put(image, offsets["steps"] + number * record.size_bytes(), record)
            params_at += aligned(len(params))
        tables: tuple[tuple[str, Sequence[Struct]], ...] = (
            ("layers", layers),
            ("inputs", inputs),
            ("outputs", outputs),
            ("states", [moved_constants(state, offset) for state in states]),
        )
        for key, items in tables:
            for number, item in enumerate(items):
                put(image, offsets[key] + number * item.size_bytes(), item)
        image[offsets["names"] : offsets["names"] + len(names.raw)] = names.raw
        image[offset : offset + len(self.constants)] = self.constants

        header = ProgramHeader(
            magic=PROGRAM_MAGIC,
            version=PROGRAM_VERSION,
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
            constants_bytes=offset + len(self.constants) - offsets["params"],
            shift_bytes=self.shift_bytes,
            state_count=len(states),
            states_offset=offsets["states"],
        )
        put(image, 0, header)
        header = dataclasses.replace(header, checksum=checksum(memoryview(image)[CHECKED_FROM:]))
        put(image, 0, header)
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
            header = ProgramHeader.unpack(raw)
        except ValueError as error:
            raise _refusal(cfu.Status.BAD_MAGIC, f"{len(raw)} bytes") from error
        if header.magic != PROGRAM_MAGIC:
            raise _refusal(cfu.Status.BAD_MAGIC, f"first word {header.magic:#010x}")
        if header.version != PROGRAM_VERSION:
            raise _refusal(cfu.Status.BAD_VERSION, f"version {header.version}")
        if configs.config_of_hash(header.config_hash) is None:
            raise _refusal(cfu.Status.BAD_CONFIG, f"configuration {header.config_hash:08x}")
        if header.total_bytes != len(raw) or len(raw) % 4:
            raise _refusal(cfu.Status.BAD_BOUNDS, f"{len(raw)} bytes, not {header.total_bytes}")
        if header.checksum != checksum(raw[CHECKED_FROM:]):
            raise _refusal(cfu.Status.BAD_CHECKSUM, "checksum differs")
        try:
            return cls._from_records(header, raw)
        except ValueError as error:
            raise _refusal(cfu.Status.BAD_BOUNDS, str(error)) from error

    @classmethod
    def _from_records(cls, header: ProgramHeader, raw: bytes) -> Self:
        end = header.constants_offset + header.constants_bytes
        names_end = header.names_offset + header.names_bytes
        if max(end, names_end) > len(raw):
            raise ValueError(f"names and constants must lie inside {len(raw)} bytes")
        names = raw[header.names_offset : names_end]
        steps = []
        base = header.constants_offset
        for record in records(StepRecord, raw, header.steps_offset, header.step_count):
            step = step_of(record, raw[record.params_offset : end])
            if record.layer >= header.layer_count or record.params_offset < header.constants_offset:
                raise ValueError(f"layer and parameters of a step must exist ({record})")
            base = max(base, record.params_offset + aligned(record.params_bytes))
            steps.append(step)
        if base > end:
            raise ValueError(f"constants must end behind the parameters, not at {end}")
        program = cls(
            config_hash=header.config_hash,
            arena_bytes=header.arena_bytes,
            inputs=tuple(
                io_tensor_of(record, names)
                for record in records(IoRecord, raw, header.inputs_offset, header.input_count)
            ),
            outputs=tuple(
                io_tensor_of(record, names)
                for record in records(IoRecord, raw, header.outputs_offset, header.output_count)
            ),
            layers=tuple(
                layer_of(record, names)
                for record in records(LayerRecord, raw, header.layers_offset, header.layer_count)
            ),
            steps=tuple(
                dataclasses.replace(step, params=moved_constants(step.params, -base))
                for step in steps
            ),
            constants=raw[base:end],
            shift_bytes=header.shift_bytes,
            states=tuple(
                state_tensor_of(moved_constants(record, -base), names)
                for record in records(StateRecord, raw, header.states_offset, header.state_count)
            ),
        )
        program._check_refs()
        return program

    def _check_refs(self) -> None:
        shift, space = self.shift_bytes, self.window_bytes
        count, share = (3, "a third of") if self.states else (2, "half")
        if count * shift > self.arena_bytes or shift % cfu.CACHE_LINE_BYTES:
            raise ValueError(
                f"shift must be a multiple of {cfu.CACHE_LINE_BYTES} and {share} the "
                f"{self.arena_bytes} bytes of the arena at most, not {shift}"
            )
        for step in self.steps:
            check_refs(step.params, space, len(self.constants))
        for state in self.states:
            check_refs(state_record(state, Names()), space, len(self.constants))
            is_whole = state.first.bytes in {1, state.ref.bytes} and state.first.is_constant
            if state.ref.is_constant or not state.ref.bytes or not is_whole:
                raise ValueError(
                    f"state {state.name!r} must lie in the arena, and its first value must be a "
                    f"constant of 1 or as many bytes ({state.ref}, {state.first})"
                )
        # Where inputs and outputs of the inference before and behind have their place.
        space = shift or space
        for tensor in self.inputs + self.outputs:
            size = math.prod(tensor.shape) * tensor.dtype.size_bytes
            ref = tensor.ref
            if ref.is_constant or ref.bytes != size or ref.offset + size > space:
                raise ValueError(
                    f"{tensor.name!r} must be {size} bytes inside the {space} bytes of"
                    f" the arena ({ref})"
                )


def _refusal(status: cfu.Status, detail: str) -> ProgramError:
    return ProgramError(f"{cfu.STATUS_TEXT[status]} ({detail})")

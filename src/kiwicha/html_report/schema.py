"""The JSON of runs and studies, as models: what is checked when it is read, and published.

An object stands for one with such fields and maybe others.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, WrapValidator
from pydantic_core import PydanticCustomError

from kiwicha.html_report.sorts import CAUSES, MEASURES

__all__ = ["RULE", "Made", "RunFile", "StudyFile", "json_schema"]

RULE = "rule"
"""Type of the errors whose message says what a value must be."""


def _ruled(words: str) -> WrapValidator:
    """Return what tells in these words that a value is not what it must be."""

    def check(value: Any, inner: Any) -> Any:
        try:
            return inner(value)
        except ValidationError:
            raise PydanticCustomError(RULE, "{words}", {"words": words}) from None

    return WrapValidator(check)


_COUNT = "a number from 0 on"
Text = Annotated[str, _ruled("a string")]
Flag = Annotated[bool, _ruled("true or false")]
FlagOrNull = Annotated[bool | None, _ruled("true or false, or null")]
Positive = Annotated[float, Field(gt=0), _ruled("a number above 0")]
Count = Annotated[float, Field(ge=0), _ruled(_COUNT)]
CountOrNull = Annotated[Annotated[float, Field(ge=0)] | None, _ruled(f"{_COUNT}, or null")]
Cause = Annotated[
    Literal["arithmetic", "requantizer", "weights", "transfers", "overhead", "cpu", "unknown"],
    _ruled(" or ".join(CAUSES)),
]
Objective = Annotated[Literal["cycles", "lut", "dsp", "bram"], _ruled(" or ".join(MEASURES))]


class _Model(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow")


class Made(_Model):
    """When, by what and how a file was made."""

    date: Text = Field(description="Date and time in UTC.")
    version: Text = Field(description="Of Kiwicha.")
    command: Text = Field(description="What was typed.")


class Tensor(_Model):
    """A tensor in a memory: where, and from which cycle of the inference to which."""

    name: Text
    offset: Count
    bytes: Count
    start: Count
    end: Count


class Memory(_Model):
    """A memory of the inference, its bytes and what lies in it."""

    bytes: Count
    tensors: list[Tensor]


class Traffic(_Model):
    """Bytes that cross the memory port for a layer."""

    weights: Count
    loads: Count
    stores: Count
    cpu_reads: Count
    cpu_writes: Count


class LayerProfile(_Model):
    """Where a layer's cycles and bytes went."""

    shape: list[Count] = Field(default=[], description="Of its first output.")
    why: Text = Field(default="", description="Why it runs where it does.")
    split: dict[Cause, Count] = Field(description="Cycles by what they were spent on.")
    dram: Traffic
    predicted: Count | None = Field(default=None, description="Cycles by the compiler's model.")


class Profile(_Model):
    """What a simulation tells beyond cycles."""

    layers: list[LayerProfile]
    memory: dict[str, Memory] = Field(description="By name: arena and scratchpad.")
    macs_per_cycle: Positive = Field(description="What the hardware can do.")
    dram_bytes_per_cycle: Positive = Field(description="Of sequential reads.")


class Layer(_Model):
    """One operator of the model."""

    index: Count = Field(description="In the model.")
    op: Text = Field(description="TFLite's name of the operator.")
    where: Text = Field(description="What executed it.")
    cycles: CountOrNull
    macs: Count


class RunFile(_Model):
    """A run: what ``kiwicha run --json`` writes, and ``kiwicha bench --json`` in a list."""

    model: Text
    config: Text
    target: Text
    cycles: Positive = Field(description="Of an inference.")
    macs: Count
    clock_hz: Positive = Field(description="Turns cycles into time.")
    layers: list[Layer]
    memory: Text = Field(default="", description="Memory that it was compiled for.")
    utilization: CountOrNull = Field(default=None, description="Of the multipliers, 0 to 1.")
    predicted: CountOrNull = Field(default=None, description="Cycles by the compiler's model.")
    bit_exact: FlagOrNull = None
    profile: Profile | None = None
    made: Made | None = None


class Confirmed(_Model):
    """What a configuration took in simulation."""

    cycles: list[Count] = Field(description="Of each model.")


class StudyPoint(_Model):
    """A configuration of a study."""

    config: Text
    front: Flag = Field(description="Whether no other one beats it.")
    cycles: Count = Field(description="Of an inference of each model, predicted.")
    lut: Count = Field(description="LUTs of the accelerator, estimated.")
    dsp: Count = Field(description="Multipliers of the FPGA, estimated.")
    bram: Count = Field(description="Block RAMs of `bram_kbit`, estimated.")
    confirmed: Confirmed | None = None


class StudyFile(_Model):
    """A study: what ``kiwicha explore --json`` writes."""

    models: list[Text]
    objectives: list[Objective]
    configurations: list[StudyPoint]
    misfits: dict[str, Text] = Field(
        default={}, description="Configurations that do not fit the board, and why; not tried."
    )
    bram_kbit: Positive = Field(default=36, description="Kbit of a block RAM.")
    made: Made | None = None


def json_schema() -> dict[str, Any]:
    """Return the JSON schema of the files that ``run``, ``bench`` and ``explore`` write."""
    files: TypeAdapter[Any] = TypeAdapter(RunFile | list[RunFile] | StudyFile)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Runs and studies of Kiwicha",
        **files.json_schema(),
    }

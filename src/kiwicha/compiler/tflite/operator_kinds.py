"""What the records of operators are made of."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

from kiwicha.compiler.tflite.tensor import TensorType

__all__ = ["CARRIED_TYPES", "REDUCER_OPTIONS", "Family", "OperatorKind", "OptionsTable"]

CARRIED_TYPES = (
    TensorType.INT8,
    TensorType.FLOAT32,
    TensorType.INT32,
    TensorType.INT64,
    TensorType.INT16,
    TensorType.BOOL,
)
"""Of what is only moved."""


class Family(enum.Flag):
    """What operators have in common, for rules and for lowering."""

    NONE = 0
    WEIGHTED = enum.auto()
    """Has weights and perhaps a bias."""
    POOL = enum.auto()
    PAIR = enum.auto()
    """Arithmetic on two tensors."""
    BROADCAST = enum.auto()
    """On two tensors, one of which may be smaller."""
    REDUCTION = enum.auto()
    POSITION = enum.auto()
    """Finds an element along a dimension."""
    UNARY = enum.auto()
    """On single values: becomes a table."""
    MOVE = enum.auto()
    """Only moves data."""
    RESHAPE = enum.auto()
    JOIN = enum.auto()
    """Has any number of activations, all of its inputs."""
    SPLIT = enum.auto()
    """Has any number of outputs."""
    VARIABLE = enum.auto()
    """Is about what is kept between inferences, or executes a subgraph that is."""
    INTEGER = enum.auto()
    """On plain integers or booleans, one by one."""
    COMPARISON = enum.auto()
    """Says of two tensors which elements are equal, or less."""
    INDEXED = enum.auto()
    """Moves data to or from places that another tensor names."""


@dataclass(frozen=True)
class OptionsTable:
    """An operator's options in the file.

    Parameters
    ----------
    name : str
        Of the schema's table.
    fields : mapping of str to str
        Fields of `kiwicha.compiler.tflite.graph.Options` that are used, and the accessor of each in
        the generated reader.
    is_required : bool
        The table must be there.
    """

    name: str
    fields: Mapping[str, str]
    is_required: bool = True


REDUCER_OPTIONS = OptionsTable("ReducerOptions", {"keeps_dims": "KeepDims"}, is_required=False)
"""Options of all reductions."""


@dataclass(frozen=True, kw_only=True)
class OperatorKind:
    """What is known of one operator.

    Parameters
    ----------
    family : Family
        What it has in common with others.
    activations : tuple of str
        What its activations are called, inputs from the first on that is no constant.
    options : OptionsTable or None
        Its options in the file.
    types : mapping of str to tuple of TensorType
        By name, types of operands that are not, or not only, int8.
    alike : tuple of str
        Operands that have one type, whichever of theirs that is.
    constants : mapping of int to str
        Inputs that are constants of type int32, by position, and what those are called.
    indices : mapping of int to str
        Inputs of type int32 or int64 that name places, by position: constants or computed.
    extra_inputs : int
        Inputs behind those, which other rules are about.
    optional_inputs : int
        Inputs behind those, which may be left out.
    is_scaled : bool
        Activations of int8 or uint8 have scales and zero points, also where it does not use them.
    is_signed : bool
        Activations are int8 and not uint8, for which no interpreter has a kernel.
    outputs : int
        How many it has, where that is no matter of its family.
    has_int4_weights : bool
        Weights can be int4.
    """

    family: Family = Family.NONE
    activations: tuple[str, ...] = ("input",)
    options: OptionsTable | None = None
    types: Mapping[str, tuple[TensorType, ...]] = field(default_factory=dict)
    alike: tuple[str, ...] = ()
    constants: Mapping[int, str] = field(default_factory=dict)
    indices: Mapping[int, str] = field(default_factory=dict)
    extra_inputs: int = 0
    optional_inputs: int = 0
    is_scaled: bool = True
    is_signed: bool = False
    outputs: int = 1
    has_int4_weights: bool = False

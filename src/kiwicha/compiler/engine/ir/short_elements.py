"""Operators of int16 number by number, and largest numbers of windows."""

from dataclasses import dataclass

from kiwicha.compiler.engine.ir.element_operations import ElementOperation
from kiwicha.compiler.engine.ir.operations import JobOperation
from kiwicha.contract.engine import JobFlag, JobKind
from kiwicha.contract.short_elements import (
    ELEMENT_LANES,
    SHORT_BYTES,
    ShortForm,
    ShortOperator,
)
from kiwicha.numerics.short_elements import ElementScales

__all__ = ["ShortElementOperation", "ShortMaxPooling", "ShortOperation"]

_FLAGS = JobFlag.WIDE | JobFlag.SHORT


@dataclass(frozen=True, eq=False, kw_only=True)
class ShortElementOperation(ElementOperation):
    """An operator of one tensor of int16, or of two; its parameters have no effect.

    Channels are bytes: those of both planes, or of whole numbers. By channel a pixel is read in
    beats of its channels, else all bytes are, as they come.

    Parameters
    ----------
    operator : ShortOperator
        What is computed.
    form : ShortForm
        How all tensors lie; planes are by channel.
    scales : ElementScales
        Of the numbers.
    has_one_pixel : bool
        The second tensor has one pixel, which meets all of them.
    """

    operator: ShortOperator
    form: ShortForm
    scales: ElementScales
    has_one_pixel: bool = False

    @property
    def kind(self) -> JobKind:
        """What its jobs are."""
        return JobKind.SHORT_ELEMENTS

    @property
    def flags(self) -> JobFlag:
        """Flags of its jobs."""
        return _FLAGS

    @property
    def beat_bytes(self) -> int:
        """Bytes of a beat that it reads."""
        return ELEMENT_LANES * (SHORT_BYTES if self.form is ShortForm.WHOLE else 1)

    @property
    def broadcast_inputs(self) -> tuple[int, ...]:
        """Inputs of one pixel, which serves all pixels of the output."""
        return self.inputs[1:] if self.has_one_pixel else ()


@dataclass(frozen=True, eq=False, kw_only=True)
class ShortMaxPooling(JobOperation):
    """The largest number of windows of each channel; no window reaches outside the image.

    Its parameters have no effect. Channels are bytes, as of a `ShortElementOperation`.

    Parameters
    ----------
    form : ShortForm
        How both tensors lie.
    """

    form: ShortForm

    @property
    def kind(self) -> JobKind:
        """What its jobs are."""
        return JobKind.SHORT_ELEMENTS

    @property
    def flags(self) -> JobFlag:
        """Flags of its jobs."""
        return _FLAGS


ShortOperation = ShortElementOperation | ShortMaxPooling
"""What has a job of kind SHORT_ELEMENTS."""

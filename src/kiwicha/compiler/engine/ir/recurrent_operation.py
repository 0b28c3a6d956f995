"""An LSTM: products for the gates of all its steps, and after each step its next states."""

from dataclasses import dataclass

from kiwicha.compiler.engine.ir.operations import JobOperation, Operation
from kiwicha.compiler.engine.ir.window import Image
from kiwicha.compiler.engine.ir.window_operations import Convolution
from kiwicha.contract.engine import JobKind
from kiwicha.contract.recurrences import GATE_BYTES
from kiwicha.numerics.lstm_steps import CellScales

__all__ = ["RecurrentOperation"]


@dataclass(frozen=True, eq=False, kw_only=True)
class RecurrentOperation(Operation):
    """A UNIDIRECTIONAL_SEQUENCE_LSTM of int8.

    It is alone in its region. Its window is one of pixels: a row for each step of each batch.

    Parameters
    ----------
    input_product, hidden_product : Convolution
        What the input and the hidden state add to the gates, of one row each: int16, upper bytes
        and `lower_step` behind them lower ones.
    hidden, cell : int
        Tensors of its states, which it reads and writes.
    scales : CellScales
        Of these.
    batches, step_count : int
        Sequences, and steps of each.
    is_time_major : bool
        Rows of a step lie next to each other, those of all batches; else rows of a batch.
    """

    input_product: Convolution
    hidden_product: Convolution
    hidden: int
    cell: int
    scales: CellScales
    batches: int
    step_count: int
    is_time_major: bool

    @property
    def kind(self) -> JobKind:
        """What its last jobs are."""
        return JobKind.RECURRENT

    @property
    def job_operations(self) -> tuple[JobOperation, ...]:
        """Its products."""
        return (self.input_product, self.hidden_product)

    @property
    def has_gaps(self) -> bool:
        """Whether pixels that it writes take whole words."""
        return False

    @property
    def states(self) -> tuple[int, ...]:
        """Tensors that it keeps for the next inference."""
        return (self.hidden, self.cell)

    @property
    def units(self) -> int:
        """Size of its hidden state."""
        return self.output_channels

    @property
    def lower_step(self) -> int:
        """From upper bytes of what is added to the gates to lower ones."""
        return self.hidden_product.lower_step

    def input_image(self, tensor: int) -> Image:
        """Return the rows, columns and channels of an input."""
        if tensor in self.states:
            size = self.units * (GATE_BYTES if tensor == self.cell else 1)
            return Image(self.batches, 1, size)
        return super().input_image(tensor)

"""An LSTM: products for the gates of all its steps, and after each step its next states."""

from dataclasses import dataclass

from kiwicha.compiler.engine.ir.move_operations import MoveOperation
from kiwicha.compiler.engine.ir.operations import ComputeOperation, JobOperation, Operation
from kiwicha.compiler.engine.ir.window import Image, padded
from kiwicha.contract.engine import JobKind
from kiwicha.contract.recurrences import GATE_BYTES, GATES
from kiwicha.numerics.lstm_steps import CellScales

__all__ = ["RecurrentOperation", "RecurrentPlanes"]


@dataclass(frozen=True, eq=False, kw_only=True)
class RecurrentPlanes:
    """How an LSTM of int16 has what its products read: lower bytes, and behind them upper ones.

    Parameters
    ----------
    inputs : MoveOperation
        Brings a row of the input there.
    hidden, hidden_back : MoveOperation
        Bring the hidden state of all batches there, and back.
    upper_step : int
        From lower bytes of the hidden state of a batch to upper ones.
    """

    inputs: MoveOperation
    hidden: MoveOperation
    hidden_back: MoveOperation
    upper_step: int


@dataclass(frozen=True, eq=False, kw_only=True)
class RecurrentOperation(Operation):
    """A UNIDIRECTIONAL_SEQUENCE_LSTM of int8 or int16.

    It is alone in its region. Its window is one of pixels: a row for each step of each batch.
    Channels are bytes.

    Parameters
    ----------
    input_product, hidden_product : ComputeOperation
        What the input and the hidden state add to the gates, of one row each: int16, upper bytes
        and `lower_step` behind them lower ones.
    hidden, cell : int
        Tensors of its states, which it reads and writes.
    scales : CellScales
        Of these.
    planes : RecurrentPlanes or None
        Of one of int16.
    batches, step_count : int
        Sequences, and steps of each.
    is_time_major : bool
        Rows of a step lie next to each other, those of all batches; else rows of a batch.
    """

    input_product: ComputeOperation
    hidden_product: ComputeOperation
    hidden: int
    cell: int
    scales: CellScales
    planes: RecurrentPlanes | None = None
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
        return (*self.input_product.job_operations, *self.hidden_product.job_operations)

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
        return self.output_channels // (1 if self.planes is None else GATE_BYTES)

    @property
    def plane_bytes(self) -> int:
        """Bytes of a row of upper bytes of what is added to the gates, or of lower ones."""
        return padded(GATES * self.units)

    @property
    def lower_step(self) -> int:
        """From upper bytes of what is added to the gates to lower ones, which precede of int16."""
        return self.plane_bytes if self.planes is None else -self.plane_bytes

    def input_image(self, tensor: int) -> Image:
        """Return the rows, columns and channels of an input."""
        if tensor in self.states:
            size = self.units * GATE_BYTES if tensor == self.cell else self.output_channels
            return Image(self.batches, 1, size)
        return super().input_image(tensor)

"""The engine in numpy: executes its lists from the descriptors, as the hardware does."""

from collections import deque
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.engine import (
    LINE_BYTES,
    ComputedListCall,
    EngineCall,
    EngineJob,
    EngineTransfer,
    TransferFlag,
)
from kiwicha.contract.floats import FLOAT_BYTES
from kiwicha.contract.layout import Ref
from kiwicha.contract.moves import AnyJob, EngineMove
from kiwicha.contract.recurrences import EngineRecurrence
from kiwicha.contract.short_elements import EngineShortElements, has_short_elements
from kiwicha.errors import ProgramError
from kiwicha.program.engine_list import read_list
from kiwicha.program.float_tables import (
    DEQUANTIZE_TABLE_BYTES,
    QUANTIZE_TABLE_BYTES,
    converted_floats,
    converted_to_floats,
)
from kiwicha.program.unit_rows import is_unit_job, unit_rows
from kiwicha.sim.reference.engine_jobs import (
    check_kind,
    execute_job,
    read_ranges,
    written_range,
)
from kiwicha.sim.reference.engine_moves import check_move, execute_move, move_read, move_write
from kiwicha.sim.reference.engine_recurrences import (
    check_recurrence,
    execute_recurrence,
    recurrence_reads,
    recurrence_writes,
)
from kiwicha.sim.reference.engine_short_elements import (
    check_elements,
    elements_reads,
    elements_writes,
    execute_elements,
)
from kiwicha.sim.reference.engine_units import check_units, may_start
from kiwicha.sim.reference.kept_weights import KeptWeights
from kiwicha.sim.reference.memory import Memory
from kiwicha.sim.reference.scratchpad import Range, Scratchpad
from kiwicha.sim.reference.written import PartObserver, Written

__all__ = ["Engine"]


class Engine:
    """The engine of a system: what a list leaves in its scratchpad stays for one that goes on."""

    def __init__(
        self,
        *,
        has_blocks: bool = False,
        has_int16: bool = False,
        has_recurrent: bool = False,
        kept: KeptWeights | None = None,
    ) -> None:
        self._has_blocks = has_blocks
        self._has_int16 = has_int16
        self._has_recurrent = has_recurrent
        self._kept = KeptWeights() if kept is None else kept
        self._scratchpad: Scratchpad | None = None

    def run(
        self, memory: Memory, params: EngineCall, on_part: PartObserver | None = None
    ) -> NDArray[np.int8]:
        """Execute a list of jobs and transfers.

        Jobs go first, those of the array before those of the depthwise unit, and transfers only
        when all wait: with `_check_order` and `check_units` any order that the hardware may take
        gives the same bytes.

        Parameters
        ----------
        memory : Memory
            Arena and constants.
        params : EngineCall
            The list.
        on_part : callable or None
            See `PartObserver`.

        Returns
        -------
        int8 [bytes]
            What was written to the arena, one transfer after the other.

        Raises
        ------
        ProgramError
            If a descriptor contradicts itself, if the order leaves a result to chance, if the list
            waits for itself, or if a job reads what nothing has written.
        """
        image = _image(memory, params)
        if len(image) % LINE_BYTES:
            raise ProgramError(f"size of an image must be a multiple of 16, not {len(image)}")
        if params.is_resident not in {0, 1}:
            raise ProgramError(f"a list must keep weights (1) or not (0), not {params.is_resident}")
        has_weights = bool(params.is_resident) and self._kept.owner == params.image
        its_list = read_list(params, image, has_weights=has_weights)
        if params.is_resident:
            self._kept.owner = None
        jobs, transfers = its_list.jobs, its_list.transfers
        _check(
            *(jobs, transfers, params),
            has_int16=self._has_int16,
            has_recurrent=self._has_recurrent,
        )
        scratchpad = self._scratchpad_of(params)
        scratchpad.notes_writes = on_part is not None
        moving = _Transfers(memory, image, scratchpad)
        written: list[NDArray[np.int8]] = []
        queues = _Queues(jobs)
        transfers_done = 0
        while queues.complete < len(jobs) or transfers_done < len(transfers):
            jobs_done = queues.complete
            number = queues.take(transfers_done)
            if number is not None:
                try:
                    self._execute(jobs[number], image, params.macs, scratchpad)
                except ProgramError as error:
                    raise ProgramError(f"job {number}: {error}") from error
                _tell(on_part, scratchpad, number, is_transfer=False)
            elif (
                transfers_done < len(transfers) and transfers[transfers_done].wait_jobs <= jobs_done
            ):
                stored = moving.execute(transfers[transfers_done])
                if stored is None:
                    _tell(on_part, scratchpad, transfers_done, is_transfer=True)
                else:
                    written.append(stored)
                    _tell_store(on_part, transfers[transfers_done], transfers_done, stored)
                transfers_done += 1
            else:
                raise ProgramError(
                    f"job {jobs_done} and transfer {transfers_done} must not wait for each other"
                )
        if params.is_resident:
            self._kept.owner = params.image
        return np.concatenate([np.zeros(0, np.int8), *written])

    def _execute(self, job: AnyJob, image: bytes, macs: int, scratchpad: Scratchpad) -> None:
        """Execute a job."""
        if isinstance(job, EngineMove):
            execute_move(job, scratchpad)
        elif isinstance(job, EngineRecurrence):
            execute_recurrence(job, scratchpad)
        elif isinstance(job, EngineShortElements):
            execute_elements(job, scratchpad)
        else:
            execute_job(
                job,
                _stream(image, job),
                macs,
                scratchpad,
                has_blocks=self._has_blocks,
                kept=self._kept,
            )

    def _scratchpad_of(self, params: EngineCall) -> Scratchpad:
        """Return the scratchpad as a list finds it."""
        if params.goes_on not in {0, 1}:
            raise ProgramError(f"a list must go on (1) or not (0), not {params.goes_on}")
        if not params.goes_on:
            self._scratchpad = Scratchpad(params.scratchpad_bytes)
        if self._scratchpad is None or len(self._scratchpad.bytes) != params.scratchpad_bytes:
            raise ProgramError(
                "a list that goes on must come behind one with the same bytes of scratchpad"
            )
        self._scratchpad.keep(np.zeros(0, np.int64))
        self._scratchpad.tables = None
        return self._scratchpad


def _tell(
    on_part: PartObserver | None, scratchpad: Scratchpad, number: int, *, is_transfer: bool
) -> None:
    """Tell what a job, or a transfer that loads, has written to the scratchpad."""
    if on_part is not None:
        addresses = scratchpad.take_written()
        on_part(Written(is_transfer, number, False, addresses, scratchpad.bytes[addresses]))


def _tell_store(
    on_part: PartObserver | None, transfer: EngineTransfer, number: int, stored: NDArray[np.int8]
) -> None:
    """Tell what a transfer has written to the arena."""
    if on_part is not None:
        addresses = transfer.range_offset + np.arange(len(stored))
        on_part(Written(True, number, True, addresses, stored.view(np.uint8)))


def _image(memory: Memory, params: EngineCall) -> bytes:
    """Return the Program's range of a list, which can lie in the arena."""
    image = memory.load(params.image, np.uint8, (params.image.bytes,)).tobytes()
    if not isinstance(params, ComputedListCall):
        return image
    computed = memory.load(params.computed, np.uint8, (params.computed.bytes,)).tobytes()
    if computed[: len(image)] != image:
        raise ProgramError("a list in the arena must begin as in the Program")
    return computed


def _check(
    jobs: Sequence[AnyJob],
    transfers: Sequence[EngineTransfer],
    params: EngineCall,
    *,
    has_int16: bool,
    has_recurrent: bool,
) -> None:
    """Check each job, and that their order leaves nothing to chance."""
    for job in jobs:
        if isinstance(job, EngineMove):
            check_move(job)
        elif isinstance(job, EngineRecurrence):
            check_recurrence(job, has_recurrent=has_recurrent)
        elif isinstance(job, EngineShortElements):
            check_elements(job, has_elements=has_short_elements(params.macs, has_int16=has_int16))
        else:
            check_kind(job, has_int16=has_int16)
    _check_order(jobs, transfers, params.macs)
    if any(map(is_unit_job, jobs)):
        check_units(jobs, lambda job: _ranges(job, params.macs), params.scratchpad_bytes)


class _Queues:
    """The jobs of a list, as the array and the depthwise unit take them.

    Parameters
    ----------
    jobs : sequence
        The list.
    """

    def __init__(self, jobs: Sequence[AnyJob]) -> None:
        self._jobs = jobs
        self._rows = unit_rows(jobs)
        self._left = [
            deque(n for n, job in enumerate(jobs) if is_unit_job(job) == is_unit)
            for is_unit in (False, True)
        ]
        self._rows_done = [0, 0]

    @property
    def complete(self) -> int:
        """How many jobs are done, and all before them."""
        return min((left[0] for left in self._left if left), default=len(self._jobs))

    def take(self, transfers_done: int) -> int | None:
        """Return the number of a job that can be done now, if there is one; it counts as done."""
        for is_unit, left in enumerate(self._left):
            if not left or self._jobs[left[0]].wait_transfers > transfers_done:
                continue
            rows = self._rows[left[0]]
            if may_start(rows, self._rows_done[not is_unit]):
                self._rows_done[is_unit] = rows.end
                return left.popleft()
        return None


def _stream(image: bytes, job: EngineJob) -> bytes:
    end = job.weights_offset + job.weights_bytes
    if end > len(image) or job.weights_offset % LINE_BYTES or job.weights_bytes % LINE_BYTES:
        raise ProgramError(f"weights must be aligned and inside the {len(image)} bytes ({job})")
    return image[job.weights_offset : end]


class _Transfers:
    """Execution of transfers.

    Parameters
    ----------
    memory : Memory
        Arena and constants.
    image : bytes
        The Program's range.
    scratchpad : Scratchpad
        The scratchpad.
    """

    def __init__(self, memory: Memory, image: bytes, scratchpad: Scratchpad) -> None:
        self._memory = memory
        self._image = image
        self._scratchpad = scratchpad
        self._table = b""

    def execute(self, transfer: EngineTransfer) -> NDArray[np.int8] | None:
        """Execute a transfer; return what went to the arena."""
        size, start = transfer.scratchpad_bytes, transfer.scratchpad_address
        is_float = transfer.flags == TransferFlag.FLOAT
        unit = LINE_BYTES if transfer.flags else 1
        is_aligned = start % LINE_BYTES == transfer.range_offset % LINE_BYTES
        is_aligned &= (
            start % unit == 0 and transfer.moved_bytes % (FLOAT_BYTES if is_float else 1) == 0
        )
        is_inside = start + size <= len(self._scratchpad.bytes) and bool(transfer.moved_bytes)
        if not is_aligned or not is_inside or transfer.flags not in {0, *TransferFlag}:
            raise ProgramError(f"a transfer must be aligned and inside the scratchpad ({transfer})")
        if transfer.is_store:
            return self._store(transfer)
        values = self._loaded(transfer)
        if transfer.flags == TransferFlag.TABLE:
            self._table = values.tobytes()
            return None
        if is_float:
            self._require_table(QUANTIZE_TABLE_BYTES, transfer)
            values = converted_floats(self._table, values.view(np.uint32))
            # More than the last number may be converted: whatever is there.
            end = start + -(-size // FLOAT_BYTES) * FLOAT_BYTES
            self._scratchpad.spoil(start + size, end)
        self._scratchpad.write(np.arange(start, start + size), values)
        return None

    def _loaded(self, transfer: EngineTransfer) -> NDArray[np.int8]:
        """Return the bytes of a load, as they are in DRAM."""
        offset, size = transfer.range_offset, transfer.moved_bytes
        if not transfer.is_in_program:
            return self._memory.load(Ref(offset, size), np.int8, (size,))
        if offset + size > len(self._image):
            raise ProgramError(f"a transfer must lie inside its image ({transfer})")
        return np.frombuffer(self._image, np.int8)[offset : offset + size]

    def _store(self, transfer: EngineTransfer) -> NDArray[np.int8]:
        """Execute a store; return what went to the arena."""
        start, offset, size = (
            transfer.scratchpad_address,
            transfer.range_offset,
            transfer.moved_bytes,
        )
        if transfer.flags == TransferFlag.TABLE:
            raise ProgramError(f"a table must be loaded, not stored ({transfer})")
        place = slice(start, start + transfer.scratchpad_bytes)
        if not self._scratchpad.is_written[place].all():
            raise ProgramError(f"what goes to the arena must be written before ({transfer})")
        values = self._scratchpad.bytes[place].view(np.int8).copy()
        if transfer.flags == TransferFlag.FLOAT:
            self._require_table(DEQUANTIZE_TABLE_BYTES, transfer)
            values = converted_to_floats(self._table, values).view(np.int8)
            # Whole words are written, whatever comes behind the last number.
            self._memory.spoil(Ref(offset + size, -size % LINE_BYTES))
        self._memory.store(Ref(offset, size), values)
        return values

    def _require_table(self, size: int, transfer: EngineTransfer) -> None:
        if len(self._table) != size:
            raise ProgramError(f"a table of {size} bytes must be loaded before ({transfer})")


def _check_order(jobs: Sequence[AnyJob], transfers: Sequence[EngineTransfer], macs: int) -> None:
    """Check that a job and a transfer that may run at the same time do not touch the same bytes.

    Transfer t is complete before job j if j or an earlier job of its unit waits for more than t
    transfers; job j before transfer t likewise.
    """
    job_waits = np.zeros(len(jobs), np.int64)
    waited = {False: 0, True: 0}
    for number, job in enumerate(jobs):
        # Jobs of either unit are executed in order.
        is_unit = is_unit_job(job)
        waited[is_unit] = max(waited[is_unit], job.wait_transfers)
        job_waits[number] = waited[is_unit]
    transfer_waits = np.maximum.accumulate([item.wait_jobs for item in transfers] or [0])
    for j, job in enumerate(jobs):
        reads, writes = _ranges(job, macs)
        for t in range(int(job_waits[j]), len(transfers)):
            if transfer_waits[t] > j:
                break
            start = transfers[t].scratchpad_address
            size = transfers[t].scratchpad_bytes
            is_load = not transfers[t].is_store
            if any(
                first < start + size and start < last
                for first, last in (*(reads if is_load else ()), *writes)
            ):
                raise ProgramError(f"job {j} and transfer {t} must not run at the same time")


def _ranges(job: AnyJob, macs: int) -> tuple[list[Range], list[Range]]:
    """Return first bytes and ends of what a job reads as data, and of what it writes."""
    if isinstance(job, EngineMove):
        return [move_read(job)], [move_write(job)]
    if isinstance(job, EngineRecurrence):
        return recurrence_reads(job), recurrence_writes(job)
    if isinstance(job, EngineShortElements):
        return elements_reads(job), elements_writes(job)
    return read_ranges(job, macs), [written_range(job, macs)]

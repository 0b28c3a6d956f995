"""The engine in numpy: executes its lists from the descriptors, as the hardware does."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.engine import LINE_BYTES, EngineCall, EngineJob, EngineTransfer, TransferFlag
from kiwicha.contract.floats import FLOAT_BYTES
from kiwicha.contract.layout import Ref
from kiwicha.contract.moves import AnyJob, EngineMove
from kiwicha.errors import ProgramError
from kiwicha.program.engine_list import read_list
from kiwicha.program.float_tables import (
    DEQUANTIZE_TABLE_BYTES,
    QUANTIZE_TABLE_BYTES,
    converted_floats,
    converted_to_floats,
)
from kiwicha.sim.reference.engine_jobs import (
    check_kind,
    execute_job,
    read_ranges,
    written_range,
)
from kiwicha.sim.reference.engine_moves import check_move, execute_move, move_read, move_write
from kiwicha.sim.reference.memory import Memory
from kiwicha.sim.reference.scratchpad import Range, Scratchpad

__all__ = ["Engine"]


class Engine:
    """The engine of a system: what a list leaves in its scratchpad stays for one that goes on."""

    def __init__(self) -> None:
        self._scratchpad: Scratchpad | None = None

    def run(self, memory: Memory, params: EngineCall) -> NDArray[np.int8]:
        """Execute a list of jobs and transfers.

        Jobs go first, transfers only when a job waits for them: with `_check_order` any order that
        the hardware may take gives the same bytes.

        Parameters
        ----------
        memory : Memory
            Arena and constants.
        params : EngineCall
            The list.

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
        image = memory.load(params.image, np.uint8, (params.image.bytes,)).tobytes()
        if len(image) % LINE_BYTES:
            raise ProgramError(f"size of an image must be a multiple of 16, not {len(image)}")
        its_list = read_list(params, image)
        jobs, transfers = its_list.jobs, its_list.transfers
        for job in jobs:
            if isinstance(job, EngineMove):
                check_move(job)
            else:
                check_kind(job)
        _check_order(jobs, transfers, params.macs)
        scratchpad = self._scratchpad_of(params)
        moving = _Transfers(memory, image, scratchpad)
        written: list[NDArray[np.int8]] = []
        jobs_done = transfers_done = 0
        while jobs_done < len(jobs) or transfers_done < len(transfers):
            if jobs_done < len(jobs) and jobs[jobs_done].wait_transfers <= transfers_done:
                job = jobs[jobs_done]
                try:
                    if isinstance(job, EngineMove):
                        execute_move(job, scratchpad)
                    else:
                        execute_job(job, _stream(image, job), params.macs, scratchpad)
                except ProgramError as error:
                    raise ProgramError(f"job {jobs_done}: {error}") from error
                jobs_done += 1
            elif (
                transfers_done < len(transfers) and transfers[transfers_done].wait_jobs <= jobs_done
            ):
                stored = moving.execute(transfers[transfers_done])
                if stored is not None:
                    written.append(stored)
                transfers_done += 1
            else:
                raise ProgramError(
                    f"job {jobs_done} and transfer {transfers_done} must not wait for each other"
                )
        return np.concatenate([np.zeros(0, np.int8), *written])

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
        return self._scratchpad


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

    Transfer t is complete before job j if j or an earlier job waits for more than t transfers; job
    j before transfer t likewise.
    """
    job_waits = np.maximum.accumulate([job.wait_transfers for job in jobs])
    transfer_waits = np.maximum.accumulate([item.wait_jobs for item in transfers] or [0])
    for j, job in enumerate(jobs):
        reads, write = _ranges(job, macs)
        for t in range(int(job_waits[j]), len(transfers)):
            if transfer_waits[t] > j:
                break
            start = transfers[t].scratchpad_address
            size = transfers[t].scratchpad_bytes
            is_load = not transfers[t].is_store
            if any(
                first < start + size and start < last
                for first, last in (*(reads if is_load else ()), write)
            ):
                raise ProgramError(f"job {j} and transfer {t} must not run at the same time")


def _ranges(job: AnyJob, macs: int) -> tuple[list[Range], Range]:
    """Return first byte and end of what a job reads as data, and of what it writes."""
    if isinstance(job, EngineMove):
        return [move_read(job)], move_write(job)
    return read_ranges(job, macs), written_range(job, macs)

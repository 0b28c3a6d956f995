"""Element-wise jobs of the engine in numpy: sums of tables, and products of two tensors."""

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.engine import (
    DEEP_MACS,
    INPUT_LANES,
    PAIR_KINDS,
    TABLE_ENTRIES,
    TABLE_ENTRY_BYTES,
    EngineJob,
    JobFlag,
    JobKind,
    SumFlag,
    last_unit_of,
    outputs_of,
)
from kiwicha.errors import ProgramError
from kiwicha.numerics.requantization import wrap_int32
from kiwicha.program.weight_streams import bytes_of_word, unpack_groups, unpack_tables
from kiwicha.sim.reference.scratchpad import Ints, Range, Scratchpad, requantized

__all__ = ["element_reads", "element_write", "elements", "overwrites"]


def element_reads(job: EngineJob, macs: int) -> list[Range]:
    """Return first byte and end of what a job reads of each tensor."""
    is_kept = _is_kept(job, macs)
    return [_range(addresses[is_kept]) for addresses in _inputs(job, macs)]


def element_write(job: EngineJob, macs: int) -> Range:
    """Return first byte and end of what a job writes."""
    return _range(_outputs(job, macs)[_is_kept(job, macs)])


def overwrites(job: EngineJob, number: int) -> bool:
    """Whether a job whose input is where its output is has read each byte when it writes it."""
    has_steps = (job.column_step, job.group_input_step) == (
        job.output_pixel_bytes,
        job.group_output_step,
    )
    return has_steps and not (number and job.flags & JobFlag.CHANNELS)


def elements(job: EngineJob, stream: bytes, macs: int, scratchpad: Scratchpad) -> None:
    """Execute an ADD, TABLE or MUL.

    Raises
    ------
    ProgramError
        If the descriptor contradicts its stream, or if a sum does not fit.
    ValueError
        If the stream has another size.
    """
    inputs, outputs = _inputs(job, macs), _outputs(job, macs)
    octets = [scratchpad.bytes.take(addresses, mode="wrap") for addresses in inputs]
    if job.kind == JobKind.MUL:
        words = job.group_words, bytes_of_word(macs, JobFlag(job.flags))
        parameters, _ = unpack_groups(stream, job.groups, outputs_of(macs), *words)
        first, second = (octet.view(np.int8).astype(np.int64) for octet in octets)
        sums = (first - job.input_zero_point) * (second - job.weight_zero_point)
    else:
        size = job.group_words * INPUT_LANES * outputs_of(macs)
        if size != TABLE_ENTRIES * TABLE_ENTRY_BYTES:
            raise ProgramError(f"group_words must be the size of the tables, not {job.group_words}")
        parameters, tables = unpack_tables(stream, job.groups, macs)
        group = np.arange(job.groups)[None, :, None]
        sums = np.add.reduce([tables[group, octet, k] for k, octet in enumerate(octets)])
    sums = _with_earlier(job, sums, scratchpad)
    if job.sums & SumFlag.KEEP:
        biases = 0 if job.sums & SumFlag.CONTINUE else parameters.bias.reshape(job.groups, -1)
        scratchpad.keep(_by_group(wrap_int32(sums + biases)).reshape(-1))
        return
    values = requantized(job, sums.reshape(job.segment_words, -1), parameters).reshape(
        outputs.shape
    )
    is_kept = _is_kept(job, macs)
    scratchpad.write(outputs[is_kept], values[is_kept])
    # Bytes behind the tensors are computed along: what comes of them is as undefined as they are.
    is_written = np.logical_and.reduce([
        scratchpad.is_written[addresses[is_kept]] for addresses in inputs
    ])
    scratchpad.is_written[outputs[is_kept]] = is_written


def _with_earlier(job: EngineJob, sums: Ints, scratchpad: Scratchpad) -> Ints:
    """Return sums [results, groups, outputs] with those that it continues."""
    if not job.sums & SumFlag.CONTINUE:
        return sums
    earlier = scratchpad.kept(sums.size).reshape(_by_group(sums).shape)
    return sums + _by_group(earlier)


def _by_group(sums: Ints) -> Ints:
    """Return [results, groups, outputs] as [groups, results, outputs], or the other way round."""
    return sums.swapaxes(0, 1)


def _is_kept(job: EngineJob, macs: int) -> NDArray[np.bool_]:
    """Return which bytes are written, [results, groups, outputs]."""
    outputs = outputs_of(macs)
    is_kept = np.ones((job.segment_words, job.groups, outputs), np.bool_)
    if macs == DEEP_MACS:
        first = 0 if job.group_output_step else job.segment_words - 1
        is_kept[first:, -1, job.last_beats * last_unit_of(macs) :] = False
    return is_kept


def _inputs(job: EngineJob, macs: int) -> list[Ints]:
    """Return the addresses of the bytes of each tensor, [results, groups, outputs]."""
    addresses = [_addresses(job.first_address, job.column_step, job.group_input_step, job, macs)]
    if job.kind in PAIR_KINDS:
        step = 0 if job.flags & JobFlag.CHANNELS else job.column_step
        addresses.append(_addresses(job.input_2_address, step, job.group_input_step, job, macs))
    return addresses


def _outputs(job: EngineJob, macs: int) -> Ints:
    return _addresses(job.output_address, job.output_pixel_bytes, job.group_output_step, job, macs)


def _addresses(first: int, step: int, group_step: int, job: EngineJob, macs: int) -> Ints:
    results = np.arange(job.segment_words)[:, None, None] * step
    groups = np.arange(job.groups)[:, None] * group_step
    addresses: Ints = first + results + groups + np.arange(outputs_of(macs))
    return addresses


def _range(addresses: Ints) -> Range:
    return int(addresses.min()), int(addresses.max()) + 1

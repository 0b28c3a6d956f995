"""Sums of two tensors behind the convolutions that give one of them, where a region gains by it."""

import dataclasses

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.codegen.generate import generate
from kiwicha.compiler.engine.codegen.jobs import engine_job
from kiwicha.compiler.engine.codegen.streams import group_channels
from kiwicha.compiler.engine.cost.cycles import predict_list
from kiwicha.compiler.engine.cost.job_work import result_cycles
from kiwicha.compiler.engine.ir.element_operations import Addition
from kiwicha.compiler.engine.ir.fused_operations import FusedConvolution, FusedSum, SumTables
from kiwicha.compiler.engine.ir.operations import Operation
from kiwicha.compiler.engine.ir.plan import Plan
from kiwicha.compiler.engine.ir.refusals import RefusedError, TooLongError
from kiwicha.compiler.engine.ir.region import Region
from kiwicha.compiler.engine.ir.window_operations import Convolution
from kiwicha.compiler.engine.schedule.estimates.operation_costs import whole_geometry
from kiwicha.compiler.engine.schedule.fused_tables import fused_tables
from kiwicha.compiler.engine.schedule.schedule import schedule
from kiwicha.contract.configs import Config
from kiwicha.contract.engine import OUTPUT_BYTES, SumFlag, outputs_of
from kiwicha.contract.latencies import FUSED_BEAT_CYCLES
from kiwicha.numerics.requantization import requantize, wrap_int32

__all__ = ["fastest_plan"]

_READS = 2
"""Cycles of a beat of a job that adds two tensors."""


def fastest_plan(region: Region, config: Config) -> Plan:
    """Return a plan of a region, with sums behind convolutions where that takes fewer cycles.

    Parameters
    ----------
    region : Region
        What is to be done.
    config : Config
        With an engine.

    Raises
    ------
    RefusedError, TooLongError
        As `schedule` does.
    """
    plan = schedule(region, config)
    fused = _with_fused_sums(region, config) if config.has_fused else region
    if fused == region:
        return plan
    try:
        other = schedule(fused, config)
        return min(plan, other, key=lambda found: _cycles(found, config))
    except (RefusedError, TooLongError):
        return plan


def _cycles(plan: Plan, config: Config) -> int:
    """Return the predicted cycles of a plan."""
    found = generate(plan, config)
    cycles, _ = predict_list(
        found.jobs,
        found.engine_transfers,
        config.engine_macs,
        config.requantizer_cycles,
        config.memory,
    )
    return cycles


def _with_fused_sums(region: Region, config: Config) -> Region:
    """Return a region in which sums are behind a convolution, in the place of the sum."""
    operations: list[Operation] = list(region.operations)
    for addition in region.operations:
        if not isinstance(addition, Addition) or addition.is_square or addition.sums:
            continue
        found = _fused(region, addition, config)
        if found is not None:
            operations[operations.index(addition)] = found
            operations.remove(region.producers[found.convolution.output])
    return dataclasses.replace(region, operations=tuple(operations))


def _fused(region: Region, addition: Addition, config: Config) -> FusedSum | None:
    """Return a sum and one of the convolutions before it, that with more products; or None."""
    found = []
    for number, tensor in enumerate(addition.inputs):
        producer = region.producers.get(tensor)
        other = addition.inputs[1 - number]
        if (
            isinstance(producer, Convolution)
            and not isinstance(producer, FusedConvolution)
            and other not in {tensor, *producer.inputs}
            and _is_alone(region, producer, addition)
            and _keeps_pace(region, producer, config)
        ):
            found.append((producer.window.kernel_rows * producer.weights[0, 0].size, number))
    for _, number in sorted(found, reverse=True):
        producer = region.producers[addition.inputs[number]]
        assert isinstance(producer, Convolution)
        tables = _tables(addition, number, producer)
        if tables is not None:
            return _sum(addition, number, producer, tables)
    return None


def _is_alone(region: Region, producer: Convolution, addition: Addition) -> bool:
    """Whether only a sum reads a convolution, pixel by pixel and without gaps."""
    tensor = producer.output
    readers = [item for item in region.operations if tensor in item.inputs]
    return (
        readers == [addition]
        and tensor not in region.stores
        and producer.sums == SumFlag.NONE
        and producer.window.images == 1
        and not producer.window.is_transposed
        and addition.is_flat
        and producer.output_channels % OUTPUT_BYTES == 0
        and producer.output_image == addition.output_image
    )


def _keeps_pace(region: Region, producer: Convolution, config: Config) -> bool:
    """Whether sums keep pace with the results of a convolution, and that is faster than a job.

    Results that come faster at the edges of an image are held back as far as intervals go.
    """
    macs = config.engine_macs
    pitches = region.input_pitch(producer), region.output_pitch(producer)
    job = engine_job(producer, macs, producer.position, whole_geometry(producer, *pitches))
    channels, beat = group_channels(producer, macs), outputs_of(macs)
    needed = channels // min(channels, OUTPUT_BYTES) * FUSED_BEAT_CYCLES
    fewest, most = result_cycles(job, config.requantizer_cycles)
    in_job = _READS * channels // beat // config.requantizer_cycles
    return (fewest >= needed or needed <= FUSED_BEAT_CYCLES) and most + in_job > needed


def _tables(addition: Addition, number: int, producer: Convolution) -> NDArray[np.int32] | None:
    """Return the tables of a sum, that of the convolution first."""
    order = [number, 1 - number]
    terms = addition.tables[:, order].astype(np.int64)
    p = addition.parameters
    sums = terms[:, 0, None] + terms[:, 1] + p.bias[0]
    results = requantize(
        wrap_int32(sums), p.multiplier[0], p.shift[0], addition.output_zero_point, *addition.clamp
    )
    low, high = producer.clamp
    is_given = np.zeros(len(terms), np.bool_)
    is_given[np.arange(low, high + 1) & 0xFF] = True
    scale = float(p.multiplier[0]) * 2.0 ** (int(p.shift[0]) - 31)
    offset = addition.output_zero_point + scale * int(p.bias[0])
    return fused_tables(results, terms, scale, offset, is_given)


def _sum(
    addition: Addition, number: int, producer: Convolution, tables: NDArray[np.int32]
) -> FusedSum:
    """Return a sum behind a convolution."""
    inputs = producer.inputs[0], addition.inputs[1 - number]
    fields = {field.name: getattr(producer, field.name) for field in dataclasses.fields(producer)}
    convolution = FusedConvolution(**(fields | {"inputs": inputs}))
    return FusedSum(
        position=addition.position,
        inputs=inputs,
        output=addition.output,
        window=producer.window,
        output_channels=producer.output_channels,
        clamp=addition.clamp,
        merged=(*producer.merged, producer.position, *addition.merged),
        constants={**producer.constants, **addition.constants},
        tables=SumTables(
            position=addition.position,
            inputs=inputs,
            output=addition.output,
            window=producer.window,
            output_channels=producer.output_channels,
            clamp=addition.clamp,
            parameters=addition.parameters,
            output_zero_point=0,
            tables=tables,
        ),
        convolution=convolution,
    )

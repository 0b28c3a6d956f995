"""Where the cycles and bytes of a simulated inference went, layer by layer."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from kiwicha.compiler import Compilation
from kiwicha.compiler.engine.cost.cycles import predict_layers
from kiwicha.compiler.reasons import reasons
from kiwicha.contract.engine import EngineCall
from kiwicha.program.engine_list import EngineList, stream_bytes
from kiwicha.program.parts import Step
from kiwicha.program.step_lists import list_of
from kiwicha.report.run_report import hidden_cycles
from kiwicha.sim.profile.memory_map import memory_map
from kiwicha.sim.profile.timestamps import ListTimestamps, timestamps
from kiwicha.sim.soc.probes import Bit
from kiwicha.sim.verilator.activity import Activity

__all__ = ["SPLIT", "profile"]

SPLIT = ("arithmetic", "requantizer", "weights", "transfers", "overhead", "cpu")
"""What cycles are spent on: operations; waiting for the requantizer, for weights, for transfers;
starting and ending jobs; the CPU."""
_CAUSES = {
    "arithmetic": Bit.BUSY,
    "requantizer": Bit.WAITS_REQUANTIZER,
    "weights": Bit.WAITS_WEIGHTS,
    "transfers": Bit.WAITS_TRANSFERS,
}


def profile(
    compilation: Compilation,
    activity: Activity,
    step_cycles: Sequence[Sequence[int]],
    job_ends: Sequence[Sequence[Sequence[int]]],
) -> dict[str, Any]:
    """Return the profile of the last inference, in JSON's terms.

    Parameters
    ----------
    compilation : Compilation
        What every pass gave.
    activity : Activity
        Of the simulation.
    step_cycles : sequence of sequence of int
        As the firmware counted them.
    job_ends : sequence of sequence of sequence of int
        For each inference and step, the cycles in which its jobs ended.

    Returns
    -------
    dict
        ``layers``: for each layer ``shape``, ``why`` (why it runs where it does), ``split`` (cycles
        by `SPLIT`), ``dram`` (bytes: ``weights``, ``loads``, ``stores``, and what the CPU read and
        wrote), and with an engine ``predicted`` cycles. ``memory``: see `memory_map`.
        ``macs_per_cycle``: what the hardware can do. ``dram_bytes_per_cycle``: of sequential reads.
    """
    program = compilation.program
    steps = timestamps(activity, program, step_cycles)[-1]
    layers: list[dict[str, Any]] = [
        {
            "shape": list(layer.shape),
            "why": why,
            "split": dict.fromkeys(SPLIT, 0),
            "dram": dict.fromkeys(("weights", "loads", "stores", "cpu_reads", "cpu_writes"), 0),
        }
        for layer, why in zip(program.layers, reasons(compilation), strict=True)
    ]
    if compilation.config.engine_macs:
        for layer, predicted in zip(layers, predict_layers(program), strict=True):
            layer["predicted"] = predicted
    bounds = np.array([step.span for step in steps])
    reads, writes = (np.diff(words, axis=1)[:, 0].tolist() for words in activity.cpu_bytes(bounds))
    for number, (step, times) in enumerate(zip(program.steps, steps, strict=True)):
        own = layers[step.layer]
        own["dram"]["cpu_reads"] += reads[number]
        own["dram"]["cpu_writes"] += writes[number]
        if times.engine is None:
            own["split"]["cpu"] += times.span[1] - times.span[0]
            continue
        found = list_of(program, step)
        splits = _splits(activity, times.engine, step, step_cycles[-1][number])
        # The log has the ends of any jobs: those of the depthwise unit end beside others.
        own_ends = job_ends[-1][number]
        order = sorted(range(len(found.jobs)), key=own_ends.__getitem__)
        for job, split in zip(order, splits, strict=True):
            for cause, cycles in split.items():
                layers[step.layer + found.jobs[job].layer]["split"][cause] += cycles
        for offset, kind, size in _traffic(found):
            layers[step.layer + offset]["dram"][kind] += size
    return {
        "layers": layers,
        "memory": memory_map(compilation, steps),
        "macs_per_cycle": compilation.config.macs_per_cycle,
        "dram_bytes_per_cycle": compilation.config.memory.bytes_per_cycle,
    }


def _splits(
    activity: Activity, engine: ListTimestamps, step: Step, spent: int
) -> list[dict[str, int]]:
    """Return the cycles of a step's jobs, as they end, by causes; they add up to those of the step.

    What is not between the start of the list and the end of its last job (starting the engine,
    storing results, waking the CPU) belongs to the last job, as in `make_report`.
    """
    start = engine.span[0]
    # The log shows the number of ended jobs a cycle after the engine has noted the end of one.
    ends = [end - 1 for end in engine.job_ends]
    assert isinstance(step.params, EngineCall)
    begin = start + hidden_cycles(step.params, spent, [end - start for end in ends])
    inner = np.maximum([start, *ends], begin)
    outer = [*inner[:-1].tolist(), begin + spent]
    taken = np.zeros(len(activity.records), np.bool_)
    parts = {}
    for name, bit in _CAUSES.items():
        active = activity.is_set(bit)
        # An operation is held back a cycle before the array would have it, beside the last one.
        active &= ~taken | (bit == Bit.WAITS_REQUANTIZER)
        taken |= active
        parts[name] = np.diff(activity.active_cycles(active, inner)).tolist()
    splits = []
    for number in range(len(engine.job_ends)):
        split = {name: counts[number] for name, counts in parts.items()}
        if number == len(engine.job_ends) - 1:
            split["transfers"] += min(engine.span[1], outer[-1]) - ends[-1]
        total = outer[number + 1] - outer[number]
        splits.append({**split, "overhead": total - sum(split.values())})
    return splits


def _traffic(found: EngineList) -> Iterator[tuple[int, str, int]]:
    """Yield layer, sort and bytes of what moves between DRAM and the engine."""
    for job in found.jobs:
        yield job.layer, "weights", stream_bytes(job)
    for number, transfer in enumerate(found.transfers):
        if transfer.is_store:
            # Of the job whose results it stores.
            yield (
                found.jobs[max(transfer.wait_jobs - 1, 0)].layer,
                "stores",
                transfer.moved_bytes,
            )
            continue
        waiting = (job.layer for job in found.jobs if job.wait_transfers > number)
        yield next(waiting, found.jobs[-1].layer), "loads", transfer.bytes

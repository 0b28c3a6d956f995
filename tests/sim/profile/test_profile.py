"""Profile, timestamps and map of memory of the bundled model on the simulated engine."""

import math
from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import Compilation
from kiwicha.compiler.engine.cost.cycles import predict_layers, predict_program
from kiwicha.contract.engine import EngineCall, EngineCounter
from kiwicha.contract.program import Where
from kiwicha.program.step_lists import list_of
from kiwicha.report.run_report import make_report
from kiwicha.sim.profile.profile import SPLIT, profile
from kiwicha.sim.profile.timestamps import timestamps
from kiwicha.sim.soc.probes import Bit
from kiwicha.sim.verilator.program_run import SimulatedRun

pytestmark = pytest.mark.verilator


@pytest.fixture(scope="module")
def found(compilation: Compilation, result: SimulatedRun) -> dict[str, Any]:
    return profile(compilation, result.activity, result.step_cycles, result.job_ends)


def test_jobs_end_when_the_engine_counted(compilation: Compilation, result: SimulatedRun) -> None:
    (steps,) = timestamps(result.activity, compilation.program, result.step_cycles)
    assert [step.engine is not None for step in steps] == [
        bool(ends) for ends in result.job_ends[0]
    ]
    for step, ends, spent in zip(steps, result.job_ends[0], result.step_cycles[0], strict=True):
        if step.engine is None:
            assert step.span[1] - step.span[0] == spent
        else:
            start, end = step.engine.span
            assert step.span[0] <= start < end == step.span[1]
            assert [at - start - 1 for at in step.engine.job_ends] == list(ends)


def test_the_log_counts_what_the_engine_counted(result: SimulatedRun) -> None:
    counts = [values for values in result.counters[0] if values]
    bits = {
        EngineCounter.BUSY: Bit.BUSY,
        EngineCounter.WAIT_WEIGHTS: Bit.WAITS_WEIGHTS,
        EngineCounter.WAIT_TRANSFERS: Bit.WAITS_TRANSFERS,
        EngineCounter.WAIT_REQUANTIZER: Bit.WAITS_REQUANTIZER,
    }
    for span, values in zip(result.activity.lists(), counts, strict=True):
        for counter, bit in bits.items():
            active = result.activity.is_set(bit)
            before, after = result.activity.active_cycles(active, np.array(span))
            assert after - before == values[counter]


def test_every_cycle_of_a_layer_has_a_cause(
    compilation: Compilation, result: SimulatedRun, found: dict[str, Any]
) -> None:
    total = 0
    for layer, entry in zip(compilation.program.layers, found["layers"], strict=True):
        split = entry["split"]
        assert tuple(split) == SPLIT
        assert min(split.values()) >= 0
        assert (split["cpu"] > 0) == (layer.where in {Where.CPU, Where.SIMD})
        assert layer.where is Where.ENGINE or split["arithmetic"] == 0
        total += sum(split.values())
    assert total == result.last_cycles


def test_causes_add_up_to_the_cycles_that_the_table_shows(
    compilation: Compilation, result: SimulatedRun, found: dict[str, Any]
) -> None:
    report = make_report(
        compilation.program,
        model="",
        config=compilation.config,
        target="sim",
        clock_hz=1,
        step_cycles=result.step_cycles,
        inference_cycles=[result.last_cycles],
        bit_exact=None,
        job_ends=result.job_ends,
    )
    spent = [layer.cycles for layer in report.layers]
    assert [sum(entry["split"].values()) for entry in found["layers"]] == spent


def test_cycles_belong_to_the_job_that_ended(
    compilation: Compilation, result: SimulatedRun, found: dict[str, Any]
) -> None:
    backwards = [[list(reversed(ends)) for ends in inference] for inference in result.job_ends]
    other = profile(compilation, result.activity, result.step_cycles, backwards)
    (first, *_), (*_, last) = found["layers"], other["layers"]
    assert first["split"] != last["split"]
    has_several = any(len(ends) > 1 for inference in result.job_ends for ends in inference)
    assert (other["layers"] != found["layers"]) == has_several
    for cause in SPLIT:
        totals = [sum(e["split"][cause] for e in run["layers"]) for run in (found, other)]
        assert totals[0] == totals[1]


def test_the_cpu_counts_what_lists_take_without_a_gap(
    compilation: Compilation, result: SimulatedRun
) -> None:
    (steps,) = timestamps(result.activity, compilation.program, result.step_cycles)
    for step, times, spent in zip(
        compilation.program.steps, steps, result.step_cycles[0], strict=True
    ):
        if isinstance(step.params, EngineCall) and not step.params.overlapped_steps:
            assert times.engine is not None
            start, end = times.engine.span
            assert end - start < spent < end - start + 500


def test_layers_work_and_are_held_back_as_the_engine_counted(
    compilation: Compilation, result: SimulatedRun, found: dict[str, Any]
) -> None:
    calls = [s.params for s in compilation.program.steps if isinstance(s.params, EngineCall)]
    counts = [values for values in result.counters[0] if values]
    causes = {"arithmetic": EngineCounter.BUSY, "requantizer": EngineCounter.WAIT_REQUANTIZER}
    for cause, counter in causes.items():
        total = sum(entry["split"][cause] for entry in found["layers"])
        counted = sum(values[counter] for values in counts)
        # What passes beside steps of the CPU counts for those.
        assert total == counted or (
            total < counted and any(call.overlapped_steps for call in calls)
        )


def test_bytes_are_those_that_crossed_the_port(
    compilation: Compilation, result: SimulatedRun, found: dict[str, Any]
) -> None:
    moved = {
        kind: sum(entry["dram"][kind] for entry in found["layers"])
        for kind in ("weights", "loads", "stores")
    }
    words = {
        bit: int(result.activity.active_cycles(result.activity.is_set(bit), np.array([10**9]))[0])
        for bit in (Bit.READS_WEIGHTS, Bit.READS_DATA, Bit.WRITES_DATA)
    }
    assert moved["weights"] == 16 * words[Bit.READS_WEIGHTS]
    assert 0 <= 16 * words[Bit.READS_DATA] - moved["loads"] < 16
    assert 0 <= 16 * words[Bit.WRITES_DATA] - moved["stores"] < 16
    for layer, entry in zip(compilation.program.layers, found["layers"], strict=True):
        if layer.operator == "SOFTMAX":
            assert 0 < entry["dram"]["cpu_reads"] < 8192 + 2 * math.prod(layer.shape)


def test_predictions_are_the_compilers(compilation: Compilation, found: dict[str, Any]) -> None:
    total, _ = predict_program(compilation.program)
    assert [entry["predicted"] for entry in found["layers"]] == predict_layers(compilation.program)
    assert sum(entry["predicted"] for entry in found["layers"]) == total


def test_tensors_that_live_at_one_time_do_not_share_bytes(
    compilation: Compilation, found: dict[str, Any]
) -> None:
    memory = found["memory"]["scratchpad"]
    tensors = memory["tensors"]
    jobs = [
        job
        for step in compilation.program.steps
        if isinstance(step.params, EngineCall)
        for job in list_of(compilation.program, step).jobs
    ]
    assert len(tensors) > len(jobs) / 2
    names = {tensor.name for tensor in compilation.graph.tensors}
    for number, one in enumerate(tensors):
        assert one["name"] in names
        assert 0 <= one["start"] < one["end"]
        assert one["offset"] + one["bytes"] <= memory["bytes"]
        for other in tensors[:number]:
            is_apart = (
                one["offset"] + one["bytes"] <= other["offset"]
                or other["offset"] + other["bytes"] <= one["offset"]
            )
            assert is_apart or one["start"] >= other["end"] or other["start"] >= one["end"]
    arena = found["memory"]["arena"]
    assert {tensor["name"] for tensor in arena["tensors"]} <= names
    assert arena["bytes"] == compilation.memory.arena_bytes


def test_every_layer_has_a_reason(compilation: Compilation, found: dict[str, Any]) -> None:
    for layer, entry in zip(compilation.program.layers, found["layers"], strict=True):
        assert ("on the engine" in entry["why"]) == (layer.where is Where.ENGINE)
        if layer.operator == "SOFTMAX":
            assert entry["why"].endswith(
                "it takes SOFTMAX jobs, which 64 has not; 64-softmax has them; "
                "no kernel with custom instructions computes this SOFTMAX"
            )

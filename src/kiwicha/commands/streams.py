"""Streams of inputs on the simulated system: how long it takes from one inference to the next."""

import dataclasses

from kiwicha.commands import execution
from kiwicha.commands.console import Display
from kiwicha.compiler import with_double_buffer
from kiwicha.report.run_report import Report
from kiwicha.sim.reference import executor as reference
from kiwicha.sim.verilator.program_run import run_stream

__all__ = ["with_period"]

_INFERENCES = 3
"""The first one warms the caches, the others have one place of the inputs each."""


def with_period(workload: execution.Workload, outcome: execution.Outcome, show: Display) -> Report:
    """Return the report of a bench with the period of a stream of inputs.

    The model gets a double buffer: the CPU loads the next inputs and stores the last outputs while
    the engine works. Inferences have two sets of inputs in turn, and each must be right.

    Parameters
    ----------
    workload : Workload
        A model compiled for an engine.
    outcome : Outcome
        What it gave for the inputs of seed 0.
    show : Display
        Where progress goes.
    """
    show.stage(f"preparing a stream of {workload.model}")
    sets = [execution.random_inputs(workload, seed) for seed in (0, 1)]
    session = reference.Session(workload.program)
    runs = [session.run(sets[number % len(sets)]) for number in range(_INFERENCES)]
    expected = [b"".join(output.tobytes() for output in outputs) for outputs in runs]
    program = with_double_buffer(workload.compilation).program
    steps = [1] * len(program.steps) * _INFERENCES
    result = run_stream(
        program,
        sets,
        inferences=_INFERENCES,
        on_progress=show.steps(f"simulating a stream of {workload.model}", steps),
        on_build=show.stage,
    )
    is_exact = all(
        b"".join(outputs) == wanted
        for outputs, wanted in zip(result.outputs, expected, strict=True)
    )
    return dataclasses.replace(
        outcome.report,
        period=result.period,
        copied_bytes=sum(io.ref.bytes for io in (*program.inputs, *program.outputs)),
        bit_exact=bool(outcome.report.bit_exact) and is_exact,
    )

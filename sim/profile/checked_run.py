"""Runs of Programs on the simulated system beside the reference executor, job by job."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from kiwicha.errors import SimulationError, UsageError
from kiwicha.program.image import Program
from kiwicha.sim.profile.written_parts import Compared, compare_parts
from kiwicha.sim.reference.executor import written_parts
from kiwicha.sim.verilator.image_run import Ending
from kiwicha.sim.verilator.program_run import SimulatedRun, run_program
from kiwicha.sim.verilator.simulator import build_simulator

__all__ = ["run_checked"]


def run_checked(
    program: Program,
    inputs: Sequence[bytes],
    *,
    trace: Path | None = None,
    on_build: Callable[[str], None] | None = None,
    **options: Any,
) -> tuple[SimulatedRun, Compared]:
    """Run a Program and compare what each job and each transfer writes with the reference executor.

    This takes another simulator of the same hardware.

    Parameters
    ----------
    program : Program
        For a configuration with an engine.
    inputs, trace, on_build, **options
        As of `run_program`.

    Raises
    ------
    UsageError
        If the configuration has no engine.
    SimulationError
        As `run_program`; the text also has the first difference before, if there is one.
    """
    if not program.config.engine_macs:
        raise UsageError(
            f"jobs must be checked on a config with an engine, not on {program.config.name}"
        )
    parts = written_parts(program, inputs)
    found: list[Compared] = []

    def compare(ending: Ending, arena_address: int) -> None:
        assert ending.writes is not None
        found.append(
            compare_parts(
                program,
                parts,
                ending.activity,
                ending.writes,
                arena_address=arena_address,
                scratchpad_bytes=program.config.scratchpad_bytes,
            )
        )

    has_trace = trace is not None
    simulator = build_simulator(
        program.config, trace=has_trace, on_build=on_build, logs_writes=True
    )
    try:
        result = run_program(
            program,
            inputs,
            trace=trace,
            on_build=on_build,
            simulator=simulator,
            on_end=compare,
            **options,
        )
    except SimulationError as error:
        if found and found[0].difference is not None:
            raise SimulationError(f"{error}; before, {found[0]}") from error
        raise
    return result, found[0]

"""What the engine computes, compared with an interpreter."""

import numpy as np

from kiwicha.compiler import Compilation, compile_stages
from kiwicha.contract.engine import JobKind
from kiwicha.contract.program import Where
from kiwicha.program.image import Program
from kiwicha.sim.reference import executor as reference
from tests.support.oracle import oracle

__all__ = ["job_kinds", "on_engine"]


def on_engine(case: oracle.Case, config: str, *, is_all: bool = True) -> Compilation:
    """Compare what a Program computes with the interpreter; return what the compiler did.

    Parameters
    ----------
    case : oracle.Case
        Model and inputs.
    config : str
        What it runs on.
    is_all : bool
        All layers have to be on the engine.
    """
    (answer,) = oracle.ask([case], case.interpreter or oracle.MICRO)
    assert answer.outputs is not None, answer.error
    stages = compile_stages(case.model, config)
    places = {layer.where for layer in stages.program.layers}
    assert not is_all or places == {Where.ENGINE}, stages.engine.selection.decisions[-1].why_not
    program = Program.from_bytes(stages.program.to_bytes())
    for found, expected in zip(reference.run(program, case.inputs), answer.outputs, strict=True):
        np.testing.assert_array_equal(found, expected)
    return stages


def job_kinds(stages: Compilation) -> list[JobKind]:
    """Return what the jobs of all lists are."""
    return [JobKind(job.kind) for item in stages.lists for job in item.jobs]

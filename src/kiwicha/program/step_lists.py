"""The engine's list of a step of a Program, with the layer of each job."""

import dataclasses

from kiwicha.contract.engine import EngineCall
from kiwicha.program.engine_list import EngineList, read_list
from kiwicha.program.image import Program
from kiwicha.program.parts import Step

__all__ = ["list_of"]


def list_of(program: Program, step: Step, *, has_weights: bool = False) -> EngineList:
    """Return the list of a step; ``layer`` of its jobs is that of `Step.job_layers` if it has them.

    Parameters
    ----------
    program : Program
        Which has the step.
    step : Step
        Of the engine.
    has_weights : bool
        As for `read_list`.

    Raises
    ------
    ProgramError
        As `read_list` does.
    """
    params = step.params
    assert isinstance(params, EngineCall)
    image = program.constants[params.image.offset :][: params.image.bytes]
    found = read_list(params, image, has_weights=has_weights)
    if not step.job_layers:
        return found
    jobs = zip(found.jobs, step.job_layers, strict=True)
    named = tuple(dataclasses.replace(job, layer=layer) for job, layer in jobs)
    return dataclasses.replace(found, jobs=named)

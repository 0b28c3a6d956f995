"""What a page must know of a Program: where memory gets what, and how results are read."""

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from kiwicha.compiler import Compilation
from kiwicha.compiler.engine.cost.cycles import predict_layers
from kiwicha.compiler.reasons import reasons
from kiwicha.contract.engine import LINE_BYTES, EngineCall, EngineCounter
from kiwicha.contract.program import BootBlock
from kiwicha.pictures import picture_format
from kiwicha.program.engine_list import stream_bytes
from kiwicha.program.image import Program
from kiwicha.program.parts import IoTensor, Step
from kiwicha.program.step_lists import list_of
from kiwicha.sim.profile.timestamps import NOTED_CYCLES
from kiwicha.sim.soc.prepared_memory import prepared
from kiwicha.sim.soc.probes import Bit, Count
from kiwicha.sim.soc.run_memory import cycle_words, padded, run_memory
from kiwicha.sim.verilator.web_module import DRAM_BYTES

__all__ = ["INFERENCES", "WebRun", "web_run"]

INFERENCES = 2
"""In a row; the second one is shown, as everywhere."""


@dataclass(frozen=True)
class WebRun:
    """A run whose inputs the page puts in.

    Parameters
    ----------
    loads : tuple of (int, bytes)
        Addresses and contents of memory before reset: all but inputs and firmware.
    description : dict
        JSON for the page's scripts.
    """

    loads: tuple[tuple[int, bytes], ...]
    description: dict[str, Any]


def web_run(compilation: Compilation, *, model: str, labels: Sequence[str]) -> WebRun:
    """Return a run of a Program in a page.

    Parameters
    ----------
    compilation : Compilation
        What every pass of the compiler gave.
    model : str
        Name of the model.
    labels : sequence of str
        Meaning of each element of the first output; empty if unknown.

    Raises
    ------
    CapacityError
        If the run does not fit into the DRAM that a page simulates.
    """
    program = compilation.program
    zeros = [bytes(tensor.ref.bytes) for tensor in program.inputs]
    memory = prepared(run_memory(program, zeros, inferences=INFERENCES, dram_bytes=DRAM_BYTES))
    (boot, image), (inputs_at, _) = memory.loads[:2], memory.loads[2]
    sizes = (len(padded(raw)) for raw in zeros[:-1])
    places = zip(
        accumulate(sizes, initial=inputs_at),
        (address for address, _ in memory.loads[3:]),
        strict=True,
    )
    offsets = {name: offset for name, _, offset in BootBlock.layout()}
    return WebRun(
        loads=(boot, image),
        description={
            "model": model,
            "labels": list(labels),
            "config": compilation.config.name,
            "clock_hz": compilation.config.memory.clock_hz,
            "macs_per_cycle": compilation.config.macs_per_cycle,
            "inferences": INFERENCES,
            "inputs": [
                {**_tensor(tensor), "places": list(where), "picture": _picture(tensor)}
                for tensor, where in zip(program.inputs, places, strict=True)
            ],
            "outputs": [_tensor(tensor) for tensor in program.outputs],
            "dumps": [list(item) for item in memory.dumps[: 2 + len(program.outputs)]],
            "boot": {
                name: offsets[name] for name in ("first_cycles", "total_cycles", "failed_step")
            },
            "layers": list(_layers(compilation)),
            "steps": [
                {**_step(program, step), "words": words}
                for step, words in zip(program.steps, cycle_words(program), strict=True)
            ],
            "counters": len(EngineCounter),
            "bits": {bit.name.lower(): bit.value for bit in Bit},
            "counts": {count.name.lower(): count.shift for count in Count},
            "count_mask": Count.JOBS_DONE.mask,
            "noted_cycles": NOTED_CYCLES,
            "line_bytes": LINE_BYTES,
        },
    )


def _tensor(tensor: IoTensor) -> dict[str, Any]:
    return {
        "name": tensor.name,
        "shape": list(tensor.shape),
        "dtype": tensor.dtype.name.lower(),
        "bytes": tensor.ref.bytes,
        "scale": tensor.scale,
        "zero_point": tensor.zero_point,
    }


def _picture(tensor: IoTensor) -> dict[str, Any] | None:
    found = picture_format(tensor)
    return None if found is None else dataclasses.asdict(found)


def _layers(compilation: Compilation) -> Iterator[dict[str, Any]]:
    program = compilation.program
    predicted = (
        predict_layers(program) if compilation.config.engine_macs else [None] * len(program.layers)
    )
    for layer, why, cycles in zip(program.layers, reasons(compilation), predicted, strict=True):
        yield {
            "index": layer.index,
            "operator": layer.operator,
            "shape": list(layer.shape),
            "where": layer.where.text,
            "why": why,
            "macs": layer.macs,
            "predicted": cycles,
        }


def _step(program: Program, step: Step) -> dict[str, Any]:
    """Return the layer of a step; of one of the engine, the layers of its jobs as well."""
    found = {"layer": step.layer, "kernel": step.kernel.name}
    if not isinstance(step.params, EngineCall):
        return found
    jobs = list_of(program, step).jobs
    return {
        **found,
        "jobs": [
            {
                "layer": step.layer + job.layer,
                "groups": job.groups,
                "weight_lines": stream_bytes(job) // LINE_BYTES,
            }
            for job in jobs
        ],
        "beside": step.params.overlapped_steps,
    }

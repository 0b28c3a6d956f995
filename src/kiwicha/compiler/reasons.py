"""Why each layer runs where it does, in words."""

from typing import Any

from kiwicha.compiler.driver import Compilation
from kiwicha.compiler.engine.schedule.schedule import Schedule
from kiwicha.compiler.engine.select.limits import broken_limit
from kiwicha.compiler.engine.select.operators import ENGINE_OPERATORS
from kiwicha.compiler.steps.calls import ListCall, PlannedStep
from kiwicha.contract.engine import JobFlag
from kiwicha.contract.program import Where

__all__ = ["engine_refusals", "on_cpu", "reasons"]


def reasons(compilation: Compilation) -> list[str]:
    """Return for each layer why it runs where it does.

    Parameters
    ----------
    compilation : Compilation
        What every pass gave.
    """
    calls = {position: item for item in compilation.calls for position in item.layers}
    count = len(compilation.network.layers)
    return [_reason(compilation, position, calls) for position in range(count)]


def engine_refusals(compilation: Compilation) -> dict[int, str]:
    """Return why steps of the CPU are not on the engine, by the position of their layer.

    Parameters
    ----------
    compilation : Compilation
        What every pass gave.

    Returns
    -------
    dict of int to str
        Only of operators that an engine has jobs for; empty without an engine.
    """
    if not compilation.config.engine_macs:
        return {}
    network = compilation.network
    return {
        item.layer: broken_limit(network, item.layer, compilation.config)
        for item in compilation.calls
        if not isinstance(item, ListCall) and network.layers[item.layer].name in ENGINE_OPERATORS
    }


def on_cpu(compilation: Compilation) -> list[dict[str, Any]]:
    """Return `engine_refusals` in JSON's terms: ``layer``, ``operator`` and ``why`` of each."""
    layers = compilation.program.layers
    return [
        {"layer": layers[position].index, "operator": layers[position].operator, "why": why}
        for position, why in sorted(engine_refusals(compilation).items())
    ]


def _reason(compilation: Compilation, position: int, calls: dict[int, PlannedStep]) -> str:
    layer = compilation.network.layers[position]
    if layer.kernel is None:
        return "nothing to do: the same bytes under another shape"
    item = calls.get(position)
    assert item is not None
    if isinstance(item, ListCall):
        return _engine_reason(item.schedule, position)
    parts = []
    if compilation.config.engine_macs:
        parts.append(broken_limit(compilation.network, position, compilation.config))
    if item.kernel.where is Where.SIMD:
        parts.append(f"kernel {item.kernel.name} on the custom instructions")
    elif not compilation.config.has_simd:
        parts.append("the configuration has no custom instructions")
    else:
        parts.append(f"no kernel with custom instructions computes this {layer.name}")
    return "; ".join(parts)


def _engine_reason(schedule: Schedule, position: int) -> str:
    for layer in schedule.run.layers:
        if position in layer.merged:
            return f"merged into the job of layer {layer.position}"
        if position != layer.position:
            continue
        offset = position - schedule.run.layers[0].position
        jobs = [job for job in schedule.jobs if job.layer == offset]
        text = f"{layer.kind.name} on the engine"
        if jobs and jobs[0].flags & JobFlag.PACKED:
            text += ", two products per multiplier"
        if len(jobs) > 1:
            parts = "jobs for borders and stripes" if layer.patches else "stripes of rows"
            if layer.is_in_blocks:
                parts = "jobs for blocks of channels and stripes"
            text += f", in {len(jobs)} {parts}"
        streamed = [t for t in (*layer.inputs, layer.output) if t in schedule.streamed]
        if streamed:
            text += "; a tensor that the scratchpad cannot hold is streamed from DRAM"
        return text
    raise AssertionError(position)

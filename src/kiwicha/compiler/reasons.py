"""Why each layer runs where it does, in words: what was decided for it, as recorded there."""

from typing import Any

from kiwicha.compiler.driver import Compilation
from kiwicha.compiler.engine.ir.engine_list import EngineList
from kiwicha.compiler.engine.ir.operations import DividedOperation, Operation
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
    found = ["nothing to do: the same bytes under another shape"] * len(compilation.network.layers)
    for call in compilation.kernel_calls:
        found[call.layer] = _cpu_reason(compilation, call.layer, call.kernel.name)
    for engine_list in compilation.lists:
        for operation in engine_list.region.operations:
            for position in operation.merged:
                found[position] = f"merged into the job of layer {operation.position}"
            found[operation.position] = _engine_reason(compilation, engine_list, operation)
    return found


def engine_refusals(compilation: Compilation) -> dict[int, str]:
    """Return why layers of the CPU are not on the engine, by their position.

    Parameters
    ----------
    compilation : Compilation
        What every pass gave.

    Returns
    -------
    dict of int to str
        Empty without an engine.
    """
    if not compilation.config.engine_macs:
        return {}
    positions = dict.fromkeys(call.layer for call in compilation.kernel_calls)
    return {position: _refusal(compilation, position) for position in positions}


def on_cpu(compilation: Compilation) -> list[dict[str, Any]]:
    """Return `engine_refusals` in JSON's terms: ``layer``, ``operator`` and ``why`` of each."""
    layers = compilation.program.layers
    return [
        {"layer": layers[position].index, "operator": layers[position].operator, "why": why}
        for position, why in sorted(engine_refusals(compilation).items())
    ]


def _refusal(compilation: Compilation, position: int) -> str:
    return compilation.engine.selection.decisions[position].why_not


def _cpu_reason(compilation: Compilation, position: int, kernel: str) -> str:
    layer, config = compilation.network.layers[position], compilation.config
    parts = [_refusal(compilation, position)] if config.engine_macs else []
    if compilation.program.layers[position].where is Where.SIMD:
        parts.append(f"kernel {kernel} on the custom instructions")
    elif not config.has_simd:
        parts.append("the configuration has no custom instructions")
    else:
        parts.append(f"no kernel with custom instructions computes this {layer.name}")
    return "; ".join(parts)


def _engine_reason(compilation: Compilation, engine_list: EngineList, operation: Operation) -> str:
    jobs = engine_list.jobs_of(operation)
    decision = compilation.engine.selection.decisions[operation.position]
    text = f"{operation.kind.name} on the engine"
    if decision.chosen is not None and decision.chosen.form:
        text += f", {decision.chosen.form}"
    # Blocks of columns and channels compute parts of their own.
    if jobs and jobs[0].flags & JobFlag.PACKED:
        text += ", two products per multiplier"
    if len(jobs) > 1:
        is_divided = isinstance(operation, DividedOperation)
        parts = "jobs for its pieces and stripes" if is_divided else "stripes of rows"
        text += f", in {len(jobs)} {parts}"
    streamed = {*operation.inputs, operation.output} & {*engine_list.plan.streamed}
    if streamed:
        text += "; a tensor that the scratchpad cannot hold is streamed from DRAM"
    return text

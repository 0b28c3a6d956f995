"""Why each layer runs where it does, in words."""

from kiwicha.compiler.driver import Compilation
from kiwicha.compiler.lower_engine import engine_layer
from kiwicha.compiler.tile import Tile
from kiwicha.isa_engine import JobFlag
from kiwicha.isa_program import Where

__all__ = ["reasons"]


def reasons(compilation: Compilation) -> list[str]:
    """Return for each layer why it runs where it does.

    Parameters
    ----------
    compilation : Compilation
        What every pass gave.
    """
    tiles = {position: item for item in compilation.tiles for position in item.layers}
    count = len(compilation.network.layers)
    return [_reason(compilation, position, tiles) for position in range(count)]


def _reason(compilation: Compilation, position: int, tiles: dict[int, Tile]) -> str:
    layer = compilation.network.layers[position]
    if layer.kernel is None:
        return "nothing to do: the same bytes under another shape"
    item = tiles.get(position)
    assert item is not None
    if item.schedule is not None:
        return _engine_reason(item, position)
    parts = []
    if compilation.config.engine_macs:
        parts.append(_refusal(compilation, position))
    if item.kernel.where is Where.SIMD:
        parts.append(f"kernel {item.kernel.name} on the custom instructions")
    elif not compilation.config.has_simd:
        parts.append("the configuration has no custom instructions")
    else:
        parts.append(f"no kernel with custom instructions computes this {layer.name}")
    return "; ".join(parts)


def _refusal(compilation: Compilation, position: int) -> str:
    layer = compilation.network.layers[position]
    if engine_layer(compilation.network, position) is None:
        return f"no job of the engine can express this {layer.name}"
    return "it does not fit the scratchpad, or its neighbours want pixels without gaps"


def _engine_reason(item: Tile, position: int) -> str:
    schedule = item.schedule
    assert schedule is not None
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
            text += f", in {len(jobs)} {parts}"
        streamed = [t for t in (*layer.inputs, layer.output) if t in schedule.streamed]
        if streamed:
            text += "; a tensor that the scratchpad cannot hold is streamed from DRAM"
        return text
    raise AssertionError(position)

"""Tables of the page on performance: engines, memories, moves, streams, kernels, aims."""

from collections.abc import Iterator, Mapping
from typing import Any

from kiwicha.contract.configs import ENGINE_CONFIGS
from kiwicha.contract.engine import outputs_of
from kiwicha.contract.memories import MEMORIES
from kiwicha.kernels.registry import KERNELS
from tools.documents.bar_table import bar_table
from tools.documents.markdown import table
from tools.documents.move_tables import move_tables
from tools.documents.resize_table import resize_table
from tools.documents.stream_tables import stream_tables

__all__ = ["performance_tables"]

_ENGINES = ("32", "64", "128", "256")


def performance_tables(runs: Mapping[str, Any]) -> str:
    """Return what engines, memories and moves do in a cycle, what streams and models take.

    Parameters
    ----------
    runs : mapping
        Contents of the JSON files of runs, by their path in the project.
    """
    engines = table(
        ("engine", "products in a cycle:", "results in a cycle:"),
        [_engine(one) for one in _ENGINES],
    )
    memories = table(
        ("memory", "bytes in a cycle:", "cycles of a transfer besides:"),
        [
            (f"`{memory.name}`", f"{memory.bytes_per_cycle:g}", f"{memory.transfer_cycles}")
            for memory in MEMORIES.values()
        ],
    )
    kernels = table(("kernel", "a step:", "an output:", "a unit:", "extra:"), _kernels())
    parts = [*engines, "", *memories, "", move_tables(), "", resize_table(), ""]
    return "\n".join([*parts, stream_tables(runs), "", *kernels, "", bar_table(runs)])


def _engine(name: str) -> tuple[str, str, str]:
    config = ENGINE_CONFIGS[name]
    outputs = outputs_of(config.engine_macs)
    return f"`{name}`", f"{config.engine_macs}", f"{outputs / config.requantizer_cycles:g}"


def _kernels() -> Iterator[tuple[str, ...]]:
    for kernel, declaration in sorted(KERNELS.items(), key=lambda item: item[0].name):
        names = {kernel.name: declaration.cost}
        names[f"{kernel.name}, with `-signal`"] = declaration.signal_cost
        for name, cost in names.items():
            if cost is not None:
                parts = (cost.step, cost.output, cost.unit, cost.extra)
                yield name, *(f"{part:,g}" if part else "" for part in parts)

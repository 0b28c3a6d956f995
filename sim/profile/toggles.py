"""Counted toggles of an inference, by kind of primitive."""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kiwicha.program.image import Program
from kiwicha.sim.profile.primitives import Access, Module, Primitive, modules_of
from kiwicha.sim.profile.switching_activity import Instance, read_activity
from kiwicha.sim.profile.timestamps import timestamps
from kiwicha.sim.verilator.image_run import Progress
from kiwicha.sim.verilator.program_run import run_program
from kiwicha.sim.verilator.toggle_simulator import build_toggle_simulator, counted_verilog

__all__ = ["Toggles", "count_toggles", "toggles_of"]

_TOP = "Cfu"
_PERIOD = 10_000
"""Picoseconds of a cycle in the simulation's files, whatever the clock of the board is."""


@dataclass(frozen=True)
class Toggles:
    """What a netlist did in some cycles.

    Parameters
    ----------
    cycles : int
        How many.
    bits : Mapping
        Bits that primitives of each kind drive.
    toggles : Mapping
        How often these have changed.
    accessed_bits : int
        Read from or written to memories of Primitive.MEMORY: a port that is enabled counts all its
        bits, whether they change or not.
    """

    cycles: int
    bits: Mapping[Primitive, int]
    toggles: Mapping[Primitive, int]
    accessed_bits: int


def count_toggles(
    program: Program,
    inputs: Sequence[bytes],
    *,
    inferences: int = 2,
    saif: Path | None = None,
    on_progress: Progress | None = None,
    on_build: Callable[[str], None] | None = None,
) -> Toggles:
    """Simulate a Program and count the toggles of the CFU in its last inference.

    Parameters
    ----------
    program : Program
        One whose configuration has custom instructions.
    inputs : sequence of bytes
        As of `run_program`.
    inferences : int
        How many in a row.
    saif : Path or None
        Receives the counts of each net, for tools of others: those of the last inference, and one
        toggle more for a net that is 1 where it begins.
    on_progress : callable or None
        See `Progress`.
    on_build : callable or None
        Called with the name of each build stage that takes time.

    Raises
    ------
    KiwichaError
        As `run_program`.
    """
    simulator = build_toggle_simulator(program.config, on_build=on_build)

    def run(trace: Path | None, start: int, stop: int) -> list[tuple[int, int]]:
        result = run_program(
            program,
            inputs,
            inferences=inferences,
            simulator=simulator,
            trace=trace,
            trace_start=start,
            trace_stop=stop,
            on_progress=on_progress,
        )
        steps = timestamps(result.activity, program, result.step_cycles)[-1]
        return [step.span for step in steps]

    with tempfile.TemporaryDirectory(prefix="kiwicha-") as name:
        spans = run(None, 0, 0)
        start, stop = spans[0][0], spans[-1][1]
        whole, first = saif or Path(name) / "whole", Path(name) / "first"
        # The counters begin at 0, so the first cycle counts the nets that are 1, too.
        run(whole, start, stop)
        run(first, start, start + 1)
        modules = modules_of(counted_verilog(program.config))
        found = []
        for path in (whole, first):
            with path.open(encoding="utf-8") as file:
                found.append(_top(read_activity(file)))
        return toggles_of(modules, *found, cycles=stop - start)


def _top(whole: Instance) -> Instance:
    """Return the CFU's instance, at any depth."""
    waiting = [whole]
    while waiting:
        instance = waiting.pop()
        if _TOP in instance.instances:
            return instance.instances[_TOP]
        waiting.extend(instance.instances.values())
    raise AssertionError(f"no instance {_TOP}")


def toggles_of(
    modules: Mapping[str, Module], whole: Instance, first: Instance, *, cycles: int
) -> Toggles:
    """Return what primitives did between two files of counts.

    Parameters
    ----------
    modules : Mapping
        The netlist, from `modules_of`.
    whole, first : Instance
        Counts of its top module ``Cfu``: of all cycles, and of the first of them.
    cycles : int
        All but the first, and one.
    """
    bits = dict.fromkeys(Primitive, 0)
    toggles = dict.fromkeys(Primitive, 0)
    accessed = 0
    for module, later, earlier in _instances(modules, _TOP, whole, first):
        for name, primitive in module.drivers.items():
            if name not in later.nets:
                # A constant, or a net that nothing reads: Verilator has none of it.
                continue
            counted = later.nets[name].toggles
            bits[primitive] += len(counted)
            toggles[primitive] += sum(counted) - sum(earlier.nets[name].toggles)
        accessed += sum(_accessed(access, later, cycles) for access in module.accesses)
    return Toggles(cycles, bits, toggles, accessed)


def _instances(
    modules: Mapping[str, Module], name: str, later: Instance, earlier: Instance
) -> Iterator[tuple[Module, Instance, Instance]]:
    module = modules[name]
    yield module, later, earlier
    for instance, kind in module.instances.items():
        if instance in later.instances:
            yield from _instances(
                modules, kind, later.instances[instance], earlier.instances[instance]
            )


def _accessed(access: Access, instance: Instance, cycles: int) -> int:
    net, _, index = access.enable.removesuffix("]").partition("[")
    if net not in instance.nets:
        return access.bits * cycles
    return access.bits * round(instance.nets[net].high[int(index or 0)] / _PERIOD)

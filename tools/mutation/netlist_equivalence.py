"""Whether a fault changes nothing that ports show, of its component or of what surrounds it.

ABC looks for a cycle in which a netlist with the fault and one without it differ. That none exists
is a proof under these conditions, which the preparation makes true for both sides alike:

- Registers start with the first values of their sources, those behind a faulty output, too.
- Memories and multipliers are cut out: what comes out of them may be anything, but is the same on
  both sides. What goes into them is compared as ports are, so that it is the same for ever. Only
  what does not reach any bit that is read is not compared.
- What is undefined in the source is 0.
- All ports of the surroundings are compared; what goes into them, ``rst`` as well, may be anything,
  but for what a `FaultyNetlist` says is never high.
- There is one clock, which no fault touches.

In a larger part of the netlist less can happen: readers are not asked while they are busy, queues
are not full, some bits of descriptors are 0. So a fault that shows in its own component is tried
in what surrounds that, up to the whole netlist. That it shows with memories cut out does not say
that it shows with them.
"""

import re
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

from kiwicha.errors import ToolError
from tools.abc import Answer, ever_high
from tools.aiger import Gates, write_aiger
from tools.mutation.cut_netlist import SELECT, CutNetlist
from tools.mutation.fault_miter import FaultMiter
from tools.mutation.netlist_faults import Fault, FaultyNetlist

__all__ = ["SECONDS", "answers", "is_equivalent", "surroundings"]

SECONDS = 15
"""Of each attempt of a proof."""
_MITER = "differs.aig"
_LAST_PART = re.compile(r"\.[^.]*$")


def is_equivalent(netlist: FaultyNetlist, fault: Fault) -> bool:
    """Return whether the fault is proven to change nothing, in any surroundings.

    Parameters
    ----------
    netlist : FaultyNetlist
    fault : Fault
        One of its.
    """
    return any(answer == Answer.NEVER for _, _, answer in answers(netlist, [fault]))


def surroundings(fault: Fault) -> list[str]:
    """Return modules that a fault is in, from its own one to the whole netlist."""
    modules = [fault.cell_module]
    while (outer := _LAST_PART.sub("", modules[-1])) != modules[-1]:
        modules.append(outer)
    return modules


def answers(
    netlist: FaultyNetlist,
    faults: Sequence[Fault],
    *,
    seconds: int = SECONDS,
    only_in: Collection[str] = (),
    is_over: Callable[[], bool] = lambda: False,
) -> Iterator[tuple[Fault, str, Answer]]:
    """Give faults, surroundings, and whether the fault ever shows in them.

    A fault is tried until it is proven. Surroundings are prepared once, for all faults in them,
    those with the longest paths first.

    Parameters
    ----------
    netlist : FaultyNetlist
    faults : sequence of Fault
        Some of its.
    seconds : int
        What an attempt of `ever_high` may take, of several.
    only_in : collection of str
        Modules that are tried; all without it.
    is_over : callable
        Says that no more shall be tried.
    """
    left = {fault.number: fault for fault in faults}
    modules = {module for fault in faults for module in surroundings(fault)}
    modules &= set(only_in or modules)
    for module in sorted(modules, key=lambda name: (-name.count("."), name)):
        inside = [fault for fault in left.values() if module in surroundings(fault)]
        for fault, answer in _in_module(netlist, module, inside, seconds, is_over):
            if answer == Answer.NEVER:
                del left[fault.number]
            yield fault, module, answer


def _in_module(
    netlist: FaultyNetlist,
    module: str,
    faults: Sequence[Fault],
    seconds: int,
    is_over: Callable[[], bool],
) -> Iterator[tuple[Fault, Answer]]:
    if not faults or is_over():
        return
    with tempfile.TemporaryDirectory(prefix="kiwicha-miter-") as name:
        folder = Path(name)
        try:
            part = CutNetlist(netlist.good, module, faults, folder)
        except ToolError:
            part = None
        if part is not None:
            for number, fault in enumerate(faults, 1):
                if is_over():
                    return
                yield fault, _answer(part, number, folder, seconds, netlist.low)
            return
    # Faults that are never active together may be a loop of gates.
    if len(faults) == 1:
        yield faults[0], Answer.UNKNOWN
        return
    for some in (faults[: len(faults) // 2], faults[len(faults) // 2 :]):
        yield from _in_module(netlist, module, some, seconds, is_over)


def _answer(
    part: CutNetlist, number: int, folder: Path, seconds: int, low: Collection[str]
) -> Answer:
    def solved(gates: Gates | None) -> Answer:
        if gates is None:
            return Answer.NEVER
        write_aiger(folder / _MITER, gates)
        return ever_high(folder, _MITER, seconds)

    miter = FaultMiter(part.gates, SELECT, number, part.is_needed, low)
    answer = solved(miter.first_difference())
    # Without an answer to the easier question there is none to the harder one.
    return solved(miter.difference()) if answer == Answer.ONCE else answer

"""Where the source declares signals and memories of a design."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from kiwicha.boards.timing.places import source_places
from kiwicha.gateware.instructions.mac import Mac
from tests.support.requirements import REPOSITORY


class _Counter(wiring.Component):
    def __init__(self) -> None:
        super().__init__({"enable": In(1), "shown": Out(4)})

    def elaborate(self, _: object) -> Module:
        m = Module()
        count = Signal(4)
        with m.If(self.enable):
            m.d.sync += count.eq(count + 1)
        m.d.comb += self.shown.eq(count)
        return m


def test_registers_are_told_from_other_signals() -> None:
    m = Module()
    m.submodules.inner = inner = _Counter()
    found = source_places(m, [inner.enable, inner.shown], "top")
    file = __file__.removeprefix(f"{REPOSITORY}/")
    lines = (REPOSITORY / file).read_text().splitlines()
    declared = 1 + next(n for n, line in enumerate(lines) if "count = Signal" in line)
    assert found["inner.count"].source == f"{file}:{declared}"
    assert found["inner.count"].is_register
    assert not found["inner.shown"].is_register


def test_what_a_library_declares_has_the_place_of_its_module() -> None:
    m = Module()
    m.submodules.mac = mac = Mac(multipliers=4)
    found = source_places(m, [mac.i.valid], "top")
    files = {place.source.partition(":")[0] for path, place in found.items() if "mac" in path}
    assert files == {"gateware/instructions/mac.py"}
    assert found["mac.accumulators_0"].source.startswith("gateware/instructions/mac.py:")

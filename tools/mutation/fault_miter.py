"""A netlist with and without one of its faults, side by side: one output tells them apart."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence

from tools.aiger import Gates, Pin

__all__ = ["FaultMiter", "Needed"]

Needed = Callable[[Pin, Collection[Pin]], bool]
"""Says of an output whether it must be the same, if of all inputs some are read."""


class FaultMiter:
    """Gates of a netlist with and without one of its faults; equal ones are there once.

    Parameters
    ----------
    netlist : Gates
        With faults.
    select : str
        Name of its input that selects one: 0 is none.
    number : int
        Of the fault.
    is_needed : callable
        Says of an output, and of all inputs that anything needed depends on, whether it must be the
        same.
    low : collection of str
        Inputs that are never high.
    """

    def __init__(
        self,
        netlist: Gates,
        select: str,
        number: int,
        is_needed: Needed,
        low: Collection[str] = (),
    ) -> None:
        self._both = both = _Both(netlist, select, low)
        self._number = number
        self._is_needed = is_needed
        self._good = both.add(0, both.registers)
        self._faulty = both.add(number, both.registers)

    def first_difference(self) -> Gates | None:
        """Return what is high when a fault first makes a needed output or a register differ.

        Registers have values of the netlist without the fault. The fault changes nothing if its
        output is never high, but it may change nothing that shows if it is. None if it can't be.
        """
        both = self._both
        following = dict(zip(both.registers, both.next(self._good), strict=True))
        pins = [pin for pin, _ in both.netlist.outputs]
        values = zip(both.outputs(self._good), both.outputs(self._faulty), strict=True)
        pairs = dict(zip(pins, values, strict=True))
        changed = dict(zip(both.registers, both.next(self._faulty), strict=True))
        needed, seen = both.needed(pairs, [following, changed], self._is_needed)
        differs = both.any_differs([
            *(pairs[pin] for pin in pins if pin in needed),
            *(
                (following[register], changed[register])
                for register in both.registers
                if register >> 1 in seen
            ),
        ])
        return both.cone(differs, following) if differs else None

    def difference(self) -> Gates | None:
        """Return what is high when a needed output differs, side by side; None if it can't."""
        both = self._both
        reached = both.reached(self._good, self._faulty)
        own = [
            literal + 2 * len(both.registers) if place in reached else literal
            for place, literal in enumerate(both.registers)
        ]
        faulty = both.add(self._number, own)
        following = dict(zip(both.registers, both.next(self._good), strict=True))
        following |= dict(zip(own, both.next(faulty), strict=True))
        pins = [pin for pin, _ in both.netlist.outputs]
        values = zip(both.outputs(self._good), both.outputs(faulty), strict=True)
        pairs = dict(zip(pins, values, strict=True))
        needed, _ = both.needed(pairs, [following], self._is_needed)
        differs = both.any_differs([pairs[pin] for pin in pins if pin in needed])
        return both.cone(differs, following) if differs else None


class _Both:
    """Gates of both netlists; equal ones are one gate."""

    def __init__(self, netlist: Gates, select: str, low: Collection[str]) -> None:
        self.netlist = netlist
        self._select = select
        self._low = low
        self.inputs = [2 * number for number in range(1, len(netlist.inputs) + 1)]
        count = len(netlist.registers)
        first = 2 * (len(netlist.inputs) + 1)
        self.registers = [first + 2 * place for place in range(count)]
        # The faulty netlist's own registers come behind the common ones.
        self._first_gate = first // 2 + 2 * count
        self.gates: list[tuple[int, int]] = []
        self._known: dict[tuple[int, int], int] = {}

    def gate(self, a: int, b: int) -> int:
        """Return the literal of a gate, as simple as can be told from its inputs alone."""
        if a > b:
            a, b = b, a
        if a == 0 or a == b ^ 1:
            return 0
        if a in (1, b):
            return b
        found = self._known.get((a, b))
        if found is None:
            found = 2 * (self._first_gate + len(self.gates))
            self.gates.append((a, b))
            self._known[a, b] = found
        return found

    def add(self, number: int, registers: Sequence[int]) -> list[int]:
        """Add a netlist, of which a fault is active; return literals of its variables."""
        literals = [0]
        for literal, (name, bit) in zip(self.inputs, self.netlist.inputs, strict=True):
            is_free = name != self._select and name not in self._low
            value = number >> bit & 1 if name == self._select else 0
            literals.append(literal if is_free else value)
        literals += registers
        gate = self.gate
        for a, b in self.netlist.gates:
            literals.append(gate(literals[a >> 1] ^ a & 1, literals[b >> 1] ^ b & 1))
        return literals

    def next(self, literals: Sequence[int]) -> list[int]:
        """Return next values of registers."""
        return [literals[item >> 1] ^ item & 1 for item in self.netlist.registers]

    def outputs(self, literals: Sequence[int]) -> list[int]:
        """Return values of outputs."""
        return [literals[item >> 1] ^ item & 1 for _, item in self.netlist.outputs]

    def reached(self, good: Sequence[int], faulty: Sequence[int]) -> set[int]:
        """Return places of registers that the fault reaches, in any number of cycles."""
        following = self.next(faulty)
        readers = defaultdict(list)
        for place, literal in enumerate(following):
            readers[literal >> 1].append(self.registers[place] >> 1)
        for variable, (a, b) in enumerate(self.gates, self._first_gate):
            readers[a >> 1].append(variable)
            readers[b >> 1].append(variable)
        differing = zip(self.registers, self.next(good), following, strict=True)
        seen = {register >> 1 for register, a, b in differing if a != b}
        waiting = [*seen]
        while waiting:
            for reader in readers[waiting.pop()]:
                if reader not in seen:
                    seen.add(reader)
                    waiting.append(reader)
        return {place for place, item in enumerate(self.registers) if item >> 1 in seen}

    def needed(
        self,
        pairs: dict[Pin, tuple[int, int]],
        following: Sequence[dict[int, int]],
        is_needed: Needed,
    ) -> tuple[set[Pin], set[int]]:
        """Return outputs that are needed, and variables that they depend on.

        Parameters
        ----------
        pairs : dict
            Their literals, without and with the fault.
        following : sequence of dict
            Next values of registers, all of which count.
        is_needed : callable
            See `FaultMiter`.
        """
        seen: set[int] = set()
        read: set[Pin] = set()
        needed: set[Pin] = set()
        while True:
            more = [pin for pin in pairs if pin not in needed and is_needed(pin, read)]
            if not more:
                return needed, seen
            needed.update(more)
            self._follow((item for pin in more for item in pairs[pin]), following, seen)
            read = {
                pin
                for item, pin in zip(self.inputs, self.netlist.inputs, strict=True)
                if item >> 1 in seen
            }

    def _follow(
        self, literals: Iterable[int], following: Sequence[dict[int, int]], seen: set[int]
    ) -> None:
        """Add variables that literals depend on, in any number of cycles."""
        waiting = [literal >> 1 for literal in literals]
        while waiting:
            variable = waiting.pop()
            if variable in seen:
                continue
            seen.add(variable)
            if variable >= self._first_gate:
                a, b = self.gates[variable - self._first_gate]
                waiting += (a >> 1, b >> 1)
            else:
                waiting += [by[2 * variable] >> 1 for by in following if 2 * variable in by]

    def any_differs(self, pairs: Sequence[tuple[int, int]]) -> int:
        """Return a literal that is high if any two literals differ."""
        same = 1
        for a, b in pairs:
            if a == b:
                continue
            either = self.gate(self.gate(a, b ^ 1) ^ 1, self.gate(a ^ 1, b) ^ 1)
            same = self.gate(same, either)
        return same ^ 1

    def cone(self, output: int, following: dict[int, int]) -> Gates:
        """Return the part of a netlist that an output depends on."""
        seen: set[int] = set()
        self._follow([output], [following], seen)
        order = sorted(seen - {0})
        inputs = [item for item in order if item <= len(self.inputs)]
        registers = [item for item in order if 2 * item in following]
        gates = [item for item in order if item >= self._first_gate]
        numbers = {0: 0} | {
            item: number for number, item in enumerate((*inputs, *registers, *gates), 1)
        }

        def literal(item: int) -> int:
            return 2 * numbers[item >> 1] + (item & 1)

        return Gates(
            tuple(self.netlist.inputs[item - 1] for item in inputs),
            tuple(literal(following[2 * item]) for item in registers),
            tuple(
                (literal(a), literal(b))
                for a, b in (self.gates[item - self._first_gate] for item in gates)
            ),
            ((("differs", 0), literal(output)),),
        )

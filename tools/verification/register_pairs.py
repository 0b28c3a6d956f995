"""Registers of a source and of its netlist that are to be the same, as variables of a proof."""

from collections.abc import Mapping

from tools.verification.constant_registers import constant_registers
from tools.verification.nets import Bit, Nets

__all__ = ["RegisterPairs"]

Value = str | int
"""A constant, or the number of a variable."""


class RegisterPairs:
    """Registers that are to be the same, and what must be the same for them to be.

    Parameters
    ----------
    gold, gate : Nets
        The source and the netlist, of gates. Registers that have a name in common are taken for
        the same; those of the source that get nothing but their first value are taken for it.
    gold_registers, gate_registers : mapping
        Bits of their registers, and what these become.

    Attributes
    ----------
    gold_values, gate_values : dict
        What each register is.
    variables : int
        How many there are.
    after : list of tuple
        What registers become: bits of the source and of the netlist, or constants. The two of each
        pair must be the same if registers are what ``gold_values`` and ``gate_values`` say.
    starts : bool
        Registers that are to be the same start with the same values.
    compared, constant, absent : int
        Registers of the source that are to be the same as others or constant; those of them that
        are to be constant; and the rest.
    """

    def __init__(
        self,
        gold: Nets,
        gate: Nets,
        gold_registers: Mapping[Bit, Bit],
        gate_registers: Mapping[Bit, Bit],
    ) -> None:
        constants = constant_registers(gold)
        same: dict[Bit, list[Bit]] = {bit: [] for bit in gate_registers}
        alone: list[Bit] = []
        for bit in gold_registers:
            there = (gate.bit(place) for place in gold.names.get(bit, ()))
            register = next((other for other in there if other in gate_registers), None)
            (alone if register is None else same[register]).append(bit)
        self.gold_values: dict[Bit, Value] = {}
        self.gate_values: dict[Bit, Value] = {}
        self.variables = 0
        self.after: list[tuple[Bit, Bit]] = []
        self.starts = True
        for register, others in same.items():
            value = next((constants[bit] for bit in others if bit in constants), None)
            value_here = self._variable() if value is None else value
            self.gate_values[register] = value_here
            later = gate_registers[register]
            if value is not None:
                self.after.append((value, later))
            for bit in others:
                self.gold_values[bit] = value_here
                self.after.append((gold_registers[bit], later if value is None else value))
                first = gold.first.get(bit)
                self.starts &= first is not None and first == gate.first.get(register)
        for bit in alone:
            if bit in constants:
                self.gold_values[bit] = constants[bit]
                self.after.append((gold_registers[bit], constants[bit]))
            else:
                self.gold_values[bit] = self._variable()
        self.constant = sum(isinstance(value, str) for value in self.gold_values.values())
        self.absent = sum(bit not in constants for bit in alone)
        self.compared = len(gold_registers) - self.absent

    def _variable(self) -> int:
        self.variables += 1
        return self.variables - 1

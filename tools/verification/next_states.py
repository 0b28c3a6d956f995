"""The proof that two netlists compute the same, from the first cycle on, by ABC.

Registers that are to be the same are one variable. What they become and the outputs must be the
same functions of these variables and of the inputs: that is a netlist without registers, and ABC
answers whether its only output, a difference, can be high. With the same first values, too, all is
the same in each cycle. A register that is to keep its first value is this value instead of a
variable, and must become it. So nothing is taken for granted: if registers were paired that are not
the same, there is a difference.

Bits without a value, of the source and of the netlist, are inputs of their own on each side: no
output and no register that is compared may depend on them.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kiwicha.errors import ToolError
from tools.abc import Answer, can_be_high
from tools.verification.constant_registers import GATES, REGISTER
from tools.verification.nets import Bit, Nets
from tools.verification.register_pairs import RegisterPairs
from tools.yosys import run_yosys

__all__ = ["NextStates", "prove_next_states"]

_CLOCK = "clk"
_BEFORE, _AFTER = "values_before", "values_after"
"""Ports in place of registers."""
_NO_VALUE = "setundef -undriven -anyseq"
_OTHERS = {"$anyseq", "$scopeinfo"}
"""Cells beside gates and registers: bits without a value, and what has no bits."""
_TO_GATES = (
    "hierarchy -top top",
    # Before a pass can choose a value for bits that have none.
    *(_NO_VALUE, "pmuxtree", "techmap", "dffunmap", "simplemap"),
    *(_NO_VALUE, "opt_clean"),
)
_SIDES = (
    *("read_json source.json", *_TO_GATES, "write_json gold.gates.json", "design -reset"),
    *("read_rtlil gate.il", *_TO_GATES, "write_json gate.gates.json"),
)
_TO_DIFFERENCE = (
    *("read_json gold.next.json", "read_json gate.next.json"),
    *("miter -equiv -flatten gold gate both", "hierarchy -top both"),
    *("techmap", "simplemap", "opt_clean", "aigmap", "opt_clean", "write_aiger difference.aig"),
)


@dataclass(frozen=True)
class NextStates:
    """What was proven of two netlists.

    Parameters
    ----------
    compared : int
        Bits of outputs and of registers of the source.
    constant, absent : int
        Registers of the source that keep their first value, and those that the netlist does not
        have, which are not compared.
    starts : bool
        Registers that are compared start with the same values.
    are_equal : bool or None
        What these become is the same, and outputs are; None if there is no answer in time.
    """

    compared: int
    constant: int
    absent: int
    starts: bool
    are_equal: bool | None


def prove_next_states(folder: Path, seconds: float) -> NextStates:
    """Prove that ``top`` of ``source.json`` and of ``gate.il`` are equal.

    Registers that have a name in common are taken for the same.

    Parameters
    ----------
    folder : Path
        Files are added to it.
    seconds : float
        What ABC may take.

    Raises
    ------
    ToolError
        If Yosys fails, or there are registers of another clock than the rising edge of ``clk``.
    """
    run_yosys(["-p", "; ".join(_SIDES)], folder)
    gold, gate = (_Side(folder, name) for name in ("gold", "gate"))
    outputs = sum(
        len(port["bits"]) for port in gold.ports.values() if port["direction"] == "output"
    )
    pairs = RegisterPairs(gold.nets, gate.nets, gold.registers, gate.registers)
    gold.write(pairs.gold_values, pairs.variables, [bit for bit, _ in pairs.after])
    gate.write(pairs.gate_values, pairs.variables, [bit for _, bit in pairs.after])
    run_yosys(["-p", "; ".join(_TO_DIFFERENCE)], folder)
    answer = can_be_high(folder, "difference.aig", seconds)
    return NextStates(
        compared=pairs.compared + outputs,
        constant=pairs.constant,
        absent=pairs.absent,
        starts=pairs.starts,
        are_equal={Answer.NEVER: True, Answer.ONCE: False}.get(answer),
    )


class _Side:
    """The source or the netlist, of gates; its registers can be taken out.

    Attributes
    ----------
    nets : Nets
    ports : dict
        As Yosys writes them in JSON.
    registers : dict
        Bits of registers, and what they become.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._name = name
        self._path = folder / f"{name}.next.json"
        text = (folder / f"{name}.gates.json").read_text(encoding="utf-8")
        self._module = json.loads(text)["modules"]["top"]
        self.nets = Nets(self._module)
        self.ports: dict[str, Any] = dict(self._module["ports"])
        self.registers = dict(self._registers())

    def _registers(self) -> Iterator[tuple[Bit, Bit]]:
        clock = self.ports.get(_CLOCK, {}).get("bits")
        for cell in self._module["cells"].values():
            wires = cell["connections"]
            if cell["type"] == REGISTER and wires["C"] == clock:
                yield wires["Q"][0], wires["D"][0]
            elif cell["type"] not in _OTHERS | set(GATES):
                raise ToolError(
                    f"registers must be of the rising edge of {_CLOCK}, and other cells gates, not"
                    f" {cell['type']} ({self._name})"
                )

    def write(self, values: Mapping[Bit, str | int], variables: int, after: Sequence[Bit]) -> None:
        """Write a module without registers.

        Parameters
        ----------
        values : mapping
            What is in the place of each register: a constant, or the number of a variable.
        variables : int
            How many there are. They are inputs.
        after : sequence
            Bits that are outputs as well.
        """
        inputs = [self.nets.fresh() for _ in range(variables)]
        there = {
            bit: inputs[value] if isinstance(value, int) else value for bit, value in values.items()
        }
        cells = self._module["cells"].items()
        self._module["cells"] = {name: cell for name, cell in cells if cell["type"] != REGISTER}
        self.nets.replace(there)
        outputs = [there.get(bit, bit) for bit in after]
        self._module["ports"] |= {
            _BEFORE: {"direction": "input", "bits": inputs},
            _AFTER: {"direction": "output", "bits": outputs},
        }
        self._module["netnames"] = {
            name: {"hide_name": 0, "bits": port["bits"], "attributes": {}}
            for name, port in self._module["ports"].items()
        }
        design = {"modules": {self._name: self._module}}
        self._path.write_text(json.dumps(design), encoding="utf-8")

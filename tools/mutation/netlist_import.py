"""Netlists as Yosys writes them in JSON, for Amaranth: its simulator then runs a component's tests.

A component keeps its ports, and its body is that of the netlist. So a test of Amaranth's simulator
sees a fault that Yosys has put into a netlist.
"""

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

from amaranth import Cat, Const, Module, Mux, ResetSignal, Signal, Value
from amaranth.hdl import ValueLike
from amaranth.lib.memory import Memory, MemoryData, ReadPort, WritePort

from tools.verification.nets import Bit, Nets
from tools.yosys import port_values

__all__ = ["body_of_netlist"]

Place = tuple[Value, int]

_BINARY: dict[str, Callable[[Value, Value], Value]] = {
    "$add": operator.add,
    "$sub": operator.sub,
    "$mul": operator.mul,
    "$and": operator.and_,
    "$or": operator.or_,
    "$xor": operator.xor,
    "$divfloor": operator.floordiv,
    "$modfloor": operator.mod,
    "$eq": operator.eq,
    "$ne": operator.ne,
    "$lt": operator.lt,
    "$le": operator.le,
    "$gt": operator.gt,
    "$ge": operator.ge,
}
"""Operands are as wide as they are; the result is cut, or extended."""
_REDUCTIONS: dict[str, Callable[[Value], Value]] = {
    "$reduce_or": Value.any,
    "$reduce_bool": Value.any,
    "$reduce_and": Value.all,
    "$logic_not": lambda value: ~value.any(),
}
_EXTENDING: dict[str, Callable[[Value], Value]] = {"$not": operator.inv, "$neg": operator.neg}
"""The operand is as wide as the result."""
_SHIFTS: dict[str, Callable[[Value, Value, int], Value]] = {
    "$shl": lambda value, by, width: _extended(value, width) << by.as_unsigned(),
    "$shr": lambda value, by, width: _wide(value, width) >> by.as_unsigned(),
    "$sshr": lambda value, by, width: _extended(value, width) >> by.as_unsigned(),
    "$shift": lambda value, by, width: _shifted(_wide(value, width), by),
}
"""By a value and by how much, and for how wide a result."""
_NAMES = "$scopeinfo"
"""A cell that tells of a module which is no longer there."""
_CLOCK, _RESET = "clk", "rst"


def body_of_netlist(component: Any, netlist: dict[str, Any]) -> Module:
    """Return a component's body.

    Parameters
    ----------
    component : amaranth.lib.wiring.Component
        Its ports are used; it is not elaborated.
    netlist : dict
        Its netlist, of one module, with ports named as by `component_rtlil`. Registers are `$dff`
        of the clock ``clk``; words of memories are written bit by bit.

    Raises
    ------
    NotImplementedError
        If it has a cell of another kind than those of this project's netlists.
    """
    (module,) = netlist["modules"].values()
    return _Body(component, module).module


class _Body:
    def __init__(self, component: Any, module: dict[str, Any]) -> None:
        self.module = Module()
        self._nets = Nets(module)
        self._places: dict[Bit, Place] = {}
        self._reset: list[Bit] = module["ports"].get(_RESET, {}).get("bits", [])
        ports = port_values(component)
        for name, port in module["ports"].items():
            if port["direction"] == "input":
                self._take_input(name, port["bits"], ports)
        cells = sorted(module["cells"].items())
        waiting = [
            self._declare(f"cell_{number}", cell)
            for number, (_, cell) in enumerate(cells)
            if cell["type"] != _NAMES
        ]
        for connect in waiting:
            connect()
        for name, port in module["ports"].items():
            if port["direction"] == "output":
                self.module.d.comb += ports[name].eq(self._value(port["bits"]))

    def _take_input(self, name: str, bits: Sequence[Bit], ports: dict[str, Value]) -> None:
        if name == _CLOCK:
            return
        value = ResetSignal(allow_reset_less=True) if name == _RESET else ports[name]
        self._give(bits, value)

    def _give(self, bits: Sequence[Bit], value: Value) -> None:
        for index, bit in enumerate(bits):
            self._places[bit] = (value, index)

    def _value(self, bits: Sequence[Bit], *, is_signed: bool = False) -> Value:
        """Return the value of some bits; what has no driver is zero."""
        parts: list[Value] = []
        before: Place = (Const(0, 1), 0)
        first = 0
        for bit in bits:
            place = self._places.get(bit, (Const(int(bit == "1"), 1), 0))
            value, index = place
            if value is before[0] and index == before[1] + 1:
                parts[-1] = value[first : index + 1]
            else:
                first = index
                parts.append(value[index])
            before = place
        value = Cat(parts)
        return value.as_signed() if is_signed else value

    def _input(self, cell: dict[str, Any], port: str) -> Value:
        is_signed = int(cell["parameters"].get(f"{port}_SIGNED", "0"), 2) == 1
        return self._value(cell["connections"][port], is_signed=is_signed)

    def _declare(self, name: str, cell: dict[str, Any]) -> Callable[[], None]:
        """Give names to what a cell drives, and return what connects it."""
        kind = cell["type"]
        if kind == "$mem_v2":
            return self._declare_memory(cell)
        port = "Q" if kind == "$dff" else "Y"
        bits = cell["connections"][port]
        if kind == "$dff":
            return self._declare_register(name, cell)
        output = Signal(len(bits), name=f"{name}_y")
        self._give(bits, output)
        return lambda: self._connect_logic(output, name, cell)

    def _declare_register(self, name: str, cell: dict[str, Any]) -> Callable[[], None]:
        bits, later = cell["connections"]["Q"], cell["connections"]["D"]
        first = [int(self._nets.first.get(bit, 0)) for bit in bits]
        init = sum(bit << index for index, bit in enumerate(first))
        unless = self._unless_reset(later, first)
        register = Signal(len(bits), name=name, init=init, reset_less=unless is None)
        self._give(bits, register)

        def connect() -> None:
            self.module.d.sync += register.eq(self._value(later if unless is None else unless))

        return connect

    def _unless_reset(self, later: Sequence[Bit], first: Sequence[int]) -> Sequence[Bit] | None:
        """Return what a register becomes if it is not reset; None if its reset is not a usual one.

        A reset that surrounds the component reaches usual ones only, as in Amaranth.
        """
        cell, _, _ = self._nets.origin(later[0])
        if cell is None or cell["type"] != "$mux" or not self._reset:
            return None
        wires = cell["connections"]
        is_usual = wires["S"] == self._reset and wires["Y"] == list(later)
        is_usual &= wires["B"] == [str(bit) for bit in first]
        return wires["A"] if is_usual else None

    def _connect_logic(self, output: Signal, name: str, cell: dict[str, Any]) -> None:
        # A module of its own: Amaranth's simulator looks at it only when an operand changes.
        self.module.submodules[name] = part = Module()
        part.d.comb += output.eq(self._result(cell))

    def _result(self, cell: dict[str, Any]) -> ValueLike:
        kind = cell["type"]
        width = len(cell["connections"]["Y"])
        if kind in {"$mux", "$pmux"}:
            return self._choice(cell, width)
        first = self._input(cell, "A")
        if kind in _REDUCTIONS:
            return _REDUCTIONS[kind](first)
        if kind in _EXTENDING:
            return _EXTENDING[kind](_extended(first, width))
        second = self._input(cell, "B")
        if kind in _BINARY:
            return _BINARY[kind](first, second)
        if kind in _SHIFTS:
            return _SHIFTS[kind](first, second, width)
        raise NotImplementedError(f"cells of the kind {kind} are not known")

    def _choice(self, cell: dict[str, Any], width: int) -> Value:
        wires = cell["connections"]
        chosen = self._value(wires["A"])
        if cell["type"] == "$mux":
            return Mux(self._value(wires["S"]), self._value(wires["B"]), chosen)
        one_hot = [
            Mux(self._value([select]), self._value(wires["B"][width * k : width * (k + 1)]), 0)
            for k, select in enumerate(wires["S"])
        ]
        any_of = functools.reduce(operator.or_, one_hot)
        return Mux(self._value(wires["S"]).any(), any_of, chosen)

    def _declare_memory(self, cell: dict[str, Any]) -> Callable[[], None]:
        number = {key: _number(cell, key) for key in ("WIDTH", "SIZE", "RD_PORTS", "WR_PORTS")}
        width, depth = number["WIDTH"], number["SIZE"]
        init = _words(cell["parameters"]["INIT"], width, depth)
        memory = Memory(MemoryData(shape=width, depth=depth, init=init))
        self.module.submodules += memory
        wires = cell["connections"]
        addresses = len(wires["RD_ADDR"]) // max(number["RD_PORTS"], 1)
        writes = [memory.write_port(granularity=1) for _ in range(number["WR_PORTS"])]
        reads = [self._read_port(cell, memory, writes, k) for k in range(number["RD_PORTS"])]
        for k, port in enumerate(reads):
            self._give(wires["RD_DATA"][width * k : width * (k + 1)], port.data)

        def connect() -> None:
            for k, port in enumerate(writes):
                self._connect_write(cell, port, k, width)
            for k, port in enumerate(reads):
                address = self._value(wires["RD_ADDR"][addresses * k : addresses * (k + 1)])
                self.module.d.comb += port.addr.eq(address)
                if port.domain != "comb":
                    self.module.d.comb += port.en.eq(self._value([wires["RD_EN"][k]]))

        return connect

    @staticmethod
    def _read_port(
        cell: dict[str, Any], memory: Memory, writes: list[WritePort], number: int
    ) -> ReadPort:
        if not _number(cell, "RD_CLK_ENABLE") >> number & 1:
            return memory.read_port(domain="comb")
        mask = _number(cell, "RD_TRANSPARENCY_MASK") >> number * len(writes)
        seen = [port for k, port in enumerate(writes) if mask >> k & 1]
        return memory.read_port(transparent_for=seen)

    def _connect_write(self, cell: dict[str, Any], port: WritePort, k: int, width: int) -> None:
        wires = cell["connections"]
        addresses = len(wires["WR_ADDR"]) // _number(cell, "WR_PORTS")
        self.module.d.comb += [
            port.addr.eq(self._value(wires["WR_ADDR"][addresses * k : addresses * (k + 1)])),
            port.data.eq(self._value(wires["WR_DATA"][width * k : width * (k + 1)])),
            port.en.eq(self._value(wires["WR_EN"][width * k : width * (k + 1)])),
        ]


def _number(cell: dict[str, Any], name: str) -> int:
    text = cell["parameters"][name]
    return int(text.replace("x", "0"), 2) if isinstance(text, str) else int(text)


def _words(text: str, width: int, depth: int) -> list[int]:
    """Return the first words of a memory: without any, zeros."""
    bits = text.replace("x", "0").zfill(width * depth)
    return [int(bits[len(bits) - width * (k + 1) : len(bits) - width * k], 2) for k in range(depth)]


def _extended(value: Value, width: int) -> Value:
    """Return a value with more bits; one that has them is as it is."""
    if len(value) >= width:
        return value
    if value.shape().signed:
        return Cat(value, value[-1].replicate(width - len(value))).as_signed()
    return Cat(value, Const(0, width - len(value)))


def _wide(value: Value, width: int) -> Value:
    """Return a value as unsigned, as wide as it is or as a result is."""
    return _extended(value, max(width, len(value))).as_unsigned()


def _shifted(value: Value, by: Value) -> Value:
    """Return a value shifted right, or left if it is by a negative number."""
    if not by.shape().signed:
        return value >> by
    left = (-by).as_unsigned()[: len(by)]
    return Mux(by < 0, value << left, value >> by.as_unsigned())

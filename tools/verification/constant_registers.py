"""Registers that never have another value than their first one, whatever the inputs are."""

from collections.abc import Callable, Iterable, Mapping

from tools.verification.nets import Bit, Nets

__all__ = ["GATES", "REGISTER", "constant_registers"]

REGISTER = "$_DFF_P_"
"""The only kind of register in modules that are looked at."""
_UNKNOWN = "x"
_Value = str
"""``0``, ``1``, or ``x`` for either."""


def _not(value: _Value) -> _Value:
    return {"0": "1", "1": "0"}.get(value, _UNKNOWN)


def _and(one: _Value, other: _Value) -> _Value:
    return "0" if "0" in {one, other} else "1" if {one, other} == {"1"} else _UNKNOWN


def _or(one: _Value, other: _Value) -> _Value:
    return _not(_and(_not(one), _not(other)))


def _xor(one: _Value, other: _Value) -> _Value:
    return _UNKNOWN if _UNKNOWN in {one, other} else str(int(one != other))


def _mux(low: _Value, high: _Value, choice: _Value) -> _Value:
    if low == high:
        return low
    return {"0": low, "1": high}.get(choice, _UNKNOWN)


GATES: dict[str, tuple[str, Callable[..., _Value]]] = {
    "$_NOT_": ("A", _not),
    "$_AND_": ("AB", _and),
    "$_OR_": ("AB", _or),
    "$_XOR_": ("AB", _xor),
    "$_XNOR_": ("AB", lambda one, other: _not(_xor(one, other))),
    "$_MUX_": ("ABS", _mux),
}
"""Inputs of gates, and what they compute. Of other cells nothing is known."""


def constant_registers(nets: Nets) -> dict[Bit, str]:
    """Return registers that keep their first value, and this value.

    Of those that start with a known value all are taken to keep it; those that would get another
    one then, or an unknown one, do not. The rest is taken to, and so on.

    Parameters
    ----------
    nets : Nets
        Of gates and `REGISTER`.
    """
    inputs = {
        cell["connections"]["Q"][0]: cell["connections"]["D"][0]
        for cell in nets.module["cells"].values()
        if cell["type"] == REGISTER
    }
    found: dict[Bit, str] = {bit: nets.first[bit] for bit in inputs if bit in nets.first}
    while True:
        values = _values(nets, found, [inputs[bit] for bit in found])
        kept = {bit: value for bit, value in found.items() if values[inputs[bit]] == value}
        if len(kept) == len(found):
            return kept
        found = kept


def _values(nets: Nets, known: Mapping[Bit, str], wanted: Iterable[Bit]) -> dict[Bit, _Value]:
    """Return values of bits, and of what they are computed from."""
    values: dict[Bit, _Value] = {**known, "0": "0", "1": "1", "x": _UNKNOWN}
    waiting = list(wanted)
    begun: set[Bit] = set()
    while waiting:
        bit = waiting[-1]
        cell, _, _ = nets.origin(bit)
        names, compute = GATES.get(cell["type"] if cell else "", ("", None))
        if bit in values or cell is None or compute is None:
            values.setdefault(bit, _UNKNOWN)
            waiting.pop()
            continue
        operands = [cell["connections"][name][0] for name in names]
        # Of a loop nothing is known.
        more = [one for one in operands if one not in values] if bit not in begun else []
        begun.add(bit)
        if more:
            waiting += more
        else:
            values[bit] = compute(*(values.get(one, _UNKNOWN) for one in operands))
            waiting.pop()
    return values

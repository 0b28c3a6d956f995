"""From a board and a configuration to a bitstream and a report."""

from collections.abc import Callable, Collection, Mapping, Sequence

from kiwicha.boards.board import Board
from kiwicha.boards.family import Family
from kiwicha.boards.flow import xilinx, yowasp
from kiwicha.boards.flow.fingerprint import system_fingerprint
from kiwicha.boards.flow.place_and_route import SEEDS, place_until_met
from kiwicha.boards.flow.report import BuildReport
from kiwicha.boards.flow.stopwatch import seconds_of
from kiwicha.boards.flow.synthesis import NETLIST, read_cells, synthesise
from kiwicha.boards.flow.system import CONSTRAINTS, SOURCES, TOP, system_files
from kiwicha.boards.flow.utilization import utilization
from kiwicha.contract.configs import Config
from kiwicha.contract.peripherals import Peripheral
from kiwicha.errors import BoardError

__all__ = ["build_board", "build_files", "require_tools"]


def build_board(
    board: Board,
    config: Config,
    *,
    toolchain: str | None = None,
    sys_clk_hz: int | None = None,
    speed_grade: int | None = None,
    seeds: int | None = None,
    peripherals: Collection[Peripheral] = (),
    compiles: bool = True,
    on_build: Callable[[str], None] | None = None,
) -> BuildReport:
    """Build a board's system.

    Parameters
    ----------
    board : Board
        Where it runs.
    config : Config
        What the CFU has.
    toolchain : str or None
        One of the board's; None is the first.
    sys_clk_hz : int or None
        Frequency of the system; None is the board's.
    speed_grade : int or None
        On ECP5, another than the part's, for its timing.
    seeds : int or None
        On ECP5, how many seeds of the placer, from 1 on, are tried until one meets the clock; None
        are `SEEDS`. If none does, the fastest counts.
    peripherals : collection of Peripheral
        What the system has besides.
    compiles : bool
        Go on to the bitstream; else resources are counted and nothing is placed.
    on_build : callable or None
        Called with the name of each stage that takes time.

    Raises
    ------
    BoardError
        If the board cannot have the configuration or the clock, or does not have this toolchain.
    ToolError
        If a tool is missing or fails.
    """
    if speed_grade is not None and (
        board.family is not Family.ECP5 or speed_grade not in {6, 7, 8}
    ):
        raise BoardError(
            f"speed grade must be 6, 7 or 8, of an ECP5, not {speed_grade} of {board.part}"
        )
    if seeds is not None and board.family is not Family.ECP5:
        raise BoardError(f"seeds must be those of an ECP5's placer, not for {board.part}")
    chosen, _ = require_tools(board, toolchain, compiles=compiles)
    hz = sys_clk_hz or board.sys_clk_hz
    system = system_files(board, config, sys_clk_hz=hz, peripherals=peripherals, on_build=on_build)
    return build_files(
        board,
        config,
        system.files,
        SOURCES,
        inputs=system_fingerprint(board, config, system.files, speed_grade=speed_grade),
        toolchain=chosen,
        sys_clk_hz=hz,
        speed_grade=speed_grade,
        seeds=SEEDS if seeds is None else seeds,
        compiles=compiles,
        on_build=on_build,
    )


def require_tools(
    board: Board, toolchain: str | None, *, compiles: bool
) -> tuple[str, dict[str, str]]:
    """Return the toolchain that is meant, and the versions of its Python packages.

    Parameters
    ----------
    board : Board
        Where the design runs.
    toolchain : str or None
        One of the board's; None is the first.
    compiles : bool
        It must make a bitstream.

    Raises
    ------
    BoardError
        If the board does not have this toolchain.
    ToolError
        If a tool is missing.
    """
    chosen = toolchain or board.toolchains[0]
    if chosen not in board.toolchains:
        raise BoardError(
            f"toolchain of {board.name} must be {' or '.join(board.toolchains)}, not {chosen!r}"
        )
    versions = yowasp.require(yowasp.YOSYS)
    if compiles and board.family is Family.ECP5:
        versions |= yowasp.require(yowasp.NEXTPNR_ECP5)
    elif compiles:
        missing = xilinx.missing_tool(chosen)
        if missing is not None:
            raise missing
    return chosen, versions


def build_files(
    board: Board,
    config: Config,
    design: Mapping[str, bytes],
    sources: Sequence[str],
    *,
    inputs: Mapping[str, str],
    toolchain: str,
    sys_clk_hz: int,
    speed_grade: int | None = None,
    seeds: int = SEEDS,
    compiles: bool = True,
    on_build: Callable[[str], None] | None = None,
) -> BuildReport:
    """Build a design whose Verilog and constraints are there.

    Parameters
    ----------
    board, config, toolchain, sys_clk_hz, speed_grade, seeds, compiles, on_build
        As for `build_board`.
    design : mapping
        Contents of its files by name; the top module is `TOP`.
    sources : sequence of str
        Those that are Verilog.
    inputs : mapping
        Hashes of what is built, see `kiwicha.boards.flow.fingerprint`.

    Raises
    ------
    ToolError
        If a tool is missing or fails.
    """
    chosen, versions = require_tools(board, toolchain, compiles=compiles)

    def announce(stage: str) -> Callable[[], None] | None:
        return None if on_build is None else lambda: on_build(stage)

    verilog = {name: raw for name, raw in design.items() if name.endswith((".v", ".init"))}
    synthesis = synthesise(
        verilog,
        top=TOP,
        family=board.family,
        keeps_netlist=board.family is Family.ECP5,
        on_build=announce("synthesising: some minutes"),
    )
    resources, modules = utilization(read_cells(synthesis), board.family)
    timing, bitstream, seed, seconds = None, None, None, seconds_of(synthesis)
    files = dict(design)
    if board.family is Family.XC7:
        files = xilinx.with_scripts(board, files, sources)
        if compiles:
            made = xilinx.make_bitstream(
                files, toolchain=chosen, on_build=announce(f"running {chosen}: many minutes")
            )
            bitstream = (made / xilinx.BITSTREAM).read_bytes()
            seconds += seconds_of(made)
            files |= {path.name: path.read_bytes() for path in sorted(made.glob("*.rpt"))}
            if xilinx.TIMING_REPORT in files:
                text = files[xilinx.TIMING_REPORT].decode(errors="replace")
                timing = xilinx.read_timing(text, sys_clk_hz)
    elif compiles:
        timing, placed, seed, spent = place_until_met(
            (synthesis / NETLIST).read_bytes(),
            design[CONSTRAINTS[board.family]],
            part=board.part,
            speed_grade=speed_grade,
            clock_hz=sys_clk_hz,
            seeds=seeds,
            on_build=on_build,
        )
        bitstream = placed.bitstream.read_bytes()
        seconds += spent
    return BuildReport(
        board=board.name,
        config=config.name,
        part=board.part,
        toolchain=chosen,
        speed_grade=speed_grade,
        seed=seed,
        seeds=None if seed is None else seeds,
        sys_clk_hz=sys_clk_hz,
        resources=resources,
        capacity=board.capacity,
        modules=modules,
        timing=timing,
        files=files,
        bitstream=bitstream,
        versions=versions,
        inputs=inputs,
        seconds=seconds,
    )

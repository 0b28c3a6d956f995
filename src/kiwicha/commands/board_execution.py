"""``kiwicha run --target board``: from a workload to the report of its run on a board."""

from collections.abc import Sequence

from kiwicha.boards.board import load
from kiwicha.boards.flow.system import system_files
from kiwicha.boards.link.port import open_port
from kiwicha.boards.link.serial_link import Link
from kiwicha.boards.link.session import run_on_board
from kiwicha.commands.console import Display
from kiwicha.commands.execution import Outcome, Workload, measured_report, run_reference
from kiwicha.firmware.build import build_firmware

__all__ = ["run_connected"]


def run_connected(
    workload: Workload, inputs: Sequence[bytes], show: Display, *, board: str, port: str, baud: int
) -> Outcome:
    """Execute the Program on a board and compare with the reference executor.

    Parameters
    ----------
    workload : Workload
        A model compiled for the configuration of the board's bitstream.
    inputs : sequence of bytes
        One per input of the Program.
    show : Display
        Where progress goes.
    board : str
        Name of the board.
    port : str
        Its serial port.
    baud : int
        Bits per second of the port.
    """
    target = load(board)
    link = Link(open_port(port, baud))
    show.stage(f"executing {workload.model} in the reference executor")
    expected = run_reference(workload, inputs).output
    files = system_files(
        target,
        workload.config,
        sys_clk_hz=target.sys_clk_hz,
        on_build=show.stage,
    )
    firmware = build_firmware(
        workload.config,
        files.soc_header,
        kernels=(step.kernel for step in workload.program.steps),
    )
    result, said = run_on_board(
        link,
        workload.program,
        inputs,
        firmware,
        inferences=workload.inferences,
        on_stage=show.stage,
        on_transfer=show.bytes,
    )
    report = measured_report(workload, result, expected, target="board", clock_hz=said.sys_clk_hz)
    return Outcome(b"".join(result.outputs), report, 0.0)

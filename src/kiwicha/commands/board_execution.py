"""``kiwicha run --target board``: from a job to the report of its run on a board."""

from collections.abc import Sequence

from kiwicha.boards.board import load
from kiwicha.boards.serial_link import Link, open_port
from kiwicha.boards.session import run_on_board
from kiwicha.boards.system import system_files
from kiwicha.commands.console import Display
from kiwicha.commands.execution import Job, Outcome, run_reference
from kiwicha.compiler.cycles import predict_program
from kiwicha.firmware.build import build_firmware
from kiwicha.report import make_report

__all__ = ["run_connected"]


def run_connected(
    job: Job, inputs: Sequence[bytes], show: Display, *, board: str, port: str, baud: int
) -> Outcome:
    """Execute the Program on a board and compare with the reference executor.

    With an engine it runs twice in a row: the second inference finds warm caches.

    Parameters
    ----------
    job : Job
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
    inferences = 2 if job.config.engine_macs else 1
    show.stage(f"executing {job.model} in the reference executor")
    expected = run_reference(job, inputs).output
    files = system_files(
        target,
        job.config,
        toolchain=target.toolchains[0],
        sys_clk_hz=target.sys_clk_hz,
        on_build=show.stage,
    )
    firmware = build_firmware(job.config, files.soc_header)
    result, said = run_on_board(
        link,
        job.program,
        inputs,
        firmware,
        inferences=inferences,
        on_stage=show.stage,
        on_transfer=show.bytes,
    )
    output = b"".join(result.outputs)
    report = make_report(
        job.program,
        model=job.model,
        config=job.config,
        target="board",
        clock_hz=said.sys_clk_hz,
        step_cycles=result.step_cycles,
        inference_cycles=(result.first_cycles, result.last_cycles)[:inferences],
        bit_exact=output == expected,
        job_ends=result.job_ends,
        predicted=predict_program(job.program)[0] if job.config.engine_macs else None,
    )
    return Outcome(output, report, 0.0)

"""Runs Programs on a board, over its serial line."""

from collections.abc import Callable, Sequence

from kiwicha.boards.link.serial_link import Link
from kiwicha.contract import cfu, configs
from kiwicha.contract.cfu import Status
from kiwicha.contract.serial import NO_STATUS, SerialHello
from kiwicha.errors import BoardError
from kiwicha.firmware.build import Image
from kiwicha.program.image import Program
from kiwicha.sim.soc.run_memory import RunResult, failure, run_memory, run_result

__all__ = ["run_on_board"]


def run_on_board(
    link: Link,
    program: Program,
    inputs: Sequence[bytes],
    firmware: Image,
    *,
    inferences: int = 1,
    seconds: float = 60.0,
    on_stage: Callable[[str], None] | None = None,
    on_transfer: Callable[[str, int], Callable[[int], None]] | None = None,
) -> tuple[RunResult, SerialHello]:
    """Run a Program on a board.

    Parameters
    ----------
    link : Link
        The line to its loader.
    program : Program
        The Program.
    inputs : sequence of bytes
        One per input of the Program, row-major. Every inference gets the same.
    firmware : Image
        That of the Program's configuration, for this board.
    inferences : int
        How many in a row, 1 or more.
    seconds : float
        How long they may take.
    on_stage : callable or None
        Called with the name of each stage that takes time.
    on_transfer : callable or None
        Called with name and bytes of each transfer to the board; returns what is called with how
        many have arrived.

    Returns
    -------
    tuple of RunResult and SerialHello
        Outputs and cycles; what the board said of itself.

    Raises
    ------
    UsageError
        If inputs or inferences do not fit the Program.
    CapacityError
        If the run does not fit into the board's DRAM.
    BoardError
        If the board does not answer, has another configuration, or its firmware reports an error.
    """

    def announce(stage: str) -> None:
        if on_stage is not None:
            on_stage(stage)

    announce("asking the board")
    board = link.hello()
    if not board.dram_bytes:
        raise BoardError(
            "the board must have a system's bitstream, not the bring-up design's: kiwicha build and"
            " load one"
        )
    if board.config_hash != program.config.hash:
        known = configs.config_of_hash(board.config_hash)
        raise BoardError(
            f"the board's bitstream must be of {program.config.name}, not of "
            f"{known.name if known else 'another version'}: kiwicha build and load that one"
        )
    memory = run_memory(program, inputs, inferences=inferences, dram_bytes=board.dram_bytes)
    firmware_at = cfu.DRAM_BASE + board.dram_bytes - cfu.ONCHIP_BYTES
    if memory.free_address > firmware_at:
        raise BoardError(
            f"Program, arena and tensors must leave {cfu.ONCHIP_BYTES} bytes of the board's "
            f"{board.dram_bytes} bytes of DRAM for the firmware"
        )
    ranges = [*memory.loads, (firmware_at, firmware.raw)]
    total = sum(len(raw) for _, raw in ranges)
    text = f"loading Program, inputs and firmware: {total:,} bytes"
    link.load(ranges, on_bytes=None if on_transfer is None else on_transfer(text, total))
    announce("running")
    link.noise.clear()
    link.run(firmware_at, len(firmware.raw))
    ended = link.wait(seconds)
    if ended.runs != board.runs + 1 or ended.last_status == NO_STATUS:
        raise BoardError("the board must run the firmware once, and was reset; try again")
    announce("reading results")
    dumps = [link.read(address, count) for address, count in memory.dumps]
    if ended.last_status != Status.OK:
        uart = bytes(link.noise).decode("ascii", "replace")
        raise BoardError(failure(ended.last_status, dumps[0], uart))
    return run_result(program, dumps, inferences=inferences), board

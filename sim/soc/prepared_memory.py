"""The memory of a run as firmware leaves it when it begins the first inference.

Opening a Program takes the firmware some cycles for each of its words, which are read for the
check sum, and the inputs are copied word by word. In a simulation the host does both before reset.
"""

import dataclasses

from kiwicha.contract.program import BootBlock
from kiwicha.program.image import Program
from kiwicha.sim.soc.run_memory import RunMemory, padded

__all__ = ["prepared"]


def prepared(memory: RunMemory) -> RunMemory:
    """Return memory with which the firmware of a simulation starts at the first inference.

    The Program is checked here, from the bytes that are loaded, and the first inputs are written to
    their place in the arena. The caches are empty then, where firmware would have left in them what
    it has read last. Every later inference finds what it always does.

    Parameters
    ----------
    memory : RunMemory
        Of a run or of a stream, as any system takes it.

    Raises
    ------
    ProgramError
        If the Program is damaged.
    """
    (boot_at, boot_raw), (program_at, raw), (inputs_at, image) = memory.loads
    program = Program.from_bytes(raw)
    boot = dataclasses.replace(BootBlock.unpack(boot_raw), prepared=1)
    arena, at = [], 0
    for tensor in program.inputs:
        value = image[at : at + tensor.ref.bytes]
        arena.append((boot.arena_address + tensor.ref.offset, value))
        at += len(padded(value))
    loads = (boot_at, boot.pack()), (program_at, raw), (inputs_at, image), *arena
    return dataclasses.replace(memory, loads=loads)

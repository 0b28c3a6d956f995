"""How long a build takes, about: who waits wants to know before it begins."""

__all__ = ["announcement", "simulator_seconds"]

_WORTH_TELLING = 20
"""Shorter builds begin without a word about their time."""
_STEP = 10

# Seconds of one core, and more for each MB of the CFU's Verilog; measured.
_VERILATOR = 4, 3
_COMPILER = 12, 12
_COMPILER_OF_WAVEFORMS = 16, 14
_RUNTIME = 10


def simulator_seconds(verilog_bytes: int, cores: int, *, trace: bool) -> float:
    """Return the time in which a simulator is compiled, with nothing else on the machine.

    Parameters
    ----------
    verilog_bytes : int
        Size of its CFU's Verilog.
    cores : int
        How many the C++ compiler may use.
    trace : bool
        It can write waveforms.
    """

    def seconds(fixed: int, each: int) -> float:
        return fixed + each * verilog_bytes / 1e6

    compiler = seconds(*(_COMPILER_OF_WAVEFORMS if trace else _COMPILER)) + _RUNTIME
    return seconds(*_VERILATOR) + compiler / cores


def announcement(stage: str, seconds: float) -> str:
    """Return the name of a stage, with its time if that is long.

    Parameters
    ----------
    stage : str
        What is built.
    seconds : float
        Expected.
    """
    if seconds <= _WORTH_TELLING:
        return stage
    rounded = _STEP * round(seconds / _STEP)
    return f"{stage}: about {rounded} s, kept for the next time"

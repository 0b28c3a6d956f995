"""Bursts of the DMA readers and of the writer: how long they are, and what they wait for."""

from collections.abc import Sequence
from functools import lru_cache

from kiwicha.compiler.engine.cost.progress import Pace
from kiwicha.contract.engine import LINE_BYTES
from kiwicha.contract.latencies import PORT_TURN_WORDS, READER_WORDS
from kiwicha.contract.memories import Memory

__all__ = ["STORE_AHEAD_WORDS", "STORE_ROOM_WORDS", "descriptors_due", "felt_by_fill"]
__all__ += ["loaded_burst", "rate_at", "share_of_burst", "stored_burst", "words_with_room"]

STORE_ROOM_WORDS = 25
"""Words that the writer takes before it stops those that come: `DmaWriter.ROOM` less than it has,
and one."""
STORE_AHEAD_WORDS = STORE_ROOM_WORDS - READER_WORDS // 2
"""Of them, those that may come while a burst waits for the port."""
_HIDDEN_RATE = 0.3
"""Lines per cycle up to which words in a FIFO last longer than a refresh of DRAM."""
_LOAD_FELT, _STORE_FELT = 2.5, 1.1
"""What more of a refresh is felt with each line per cycle above. Loads feel more of it: words on
their way are none that the FIFO has."""
_REPORTED_STORE_FELT = 1.9
"""The same of stores in reports: lines every other cycle lose 16 cycles in a refresh. Plans were
chosen by `_STORE_FELT`."""
_BURSTS_CYCLES = 4 * PORT_TURN_WORDS
"""Over which groups are looked at that wait for weights: two bursts of weights, and two between."""
_LEAST_RATE = 0.01
"""Lines per cycle, where results take nearly all."""


def felt_by_fill(pace: Pace, memory: Memory) -> float:
    """Return what more fills of the groups of a job take because of refreshes, of their cycles.

    The least words that the reader has, when those that it asked for come, last for a part of a
    refresh.

    Parameters
    ----------
    pace : Pace
        Of the job.
    memory : Memory
        What DRAM the system has.
    """
    if not pace.fill_lines:
        return 0.0
    word = max(pace.cycles + pace.start, pace.fill_cycles) / pace.fill_lines
    hidden = READER_WORDS // 2 * word - memory.latency_cycles
    return memory.refresh_share * min(max(1 - hidden / memory.refresh_cycles, 0.0), 1.0)


def words_with_room(late: float, pace: float, memory: Memory) -> float:
    """Return the words of a burst of weights, which ends when the reader is full.

    Parameters
    ----------
    late : float
        For how long words were used since the reader was full, when the burst is asked for.
    pace : float
        In how many cycles a word is used; more than in how many one comes.
    memory : Memory
        What DRAM the system has.
    """
    room = min(late / pace + READER_WORDS, READER_WORDS)
    # It runs empty before the first of them comes.
    room -= max(memory.latency_cycles / pace - (READER_WORDS - room), 0.0)
    # Words are used meanwhile.
    return max(room / (1 - LINE_BYTES / memory.bytes_per_cycle / pace), 1.0)


def rate_at(shares: Sequence[tuple[float, float, float, float]], first: int, time: float) -> float:
    """Return the lines per cycle that results leave to transfers at a time.

    Parameters
    ----------
    shares : sequence of tuple
        As in `kiwicha.compiler.engine.cost.line_port.moved_at`.
    first : int
        The first of them that matters.
    time : float
        When.
    """
    for number in range(first, len(shares)):
        begin, end, share, _ = shares[number]
        if end > time:
            return max(1.0 - share, _LEAST_RATE) if begin <= time else 1.0
    return 1.0


def share_of_burst(shares: Sequence[tuple[float, float, float, float]], first: int) -> float:
    """Return the share of the line port that belongs to results while a burst lasts.

    Groups that wait for weights leave lines free between them.

    Parameters
    ----------
    shares : sequence of tuple
        As in `kiwicha.compiler.engine.cost.line_port.moved_at`.
    first : int
        That in which the burst begins.
    """
    begin, end, share, _ = shares[first]
    if end - begin >= PORT_TURN_WORDS:
        return share
    since, taken = begin, 0.0
    for number in range(first - 1, -1, -1):
        before_begin, before_end, before_share, _ = shares[number]
        does_not_wait = number == first - 1 and before_end == begin
        if does_not_wait or before_share != share or begin - before_end >= _BURSTS_CYCLES:
            break
        since, taken = before_begin, taken + before_end - before_begin
        if begin - since >= _BURSTS_CYCLES:
            break
    return share * taken / (begin - since) if taken else share


@lru_cache(maxsize=1024)
def stored_burst(rate: float, memory: Memory, is_report: bool) -> tuple[float, float]:
    """Return the words of a burst beside results, and what more a line takes for refreshes.

    The writer has half of its words when it begins, and those that come meanwhile.

    Parameters
    ----------
    rate : float
        Lines per cycle that results leave.
    memory : Memory
        What DRAM the system has.
    is_report : bool
        As in `kiwicha.compiler.engine.cost.timeline.Threads`.
    """
    steepness = _REPORTED_STORE_FELT if is_report else _STORE_FELT
    filled = 1 - rate * LINE_BYTES / memory.bytes_per_cycle
    words = READER_WORDS // 2 / filled if filled > 0.0 else PORT_TURN_WORDS
    return min(words, PORT_TURN_WORDS), _felt(rate, steepness, memory)


@lru_cache(maxsize=1024)
def loaded_burst(rate: float, memory: Memory, room: int) -> tuple[float, float, float]:
    """Return the same of a load; between, by how many cycles words come before lines move.

    A burst ends when the reader is full, and the next one begins when half of its words have moved.
    Where that does not come to an end, all that the reader holds comes before.

    Parameters
    ----------
    rate : float
        Lines per cycle that results leave.
    memory : Memory
        What DRAM the system has.
    room : int
        Words for which the reader has room.
    """
    # Within a burst words are asked for as fast as DRAM takes it.
    filled = 1 - rate * (LINE_BYTES // memory.bytes_per_cycle)
    felt = _felt(rate, _LOAD_FELT, memory)
    if filled <= 0.0 or room / filled >= PORT_TURN_WORDS:
        return PORT_TURN_WORDS, READER_WORDS / rate, felt
    if not rate:
        # Half of the words move when there are no more results.
        return room, 0.0, felt
    return room / filled, max(READER_WORDS // 2 / rate - memory.latency_cycles, 0.0), felt


def _felt(rate: float, steepness: float, memory: Memory) -> float:
    """Return what more a line takes because of refreshes, of its cycles."""
    return min(max(rate - _HIDDEN_RATE, 0.0) * steepness, 1.0) * memory.refresh_share


def descriptors_due(done: int, count: int) -> int:
    """Return the words of descriptors that are read when so many of some transfers are done."""
    burst = READER_WORDS // 2
    return 0 if done % burst else max(min(count - done - burst, burst), 0)

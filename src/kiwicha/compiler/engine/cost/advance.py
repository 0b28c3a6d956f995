"""The three threads side by side, as time passes: the loop that advances them.

All is in local names, because a search spends much of its time here.
"""

import itertools
import math

from kiwicha.compiler.engine.cost.bursts import (
    STORE_AHEAD_WORDS,
    STORE_ROOM_WORDS,
    descriptors_due,
    felt_by_fill,
    loaded_burst,
    rate_at,
    share_of_burst,
    stored_burst,
    words_with_room,
)
from kiwicha.compiler.engine.cost.course import JOBS_AHEAD, Course, Likeness
from kiwicha.compiler.engine.cost.line_port import CONVERTED_LINE_CYCLES, moved_at
from kiwicha.compiler.engine.cost.progress import Progress
from kiwicha.contract.engine import LINE_BYTES, EngineJob
from kiwicha.contract.latencies import (
    CONVERTER_LOAD_CYCLES,
    FUSED_TABLES_READY_CYCLES,
    PORT_TURN_WORDS,
    READER_WORDS,
    WEIGHTS_READY_CYCLES,
)

__all__ = ["JOB_START_CYCLES", "JOB_WORDS", "advance"]

ROW_AHEAD_CYCLES = 1
"""By which the last row of a group must be longer than the start of the next group."""
JOB_WORDS = EngineJob.size_bytes() // LINE_BYTES
JOB_START_CYCLES = JOB_WORDS + 1
"""From the end of a job until the next one looks for its weights: its descriptor is collected."""
_JOB_SEEN_CYCLES = 2 * JOB_WORDS
"""From the end of a job until another descriptor has passed."""


def advance(course: Course, limit: float, likeness: Likeness | None = None) -> bool:
    """Do all jobs and transfers; return False if they were given up because of the limit.

    Parameters
    ----------
    course : Course
        What is known; all of it afterwards, if they were not given up.
    limit : float
        Cycles that the list may take.
    likeness : Likeness or None
        A list that ends as this one does.
    """
    paces, moves, progress, memory = course.paces, course.moves, course.progress, course.memory
    tables, refill, settle = [*course.tables, 0.0], course.refill_cycles, course.settle_cycles
    tables_there, is_report = course.tables_there, course.is_report
    # While a transfer waits for DRAM, refreshes take their share.
    felt_by_start = 1 + memory.refresh_share if is_report else 1
    load_start = memory.load_start_cycles * felt_by_start
    store_start = memory.store_start_cycles * felt_by_start
    store_end = memory.store_end_cycles * felt_by_start
    line_cycles = LINE_BYTES / memory.bytes_per_cycle
    # Words that were asked for are as long on their way.
    latency = memory.latency_cycles
    full_after = READER_WORDS - latency
    job_ends, transfer_ends, shares = course.job_ends, course.transfer_ends, course.shares
    least = [(JOB_START_CYCLES + pace.groups * pace.cycles + pace.drain) for pace in paces]
    limits = [limit + 1 - left for left in itertools.accumulate([0, *reversed(least)])]
    # fill: the next group to be filled.
    fill_job, fill_group = len(progress) - 1, 0
    # It is noted again when that group is filled.
    state = progress.pop()
    ahead, job, group, fill_end, fill_before, release, release_before = state[:7]
    port_free, transfer_free, line_end, left_lines = state[7:11]
    chunk, chunk_start, chunk_port = state[11:14]
    is_transfers_turn, turn_cycles, turn_words = state[14:17]
    time, begun, waited_transfers, waited_weights = state[17:21]
    jobs_done, transfers_done, _, first_share, blocked_from, blocked_until = state[21:27]
    described, job_room, job_left, due_time, due_words, line_ahead, slowing = state[27:34]
    tables_end = state[34]
    first_request = (progress[0].time if progress else time) + JOB_WORDS
    # When the last descriptor had room.
    passed = 0.0
    # What was known of results when the end of the chunk was computed.
    horizon, known = -math.inf, -1
    # Words of the next group that come before its bank is free; negative: to be found.
    early = -1.0
    # Words of the groups from there on that the reader has.
    held = held_back = words_there = 0.0
    held_end = -math.inf
    # When the last group's bank was free.
    fill_start = -math.inf
    bank_free = released = fill_left = fill_due = line_pace = slowed_due = 0.0
    job_count, move_count, never = len(paces), len(moves), math.inf
    is_free = [not pace.fill_cycles for pace in paces] + [False]
    felts = [felt_by_fill(pace, memory) for pace in paces]
    while True:
        # Compute all groups whose weights and transfers are there.
        while (ahead or is_free[job]) and not (tables[job] and job >= fill_job):
            at = paces[job]
            _, needed, _, start, cycles, last_row, share, last_share, slow = at[:9]
            last_slow, groups, wanted, drain = at[9:]
            if needed:
                filled = (fill_end if ahead == 1 else fill_before) + WEIGHTS_READY_CYCLES
            else:
                filled = tables_there[job]
            if group == 0:
                if wanted > transfers_done:
                    break
                begun = time
                if job:
                    time += JOB_START_CYCLES
                ready = transfer_ends[wanted - 1] if wanted else 0.0
                waited_transfers = max(ready - time, 0.0)
                time = max(time, ready)
                waited_weights = max(filled - time, 0.0)
                first = max(time, filled) + start
            else:
                # The address generator goes ahead while the last row of the group before is
                # done.
                ready = time - last_row + start - ROW_AHEAD_CYCLES
                first = time if time > ready else ready
                late = filled + start - first
                if late > 0.0:
                    waited_weights += late
                    first = filled + start
            time = first + cycles
            if needed:
                release_before, release = release, time
                ahead -= 1
            group += 1
            if group < groups:
                shares.append((first, time, share, slow))
            else:
                shares.append((first, time, last_share, last_slow))
                time += drain
                job_ends.append(time)
                course.waits.append((begun, waited_transfers, waited_weights))
                job, group, jobs_done = job + 1, 0, jobs_done + 1
                if time > limits[-1 - job]:
                    return False
        while is_free[fill_job] and not tables[fill_job]:
            # A move has no weights.
            progress.append(state)
            fill_job += 1
        # Descriptors of jobs pass when the one before has asked for its weights, and others
        # have made room behind it.
        while described <= fill_job and described < len(job_ends) + JOBS_AHEAD:
            passed = job_ends[described - JOBS_AHEAD] if described >= JOBS_AHEAD else 0.0
            described += 1
            job_room += JOB_WORDS
        if job_left and job_room >= READER_WORDS // 2:
            words: float = min(job_room, job_left)
            if not due_words:
                due_time = max(passed + _JOB_SEEN_CYCLES, fill_start)
            due_words += words
            job_left -= min(job_room, job_left)
            job_room = 0
        if tables[fill_job]:
            # Tables come as soon as there is nothing else to fill, behind descriptors.
            progress.append(state)
            if due_words and due_time <= max(port_free, fill_end):
                if due_words * line_cycles > paces[fill_job - 1].fill_cycles:
                    # While they come, that of the tables passes and makes room for another.
                    described += 1
                    words = min(JOB_WORDS, job_left)
                    job_left -= words
                    due_words += words
                port_free = max(port_free + turn_cycles, due_time) + due_words * line_cycles
                due_words = 0
            port_free = max(port_free, fill_end) + memory.turn_cycles
            words_cycles = paces[fill_job].fill_lines * line_cycles
            words = min(job_room + JOB_WORDS, job_left)
            has_passed = described == fill_job + 1 < len(job_ends) + JOBS_AHEAD
            has_turns = paces[fill_job].fill_lines > PORT_TURN_WORDS
            if has_passed and has_turns and words >= READER_WORDS // 2:
                # That of the tables passes, and others take the next turn.
                described += 1
                job_left -= words
                job_room = 0
                words_cycles += words * line_cycles
            # Mostly the port gives words faster than they are taken, but refreshes are felt.
            taken = tables[fill_job] * (1 + memory.refresh_share)
            tables_end = port_free + max(taken, words_cycles)
            tables_there[fill_job] = tables_end + FUSED_TABLES_READY_CYCLES
            port_free += words_cycles
            fill_job += 1
            continue
        # What comes first: weights of a group, or a chunk of a transfer, or its last line?
        fill_time = transfer_time = never
        line_ready = never
        if transfers_done < move_count:
            move_lines, is_store, wanted, flags = moves[transfers_done]
            pace = CONVERTED_LINE_CYCLES if flags else 1
            if chunk:
                if len(shares) > known and line_end > horizon:
                    # There are more results on the way.
                    known, horizon = len(shares), shares[-1][1] if shares else -never
                    is_stopped = bool(flags) and not is_store
                    moved = moved_at(shares, first_share, chunk_start, chunk, is_stopped)
                    moved += slowing * (moved - chunk_start)
                    line_end = max(moved, chunk_port, chunk_start + pace * chunk)
                transfer_time = line_end
                if left_lines:
                    # The reader's words are on their way to the scratchpad.
                    transfer_time -= pace * READER_WORDS if flags else line_ahead
            elif wanted <= jobs_done:
                transfer_time = job_ends[wanted - 1] if wanted else 0.0
                if transfer_free > transfer_time:
                    transfer_time = transfer_free
                if blocked_from <= transfer_time < blocked_until:
                    transfer_time = blocked_until
                transfer_time += store_start if is_store else load_start
            if left_lines or not chunk:
                line_ready = transfer_time
                if port_free > transfer_time:
                    transfer_time = port_free
        waits_for_port = is_transfers_turn and line_ready <= port_free
        # Who has had a turn gives way also with words that it wants ahead.
        if fill_left:
            # Where words are used slower than they come, the reader waits for room.
            fill_time = fill_due - line_pace * (fill_left + READER_WORDS // 2) + latency
            if port_free > fill_time:
                fill_time = port_free
        elif early < 0.0 and waits_for_port:
            pass
        elif fill_job < job_count and (fill_group or fill_job < len(job_ends) + JOBS_AHEAD):
            bank_free = never
            if ahead < 2:
                released = release if ahead else release_before
                bank_free = released + refill
                if fill_end > bank_free:
                    bank_free = fill_end
                if tables_end > bank_free:
                    # One thing is filled at a time.
                    bank_free = tables_end
                if fill_group == 0 and fill_job >= JOBS_AHEAD:
                    # Its descriptor has passed.
                    seen = job_ends[fill_job - JOBS_AHEAD] + _JOB_SEEN_CYCLES
                    if seen > bank_free:
                        bank_free = seen
            if early < 0.0 and fill_group == 0:
                progress.append(
                    Progress(
                        *(ahead, job, group, fill_end, fill_before, release, release_before),
                        *(port_free, transfer_free, line_end, left_lines),
                        *(chunk, chunk_start, chunk_port),
                        *(is_transfers_turn, turn_cycles, turn_words),
                        *(time, begun, waited_transfers, waited_weights),
                        *(jobs_done, transfers_done, len(shares), first_share),
                        *(blocked_from, blocked_until),
                        *(described, job_room, job_left),
                        *(due_time, due_words, line_ahead, slowing, tables_end),
                    )
                )
                if likeness is not None and likeness.end(course) > limit + 1:
                    return False
            lines = paces[fill_job].fill_lines
            if early < 0.0:
                # While the bank is not free, words come as long as they have room; a burst
                # starts when half of it is free.
                early, there_end = held, held_end
                has_early = bank_free > fill_end and bank_free > port_free
                if has_early and fill_end > -never and held <= READER_WORDS // 2:
                    left = lines * (paces[fill_job].groups - fill_group)
                    held = left if left < READER_WORDS else READER_WORDS
                    if line_ready <= port_free:
                        # A transfer waits for the end of the turn, and the rest for that of it.
                        in_turn = max(min(held, early + PORT_TURN_WORDS - turn_words), early)
                        held, held_back = in_turn, held - in_turn
                    taken = (held - early) * line_cycles
                    if fill_group == 0 and fill_start > port_free:
                        # They are asked for when the last fill of the job before has begun.
                        port_free = fill_start
                    port_free += turn_cycles + taken
                    # There was no room before the last words were used, and others came before.
                    held_end = (fill_end if fill_end > held_end else held_end) + taken
                    if port_free > held_end:
                        held_end = port_free
                    turn_cycles = 0
                    turn_words += held - early
                # Words that the reader had before come first.
                before, early = early, held if held < lines else lines
                if early <= before:
                    words_there = there_end - (before - early) * line_cycles
                else:
                    words_there = held_end - (held - early) * line_cycles
                if turn_words >= PORT_TURN_WORDS:
                    is_transfers_turn, turn_words = True, 0.0
            fill_time = bank_free
            if early < lines:
                if held > READER_WORDS // 2 and bank_free - fill_end > full_after:
                    # The reader has stopped, and asks again when half of its words are used.
                    fill_time += READER_WORDS // 2 + latency
                if port_free > fill_time:
                    fill_time = port_free
        if due_words and due_time <= fill_time and due_time <= transfer_time:
            port_free = max(port_free + turn_cycles, due_time) + due_words * line_cycles
            turn_cycles, turn_words, due_words = memory.turn_cycles, 0.0, 0
            continue
        if fill_time == transfer_time == never:
            break
        lead = 0.0
        if line_ready < never and is_store and not is_transfers_turn and not fill_left:
            # Words were asked for before they come, and none are stored meanwhile.
            lead = latency
        is_fill_first = fill_time < transfer_time + lead
        if is_fill_first or (fill_time == transfer_time and not is_transfers_turn):
            if not fill_left:
                fill_left, needed, first_needed, *_ = paces[fill_job]
                if fill_group == 0:
                    needed = first_needed
                if early < fill_left and port_free + turn_cycles > fill_time:
                    fill_time = port_free + turn_cycles
                fill_start = bank_free
                ready = fill_time
                if early:
                    ready = words_there - needed
                    if bank_free > ready:
                        ready = bank_free
                fill_due = ready + needed
                if released + settle > fill_due:
                    fill_due = released + settle
                line_pace = needed / fill_left
                # A refresh delays the group. Where groups wait for banks, it delays those of both.
                felt = felts[fill_job] * (2 if bank_free > fill_end else 1)
                slowed_due = fill_due + needed * felt
                fill_left -= early
                held -= early
                early, held_back = -1.0, 0.0
                next_job = fill_job + 1
                is_last = fill_group + 1 == paces[fill_job].groups and next_job < job_count
                if fill_left > 0.0 and is_last and not is_free[next_job]:
                    # The request for the next job's weights waits until all words of this one
                    # were asked for, and those of transfers wait behind it.
                    # The first ones come before it, if there is a group before the last one.
                    is_single = paces[fill_job].groups == 1
                    blocked_from = bank_free if is_single else max(bank_free, first_request)
                    blocked_until = never
                if fill_left <= 0.0:
                    # All words were there.
                    fill_left = 0.0
                    fill_before = fill_end
                    fill_end = fill_due if fill_due > slowed_due else slowed_due
                    ahead += 1
                    fill_group += 1
                    if fill_group == paces[fill_job].groups:
                        fill_job, fill_group = fill_job + 1, 0
                    continue
            elif port_free + turn_cycles > fill_time:
                fill_time = port_free + turn_cycles
            words = fill_left
            is_slow = line_pace > line_cycles
            if transfer_time < fill_time + words * (line_pace if is_slow else line_cycles):
                # There will be somebody who waits for the end of the turn.
                turn = PORT_TURN_WORDS - turn_words
                if turn < 1.0:
                    turn = 1.0
                if is_slow:
                    # Or the reader is full.
                    late = fill_time - latency - (fill_due - line_pace * fill_left)
                    room = words_with_room(late, line_pace, memory)
                    # So it goes on until somebody comes.
                    if room < turn:
                        turn = room
                    others = (transfer_time - fill_time) / line_pace
                    if others > turn:
                        turn = others
                if turn < words:
                    words = turn
            late = fill_time - (fill_due - line_pace * fill_left)
            if late > 0.0:
                fill_due += late
            if words == fill_left and blocked_until == never:
                blocked_until = fill_time + words * line_cycles - latency
                if line_pace > line_cycles:
                    # Bursts, of which the last one starts when half of the words are used.
                    burst = READER_WORDS / 2 / (1 - line_cycles / line_pace)
                    last = words - burst * (math.ceil(words / burst) - 1)
                    asked = fill_due - line_pace * (last + READER_WORDS / 2) + last
                    blocked_until = max(blocked_until, asked)
            fill_left -= words
            port_free = fill_time + words * line_cycles
            turn_cycles = 0
            turn_words += words
            is_transfers_turn = turn_words >= PORT_TURN_WORDS or fill_left > 0.0
            if is_transfers_turn:
                turn_words = 0.0
            if fill_left:
                continue
            fill_before = fill_end
            fill_end = fill_due if fill_due > slowed_due else slowed_due
            if port_free > fill_end:
                fill_end = port_free
            ahead += 1
            fill_group += 1
            if fill_group == paces[fill_job].groups:
                fill_job, fill_group = fill_job + 1, 0
            continue
        if chunk and not left_lines:
            # The last line of a transfer.
            if is_store:
                line_end += store_end
            elif flags:
                line_end += CONVERTER_LOAD_CYCLES
            transfer_free = line_end
            transfer_ends.append(line_end)
            transfers_done, chunk = transfers_done + 1, 0
            words = descriptors_due(transfers_done, move_count)
            if words:
                if not due_words:
                    due_time = line_end
                due_words += words
            continue
        # A chunk of a transfer.
        is_transfers_turn, turn_words = False, 0.0
        if not turn_cycles and port_free + memory.turn_cycles > transfer_time:
            transfer_time = port_free + memory.turn_cycles
        turn_cycles = memory.store_turn_cycles if is_store else memory.turn_cycles
        chunk_start = transfer_time if transfer_time > line_end else line_end
        if is_store and not flags and transfer_time > line_ready:
            rate = rate_at(shares, first_share, line_ready)
            room = STORE_AHEAD_WORDS if chunk else STORE_ROOM_WORDS
            stopped = transfer_time - room / rate
            if is_report and chunk:
                # That is reckoned from when words come, which is before their lines.
                stopped += min(line_end - chunk_port, line_ahead)
            chunk_start = max(line_ready, stopped, line_end)
        if not chunk:
            left_lines = move_lines
        while first_share < len(shares) and shares[first_share][1] <= chunk_start:
            first_share += 1
        longest, line_ahead, slowing = float(PORT_TURN_WORDS), float(READER_WORDS), 0.0
        if first_share < len(shares) and shares[first_share][0] <= chunk_start and not flags:
            rate = 1.0 - share_of_burst(shares, first_share)
            if is_store:
                longest, slowing = stored_burst(rate, memory, is_report)
            else:
                room = READER_WORDS if left_lines == move_lines else READER_WORDS // 2
                if is_report:
                    # While it waits for the port, more words move.
                    room = min(int(room + rate * (transfer_time - line_ready)), READER_WORDS)
                longest, line_ahead, slowing = loaded_burst(rate, memory, room)
        chunk = min(left_lines, longest)
        left_lines -= chunk
        chunk_port = port_free = transfer_time + chunk * line_cycles
        if held_back and early >= 0.0 and not fill_left:
            # Words of weights that were to come ahead.
            port_free += turn_cycles + held_back * line_cycles
            held, held_end, held_back = held + held_back, port_free, 0.0
            if early < paces[fill_job].fill_lines:
                early = min(held, paces[fill_job].fill_lines)
                words_there = held_end - (held - early) * line_cycles
            turn_cycles = 0
        known, horizon, line_end = -1, -never, never
    assert len(job_ends) == len(paces)
    return True

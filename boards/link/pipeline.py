"""Requests to a board, several under way at a time, repeated until they are answered."""

import time
from collections import deque
from collections.abc import Callable, Sequence

from kiwicha.boards.link.frames import decode_frame, encode_frame
from kiwicha.boards.link.port import Port
from kiwicha.errors import BoardError

__all__ = ["Pipeline"]

_READ_BYTES = 4096
_NUMBERS = 256
_MOST_UNDER_WAY = 64
"""Requests: far fewer than there are numbers, so that a late answer is not taken for another's."""
_HEARD_BYTES = 80


class Pipeline:
    """Sends requests and takes their answers, which come in the same order or not at all.

    Parameters
    ----------
    port : Port
        The line.
    tries : int
        How often nothing may come before the board counts as silent.
    seconds_per_try : float
        How long an answer is waited for.
    clock : callable
        Returns seconds.
    """

    def __init__(
        self,
        port: Port,
        *,
        tries: int,
        seconds_per_try: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._port = port
        self._tries = tries
        self._seconds = seconds_per_try
        self._clock = clock
        self._number = 0
        self._received = bytearray()
        self.noise = bytearray()
        """What came and was no frame: messages of firmware, or a wrong speed."""

    def exchange(
        self,
        requests: Sequence[bytes],
        on_answer: Callable[[int, bytes], None],
        *,
        window_bytes: int = 0,
    ) -> None:
        """Send requests until each has its answer.

        Parameters
        ----------
        requests : sequence of bytes
            Operation and fields of each.
        on_answer : callable
            Called with the index of a request, and with status and data, as answers come.
        window_bytes : int
            How many bytes of requests may be under way, coded; one request always may.

        Raises
        ------
        BoardError
            If the board is silent, or the port fails.
        """
        if not self._exchange(requests, on_answer, window_bytes, self._tries):
            raise self.silent()

    def ask(self, request: bytes) -> bytes | None:
        """Send a request once; return status and data, None if no answer came."""
        answers: list[bytes] = []
        self._exchange([request], lambda _, answer: answers.append(answer), 0, 1)
        return answers[0] if answers else None

    def silent(self) -> BoardError:
        """Return the error that says that the board does not answer, and what came instead."""
        return BoardError(
            "the board must answer: check the port, the cable and --baud, load the bitstream again"
            f"{self.heard()}"
        )

    def heard(self) -> str:
        """Return in words what came and was no answer."""
        heard = bytes(self.noise + self._received)
        if not heard:
            return " (nothing came)"
        text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in heard[-_HEARD_BYTES:])
        return f" (what came was no answer: {text!r})"

    def _exchange(
        self,
        requests: Sequence[bytes],
        on_answer: Callable[[int, bytes], None],
        window_bytes: int,
        tries: int,
    ) -> bool:
        """Return whether every request was answered; other arguments as for `exchange`."""
        # A repetition has the number of the first time: the board, or a late answer, may know it.
        first = self._number + 1
        self._number += len(requests)
        waiting = deque(range(len(requests)))
        under_way: dict[int, int] = {}
        silences = 0
        while waiting or under_way:
            # After a silence one request finds out whether somebody listens.
            window = window_bytes if silences == 0 else 0
            self._send(requests, first, waiting, under_way, window)
            found = self._answer({(first + index) % _NUMBERS: index for index in under_way})
            lost = list(under_way)
            if found is None:
                silences += 1
                if silences == tries:
                    return False
            else:
                silences = 0
                index, answer = found
                # Those sent before it get no answer any more.
                lost = lost[: lost.index(index)]
                del under_way[index]
                on_answer(index, answer)
            for index in reversed(lost):
                del under_way[index]
                waiting.appendleft(index)
        return True

    def _send(
        self,
        requests: Sequence[bytes],
        first: int,
        waiting: deque[int],
        under_way: dict[int, int],
        window_bytes: int,
    ) -> None:
        """Send what the window has room for; note the bytes of each in ``under_way``."""
        while waiting:
            index = waiting[0]
            body = bytes([(first + index) % _NUMBERS]) + requests[index]
            # The zero ends whatever the board has received so far.
            frame = b"\0" + encode_frame(body)
            has_room = sum(under_way.values()) + len(frame) <= window_bytes
            if under_way and not (has_room and index - min(under_way) < _MOST_UNDER_WAY):
                return
            waiting.popleft()
            under_way[index] = len(frame)
            try:
                self._port.write(frame)
            except OSError as error:
                raise _unplugged(error) from error

    def _answer(self, numbers: dict[int, int]) -> tuple[int, bytes] | None:
        """Return the first answer: which of the requests by their numbers, status and data."""
        end = self._clock() + self._seconds
        while True:
            while b"\0" in self._received:
                coded, _, rest = self._received.partition(b"\0")
                self._received = rest
                answer = decode_frame(bytes(coded))
                if answer is None or len(answer) < 2:
                    self.noise += coded
                elif answer[0] in numbers:
                    return numbers[answer[0]], answer[1:]
            if self._clock() >= end:
                return None
            try:
                self._received += self._port.read(_READ_BYTES)
            except OSError as error:
                raise _unplugged(error) from error


def _unplugged(error: OSError) -> BoardError:
    return BoardError(f"the serial port must stay connected: {error}")

"""A device under test, as the runner of MLPerf Tiny speaks with it over a serial line.

Commands end with a percent sign, answers with a line ``m-ready``. The device's clock counts what
inferences take on the hardware, and nothing else: the time of the line is not measured.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.evaluation.inputs import pixels, quantized
from kiwicha.interpreter.executors import numpy_type
from kiwicha.mlperf.benchmarks import Answer, Benchmark, Input
from kiwicha.program.parts import IoTensor

__all__ = ["Device", "Inference"]

_END = b"%"
_MOST_BYTES = 1 << 20
"""Of a command, and of an input: what is longer is noise."""
_PRINTED_BYTES = 8
_WARM_UPS = 10
_REAL = np.dtype("<f4")


@dataclass(frozen=True)
class Inference:
    """What an inference gave, and what it took.

    Parameters
    ----------
    output : bytes
        The first output's.
    microseconds : float
        On the hardware.
    """

    output: bytes
    microseconds: float


class _RefusedError(Exception):
    """A command cannot be carried out; the text says why."""


class Device:
    """A device under test.

    Parameters
    ----------
    benchmark : Benchmark
        What it runs.
    tensors : tuple of IoTensor
        The model's input and output.
    infer : callable
        Executes the model on the input's bytes.
    vendor : str
        Whose the device is.
    """

    def __init__(
        self,
        benchmark: Benchmark,
        tensors: tuple[IoTensor, IoTensor],
        infer: Callable[[bytes], Inference],
        vendor: str = "Kiwicha",
    ) -> None:
        self._benchmark = benchmark
        self._input, self._output = tensors
        self._infer = infer
        self._vendor = vendor
        self._command = bytearray()
        self._buffer = bytearray()
        self._wanted = 0
        self._clock = 0.0
        self._last: Inference | None = None

    def greeting(self) -> bytes:
        """Return what the device says after its reset."""
        lines = ["m-timestamp-mode-performance", self._lap(), "m-init-done", "m-ready"]
        return _encoded(lines)

    def feed(self, data: bytes) -> bytes:
        """Take bytes of the line and return the answers to the commands that they end."""
        answers = b""
        for byte in data:
            if byte == _END[0]:
                text = self._command.decode("ascii", errors="replace").strip()
                self._command.clear()
                answers += _encoded(self.answer(text))
            elif len(self._command) < _MOST_BYTES:
                self._command.append(byte)
        return answers

    def answer(self, command: str) -> list[str]:
        """Return the lines with which a command is answered."""
        words = command.split()
        name, arguments = (words[0], words[1:]) if words else ("", [])
        commands: dict[str, Callable[[Sequence[str]], list[str]]] = {
            "name": lambda _: [f"m-name-dut-[{self._vendor}]"],
            "timestamp": lambda _: [self._lap()],
            "profile": lambda _: [
                "m-profile-[ULPMark for tinyML Firmware V0.0.1]",
                f"m-model-[{self._benchmark.version}]",
            ],
            "help": lambda _: [f"commands: {', '.join(commands)}"],
            "db": self._data,
            "infer": self._inferences,
            "results": lambda _: [self._results()],
        }
        try:
            if name not in commands:
                raise _RefusedError(f"Unknown command: {name}")
            lines = commands[name](arguments)
        except _RefusedError as error:
            lines = [f"e-[{error}]"]
        return [*lines, "m-ready"]

    def _lap(self) -> str:
        return f"m-lap-us-{round(self._clock)}"

    def _data(self, arguments: Sequence[str]) -> list[str]:
        if not arguments:
            raise _RefusedError("db must have a subcommand: load, print or bytes")
        if arguments[0] == "load":
            count = _number(arguments[1:2], "db load")
            if not 0 < count <= _MOST_BYTES:
                raise _RefusedError(f"db load must be of 1 to {_MOST_BYTES} bytes, not {count}")
            self._wanted = count
            self._buffer.clear()
            return [f"m-[Expecting {count} bytes]"]
        if arguments[0] == "print":
            raw = [f"{byte:02x}" for byte in self._buffer]
            starts = range(0, len(raw), _PRINTED_BYTES)
            return ["m-buffer-" + "-".join(raw[at : at + _PRINTED_BYTES]) for at in starts]
        return self._loaded(arguments[0])

    def _loaded(self, digits: str) -> list[str]:
        try:
            raw = bytes.fromhex(digits)
        except ValueError as error:
            raise _RefusedError(f"db must have pairs of hex digits, not {digits[:20]!r}") from error
        left = self._wanted - len(self._buffer)
        if not left:
            raise _RefusedError("db load must come before its bytes")
        self._buffer += raw[:left]
        return ["m-load-done"] if len(self._buffer) == self._wanted else []

    def _inferences(self, arguments: Sequence[str]) -> list[str]:
        count = _number(arguments[:1] or ["1"], "infer")
        warm_ups = _number(arguments[1:2] or [str(_WARM_UPS)], "warm-up")
        if count <= 0 or warm_ups < 0:
            raise _RefusedError("infer must be of 1 inference or more, after 0 warm-ups or more")
        raw = self._tensor()
        # An input takes the same cycles each time: executing it once tells all.
        self._last = self._infer(raw)
        self._clock += warm_ups * self._last.microseconds
        lines = [f"m-warmup-start-{warm_ups}", "m-warmup-done", f"m-infer-start-{count}"]
        lines.append(self._lap())
        self._clock += count * self._last.microseconds
        return [*lines, self._lap(), "m-infer-done", self._results()]

    def _tensor(self) -> bytes:
        """Return the input's bytes from what was sent."""
        elements = self._input.ref.bytes
        wanted = elements * (_REAL.itemsize if self._benchmark.sent == Input.REALS else 1)
        if len(self._buffer) != wanted:
            raise _RefusedError(f"input must be {wanted} bytes, not {len(self._buffer)}")
        if self._benchmark.sent == Input.PIXELS:
            return pixels(np.frombuffer(self._buffer, np.uint8)).tobytes()
        if self._benchmark.sent == Input.REALS:
            return quantized(self._reals(), self._input).tobytes()
        return bytes(self._buffer)

    def _reals(self) -> NDArray[np.float32]:
        return np.frombuffer(self._buffer, _REAL)

    def _results(self) -> str:
        if self._last is None:
            raise _RefusedError("results must come after infer")
        tensor = self._output
        stored = np.frombuffer(self._last.output, numpy_type(tensor)).astype(np.float32)
        real = np.float32(tensor.scale) * (stored - np.float32(tensor.zero_point))
        if self._benchmark.answer == Answer.DISTANCE:
            real = np.mean((real - self._reals()) ** 2, keepdims=True)
        return f"m-results-[{','.join(f'{value:0.3f}' for value in real)}]"


def _number(words: Sequence[str], what: str) -> int:
    try:
        return int(words[0])
    except (IndexError, ValueError) as error:
        raise _RefusedError(f"{what} must have a number") from error


def _encoded(lines: Sequence[str]) -> bytes:
    return "".join(f"{line}\r\n" for line in lines).encode("ascii", errors="replace")

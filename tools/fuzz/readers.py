"""Files for the readers, made by a fuzzer that follows what they cover.

``python -m tools.fuzz.readers READER FOLDER [options of libFuzzer]`` runs one reader on inputs that
grow from those in a folder, until it is told to stop or an input makes it fail.
"""

import contextlib
import hashlib
import os
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import atheris

with atheris.instrument_imports(include=["kiwicha"]):
    from kiwicha.compiler.onnx import reader as onnx_reader
    from kiwicha.compiler.tflite import reader as tflite_reader
    from kiwicha.errors import KiwichaError
    from kiwicha.program.image import Program
    from tools.fuzz.host_inputs import read_answers, read_page

__all__ = ["CRASHES", "LIMIT_SECONDS", "READERS", "TOO_SLOW", "main"]

CRASHES = 77
"""Exit code: an input that is kept made a reader fail."""
LIMIT_SECONDS = 5
TOO_SLOW = f"an answer must come within {LIMIT_SECONDS} s"

READERS: dict[str, Callable[[bytes], object]] = {
    "tflite": tflite_reader.read,
    "onnx": onnx_reader.read,
    "program": Program.from_bytes,
    "answers": read_answers,
    "page": read_page,
}
"""What is given bytes, by name. It returns or refuses with a message."""


def _keep(raw: bytes, folder: Path, count: int) -> NoReturn:
    """End with an input that makes a reader fail.

    The fuzzer's own way to end takes time, in which its alarm may end it by a signal, and the input
    is lost.
    """
    (folder / f"crash-{hashlib.sha1(raw).hexdigest()}").write_bytes(raw)
    sys.stderr.write(f"{traceback.format_exc()}\n#{count}\n")
    sys.stderr.flush()
    os._exit(CRASHES)


def main() -> None:
    """Run the reader named on the command line."""
    name, folder, *options = sys.argv[1:]
    read = READERS[name]
    count = 0

    def test_one_input(raw: bytes) -> None:
        nonlocal count
        count += 1
        is_good = False
        start = time.process_time()
        try:
            try:
                read(raw)
            except KiwichaError as error:
                if not str(error):
                    raise AssertionError("a refusal must have a message") from error
            if time.process_time() - start > LIMIT_SECONDS:
                raise AssertionError(TOO_SLOW)
            is_good = True
        finally:
            if not is_good:
                _keep(raw, Path(folder).parent, count)

    # What a reader imports when it is first called is no part of an answer.
    for path in sorted(Path(folder).iterdir())[:1]:
        with contextlib.suppress(KiwichaError):
            read(path.read_bytes())
    # The fuzzer's own alarm ends the process where a package has another handler of it.
    atheris.Setup([sys.argv[0], str(Path(folder)), "-timeout=0", *options], test_one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()

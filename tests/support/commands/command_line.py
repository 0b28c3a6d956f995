"""The command line, run inside the test's process."""

import pytest

from kiwicha import cli

__all__ = ["Command"]


class Command:
    """The command ``kiwicha``."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *words: object) -> tuple[int, str, str]:
        """Return exit code, standard output and standard error."""
        code = cli.main([str(word) for word in words])
        return code, *self._capsys.readouterr()

    def error(self, *words: object) -> str:
        """Return the one line of a command that must fail with exit code 2."""
        code, out, err = self(*words)
        assert (code, out) == (2, "")
        (line,) = err.splitlines()
        return line.removeprefix("kiwicha: ")

    def reference(self, *words: object) -> tuple[int, str, str]:
        """Run a model in the reference executor."""
        return self("run", *words, "--target", "reference")

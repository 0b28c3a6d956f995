"""What a command prints, as a picture: ``python -m tools.recording -o F.svg COMMAND``.

``docs/pictures/demo.svg`` is of ``kiwicha demo``. Progress is left out.
"""

import argparse
import io
import os
import pty
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

__all__ = ["main", "printed", "svg"]

_COLUMNS = 106
# Names of fonts alone: pictures load nothing.
_FORMAT = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{
    font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace;
    font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width;
}}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def printed(command: Sequence[str]) -> str:
    """Return what a command prints to a terminal, with its codes for styles.

    Raises
    ------
    subprocess.CalledProcessError
        If it fails.
    """
    reader, writer = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(_COLUMNS), "TERM": "xterm-256color"}
    pieces = []
    with subprocess.Popen(
        command, stdout=writer, stderr=subprocess.DEVNULL, env=environment
    ) as process:
        os.close(writer)
        # Linux ends the reading of a terminal that nobody writes to any more with an error.
        try:
            while piece := os.read(reader, 4096):
                pieces.append(piece)
        except OSError:
            pass
    os.close(reader)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return b"".join(pieces).decode().replace("\r\n", "\n")


def svg(command: Sequence[str], text: str) -> str:
    """Return the picture of a terminal.

    Parameters
    ----------
    command : sequence of str
        Shown above the text.
    text : str
        From `printed`.
    """
    console = Console(record=True, width=_COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text.assemble(("$ ", "bold green"), (shlex.join(command), "bold")))
    console.print(Text.from_ansi(text.rstrip()), soft_wrap=False)
    picture = console.export_svg(
        title="kiwicha", theme=MONOKAI, code_format=_FORMAT, unique_id="kiwicha"
    )
    return "\n".join(line.rstrip() for line in picture.splitlines() if line.strip()) + "\n"


def main(words: Sequence[str] | None = None) -> int:
    """Write the picture of a command; return its exit code."""
    parser = argparse.ArgumentParser(description="Record what a command prints.")
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    arguments = parser.parse_args(words)
    try:
        text = printed(arguments.command)
    except subprocess.CalledProcessError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    arguments.output.write_text(svg(arguments.command, text), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

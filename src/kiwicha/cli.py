"""The command line: names, the exit code, and errors."""

import errno
import gc
import os
import sys
import warnings
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Annotated

import typer

import kiwicha
from kiwicha.commands import (
    area,
    bench,
    bringup,
    build,
    compile,
    demo,
    doctor,
    energy,
    evaluate,
    explore,
    gallery,
    listen,
    load,
    mlperf,
    models,
    pixels,
    report,
    run,
    sdk,
    selftest,
    terminal,
    timing,
    trace,
    web,
)
from kiwicha.errors import Interrupted, KiwichaError, UnsupportedModelError, reason

__all__ = ["app", "main"]

EXIT_ERROR = 2
_EXIT_INTERRUPTED = 130
_DEBUG = "--debug"
_VERBOSE = "--verbose"
_MADE_OBJECTS = 100_000
"""Objects between two passes of the garbage collector."""
_FULL = (errno.ENOSPC, errno.EDQUOT)

app = typer.Typer(
    help="An open int8 neural-network accelerator, and what makes a .tflite file run on it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command()(demo.demo)
app.command()(run.run)
app.command()(listen.listen)
app.command()(bench.bench)
app.command()(evaluate.evaluate)
app.command()(report.report)
app.command()(trace.trace)
app.command()(web.web)
app.command()(explore.explore)
app.command("compile")(compile.compile_)
app.command()(sdk.sdk)
app.add_typer(models.app, name="models")
app.add_typer(mlperf.app, name="mlperf")
app.command()(gallery.gallery)
app.command()(pixels.pixels)
app.command()(doctor.doctor)
app.command()(area.area)
app.command()(timing.timing)
app.command()(energy.energy)
app.command()(build.build)
app.command()(load.load)
app.command()(selftest.selftest)
app.command("console")(terminal.console_)
app.command()(bringup.bringup)


def _show_version(is_wanted: bool) -> None:
    if is_wanted:
        typer.echo(f"kiwicha {kiwicha.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    debug: Annotated[
        bool, typer.Option(_DEBUG, help="Show the traceback of an error; may stand anywhere.")
    ] = False,
    verbose: Annotated[
        bool,
        typer.Option(
            _VERBOSE,
            help="Show all that a refused model breaks, and what tools are called with and print; "
            "may stand anywhere.",
        ),
    ] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show it.")
    ] = False,
) -> None:
    # main() has taken --debug and --verbose out; here they are for the help text.
    del debug, verbose, version


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        By default those of the process.

    Returns
    -------
    int
        Exit code: 0; 1 if a comparison or a check failed; 2 after an error; 130 after Ctrl-C.
    """
    # A compiler makes objects that stay: looking for others takes a twentieth of its time.
    gc.set_threshold(_MADE_OBJECTS)
    words = list(sys.argv[1:] if arguments is None else arguments)
    is_debug, is_verbose = _DEBUG in words, _VERBOSE in words
    words = [word for word in words if word not in {_DEBUG, _VERBOSE}]
    try:
        with _tools_shown() if is_verbose else nullcontext():
            code = app(words, prog_name="kiwicha", standalone_mode=False)
    except Interrupted as error:
        # Hardware that was being generated would tell that nothing uses it.
        warnings.simplefilter("ignore")
        return _fail(str(error), _EXIT_INTERRUPTED)
    except (KeyboardInterrupt, typer.Abort):
        code = _EXIT_INTERRUPTED
    except BrokenPipeError:
        # What reads our output has seen enough; the interpreter must not flush into it again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except UnsupportedModelError as error:
        if is_debug:
            raise
        sys.stderr.write(f"kiwicha: {error.text(None if is_verbose else _screen())}\n")
        return EXIT_ERROR
    except Exception as error:
        if is_debug:
            raise
        return _fail(_text(error))
    # Typer gives that code for an interrupt that no command has words for.
    return _fail("interrupted", code) if code == _EXIT_INTERRUPTED else int(code or 0)


def _tools_shown() -> AbstractContextManager[None]:
    from kiwicha import tool_log

    return tool_log.shown()


def _screen() -> tuple[int, int]:
    """Return lines and columns of the terminal that errors go to."""
    try:
        size = os.get_terminal_size(sys.stderr.fileno())
    except (OSError, ValueError):
        return UnsupportedModelError.SCREEN
    return (
        (size.lines, size.columns) if size.lines and size.columns else UnsupportedModelError.SCREEN
    )


def _text(error: Exception) -> str:
    """Return what the user reads of an error."""
    if isinstance(error, KiwichaError):
        return str(error)
    # Typer's own errors have a text for users.
    describe = getattr(error, "format_message", None)
    if describe is not None:
        # Its own checks say twice that a value is wrong.
        return str(describe()).replace(": Value error, ", ": ")
    if isinstance(error, OSError) and error.errno in _FULL:
        where = f" ({error.filename})" if error.filename else ""
        return f"disk must have room: {reason(error)}{where}"
    # Anything else is a bug of ours.
    return f"internal error, please report it: {type(error).__name__}: {error}"


def _fail(text: str, code: int = EXIT_ERROR) -> int:
    # Logs of tools have several lines.
    lines = (line.strip() for line in text.splitlines())
    sys.stderr.write("kiwicha: " + "; ".join(filter(None, lines)).replace(":; ", ": ") + "\n")
    return code


if __name__ == "__main__":
    sys.exit(main())

"""Run cocotb benches on Verilator: one cached simulator per design, one process per run."""

import contextlib
import json
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import cocotb_tools.config
from amaranth import Signal, Value
from amaranth.back import verilog
from cocotb_tools.check_results import get_results
from cocotb_tools.runner import get_runner

from kiwicha import cache, tools
from kiwicha.errors import SimulationError, ToolError
from kiwicha.sim.verilator.power_up import without_zeros

__all__ = ["Simulators", "build", "component_verilog", "parameters", "run"]

_PARAMETERS = "KIWICHA_BENCH_PARAMETERS"
_TRACE = "KIWICHA_BENCH_TRACE"
_LOG_LINES = 40
_RUNTIME_OBJECTS = "verilated*.o"
_BUILD_SECONDS = 3600
"""More than a build takes."""

# The package's makefile leaves the first empty, and then the precompiled header is linked. A bench
# spends its time in Python: no code is worth the time to optimise it.
_MAKE_VARIABLES = "CFG_CXXFLAGS_PCH_I=-include OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0"
# The runner makes all signals public, which takes four times the code: benches see the ports alone.
# One file of code compiles faster than the header that several would share. Memories start with
# zeros, as `without_zeros` takes for granted.
_VERILATE = (
    *("--no-public-flat-rw", "--output-split", "0", "--x-initial", "0"),
    *("-Wno-lint", "-Wno-fatal"),
)
_PORT = re.compile(r"\b(?:input|output) (?:reg )?(?:signed )?(?:\[[^]]*\] )?\\?(\w+)")


class Simulators(dict[Any, Path]):
    """Simulators by what they differ in, each built when a test first asks for it.

    Parameters
    ----------
    design : callable
        Gives the Verilog for a key.
    top : str
        Its top module.
    """

    def __init__(self, design: Callable[[Any], str], top: str) -> None:
        super().__init__()
        self._design = design
        self._top = top

    def __missing__(self, key: Any) -> Path:
        self[key] = build(self._design(key), self._top)
        return self[key]


def component_verilog(component: Any, top: str) -> str:
    """Return the Verilog of a component; nested members are joined by ``__``, clock is ``clk``."""
    # The ready of a stream that is always ready is a constant, not a port.
    ports = [
        ("__".join(map(str, path)), Value.cast(value), None)
        for path, _, value in component.signature.flatten(component)
        if isinstance(Value.cast(value), Signal)
    ]
    text = verilog.convert(
        component, name=top, ports=ports, emit_src=False, strip_internal_attrs=True
    )
    return str(text)


@contextlib.contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    saved = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in saved.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def build(text: str, top: str, flags: Sequence[str] = ()) -> Path:
    """Return the folder of the simulator of a design, building it if it is not in the cache.

    With the environment variable ``KIWICHA_BENCH_TRACE`` set, the simulator can write a trace.

    Parameters
    ----------
    text : str
        Verilog.
    top : str
        Its top module.
    flags : sequence of str
        Of Verilator, besides the usual ones.
    """
    parts = [
        str(_TRACE in os.environ),
        *_VERILATE,
        *flags,
        str(cocotb_tools.config.libs_dir),
        _MAKE_VARIABLES,
        _RUNTIME_OBJECTS,
        *cache.package_versions(["cocotb", "verilator"]),
    ]

    def build_design(folder: Path) -> None:
        # Verilator's own code is the same in every simulator, and most of the work.
        first = cache.build("bench_runtimes", cache.digest(parts), build_first)
        # They depend on the makefile, which is about to be written: make must find them newer.
        newer = time.time() + _BUILD_SECONDS
        for compiled in first.glob(_RUNTIME_OBJECTS):
            os.utime(shutil.copy(compiled, folder), (newer, newer))
        _verilate(folder, text, top, flags)

    def build_first(folder: Path) -> None:
        _verilate(folder, "module first(input clk); endmodule", "first", flags)

    return cache.build("benches", cache.digest([text, top, *parts]), build_design)


def _public(text: str, top: str) -> str:
    """Return what tells Verilator to keep the ports of the top module in sight."""
    start = re.search(rf"^module {top}\b", text, re.MULTILINE)
    assert start is not None
    module = text[start.start() : text.index("endmodule", start.start())]
    lines = [f'public_flat_rw -module "{top}" -var "{name}"' for name in _PORT.findall(module)]
    return "\n".join(["`verilator_config", *lines, ""])


def _verilate(folder: Path, text: str, top: str, flags: Sequence[str]) -> None:
    """Build a simulator; compiled files that are there already are not compiled again."""
    tool = tools.verilator()
    source, log = folder / f"{top}.v", folder / "build.log"
    # Amaranth tells of every word of a memory that it starts with zero.
    source.write_text(without_zeros(text), encoding="utf-8")
    ports = folder / "ports.vlt"
    ports.write_text(_public(text, top), encoding="utf-8")
    # cocotb looks for a program of this name; the package's own is a Perl script.
    (folder / "verilator").symlink_to(tool.command[0])
    environment = {
        **tool.environment,
        "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
        # The makefile calls "python", which a system need not have.
        "MAKEFLAGS": f"{_MAKE_VARIABLES} PYTHON3={sys.executable}",
    }
    try:
        with _environment(environment):
            get_runner("verilator").build(
                sources=[ports, source],
                hdl_toplevel=top,
                build_dir=folder,
                build_args=[*_VERILATE, *flags],
                timescale=("1ns", "1ps"),
                waves=_TRACE in os.environ,
                log_file=log,
            )
    except RuntimeError as error:
        raise ToolError(f"Verilator failed on {top}:\n{_tail(log)}") from error


def run(
    simulator: Path,
    top: str,
    bench: str,
    values: Mapping[str, Any],
    folder: Path,
    plusargs: Sequence[str] = (),
) -> None:
    """Run one cocotb test.

    Parameters
    ----------
    simulator : Path
        What `build` returned.
    top : str
        Top module.
    bench : str
        Module and function, such as ``tests.gateware.bench_cfu.random_streams``.
    values : mapping
        What `parameters` returns in the bench; JSON values.
    folder : Path
        For logs, results and traces.
    plusargs : sequence of str
        Of the design, and of Verilator.

    Raises
    ------
    SimulationError
        If the test fails; the text ends with its last lines.
    """
    module, _, name = bench.rpartition(".")
    log = folder / "bench.log"
    try:
        results = get_runner("verilator").test(
            test_module=module,
            test_filter=rf"\.{name}$",
            hdl_toplevel=top,
            hdl_toplevel_lang="verilog",
            build_dir=simulator,
            plusargs=list(plusargs),
            test_dir=folder,
            results_xml=str(folder / "results.xml"),
            extra_env={_PARAMETERS: json.dumps(dict(values)), "COCOTB_ANSI_OUTPUT": "0"},
            timescale=("1ns", "1ps"),
            waves=_TRACE in os.environ,
            log_file=log,
        )
        has_passed = get_results(results) == (1, 0)
    except (RuntimeError, SystemExit):
        # The simulator crashed, or the runner ends the test itself because it knows pytest.
        has_passed = False
    if not has_passed:
        raise SimulationError(f"{bench} must pass, with {dict(values)} it does not:\n{_tail(log)}")


def _tail(log: Path) -> str:
    return "\n".join(log.read_text(encoding="utf-8").splitlines()[-_LOG_LINES:])


def parameters() -> dict[str, Any]:
    """Return the values that `run` was given; for benches."""
    values: dict[str, Any] = json.loads(os.environ[_PARAMETERS])
    return values

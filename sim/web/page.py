"""One file that simulates a model in a browser, without a server."""

import base64
import gzip
import json
from collections.abc import Callable, Sequence
from importlib import resources

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

import kiwicha
from kiwicha.compiler import Compilation
from kiwicha.contract import cfu
from kiwicha.errors import UsageError
from kiwicha.firmware.build import build_firmware
from kiwicha.sim.verilator.simulator import soc_header_text
from kiwicha.sim.verilator.web_module import build_web_module
from kiwicha.sim.web.description import web_run

__all__ = ["SCRIPTS", "build_web_page"]

SCRIPTS = ("picture.js", "activity.js", "timeline.js", "results.js", "chart.js", "page.js")
"""Of the page, in their order."""


def build_web_page(
    compilation: Compilation,
    *,
    model: str,
    labels: Sequence[str] = (),
    examples: Sequence[tuple[str, bytes]] = (),
    on_build: Callable[[str], None] | None = None,
) -> str:
    """Return a page that runs a Program on the simulated system, in the visitor's browser.

    Parameters
    ----------
    compilation : Compilation
        What every pass of the compiler gave.
    model : str
        Name of the model.
    labels : sequence of str
        Meaning of each element of the first output; empty if unknown.
    examples : sequence of (str, bytes)
        Inputs with which the page begins, with their names: one for each, or none.
    on_build : callable or None
        Called with the name of each build stage that takes time.

    Raises
    ------
    CapacityError
        If the run does not fit into the DRAM that a page simulates.
    ToolError
        If a tool is missing or fails.
    UsageError
        If the Program runs without an engine, which takes a browser minutes.
    """
    program = compilation.program
    if not compilation.config.engine_macs:
        raise UsageError(
            "a page must simulate a configuration with an engine, such as 64, not "
            f"{compilation.config.name}: a browser would need minutes for an inference"
        )
    run = web_run(compilation, model=model, labels=labels)
    module = build_web_module(compilation.config, on_build).read_bytes()
    firmware = build_firmware(
        compilation.config,
        soc_header_text(compilation.config),
        kernels=[step.kernel for step in program.steps],
    )
    loads = [(cfu.ONCHIP_BASE, firmware.raw), *run.loads]
    facts = {
        **run.description,
        "loads": [address for address, _ in loads],
        "examples": [name for name, _ in examples],
    }
    # In a script element only the end tag, and what could open a comment, must not appear.
    text = json.dumps(facts, separators=(",", ":")).replace("<", "\\u003c")
    parts = {
        "module": module,
        **{f"load{at}": raw for at, (_, raw) in enumerate(loads)},
        **{f"example{at}": raw for at, (_, raw) in enumerate(examples)},
    }
    page = Environment(
        autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True
    ).from_string(_read("page.html"))
    return page.render(
        model=model,
        config=compilation.config.name,
        megahertz=f"{compilation.config.memory.clock_hz / 1e6:g}",
        made=f"Made by Kiwicha {kiwicha.__version__}.",
        facts=Markup(text),
        parts={name: _packed(raw) for name, raw in parts.items()},
        style=Markup(_read("page.css")),
        worker=Markup(_read("worker.js")),
        scripts=Markup("\n".join(map(_read, SCRIPTS))),
    )


def _packed(raw: bytes) -> str:
    return base64.b64encode(gzip.compress(raw, 9, mtime=0)).decode("ascii")


def _read(name: str) -> str:
    return (resources.files("kiwicha.sim.web") / name).read_text(encoding="utf-8")

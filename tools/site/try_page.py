"""The simulated system in the visitor's browser: a page for each of some models."""

from collections.abc import Sequence
from pathlib import Path

from kiwicha.commands import execution
from kiwicha.errors import KiwichaError
from kiwicha.sim.web.page import build_web_page
from kiwicha.zoo import models as zoo

__all__ = ["CONFIG", "available", "try_page"]

CONFIG = "64"
_MODELS = (zoo.DEMO, "person_detect")


def available() -> list[str]:
    """Return the models that can be tried: the bundled one, and public ones that are here."""
    return [name for name in _MODELS if _is_here(name)]


def _is_here(model: str) -> bool:
    try:
        zoo.resolve(model)
    except KiwichaError:
        return False
    return True


def try_page(folder: Path, models: Sequence[str]) -> str:
    """Return the page that links to those of the models, and write these into the site's folder.

    Parameters
    ----------
    folder : Path
        Of the pages.
    models : sequence of str
        Names as of `available`.

    Raises
    ------
    ToolError
        If the simulator cannot be built.
    """
    target = folder / "docs" / "try"
    target.mkdir(parents=True, exist_ok=True)
    lines = []
    for name in models:
        workload = execution.prepare(name, CONFIG)
        files = [zoo.demo_pictures()[0].path] if name == zoo.DEMO else []
        raw = execution.model_inputs(workload, files) if files else []
        text = build_web_page(
            workload.compilation,
            model=name,
            labels=workload.labels,
            examples=[(path.name, item) for path, item in zip(files, raw, strict=True)],
        )
        (target / f"{name}.html").write_text(text, encoding="utf-8")
        lines.append(f"- [{name}](try/{name}.html), {len(text) / 1e6:.1f} MB")
    return (
        "# Try it in the browser\n\n"
        f"The simulated system on chip, configuration `{CONFIG}`, cycle by cycle in your browser:\n"
        "choose a picture or use the camera, and see the answer, what every layer cost, and when\n"
        "what happened. Cycles are those of `kiwicha run`. Nothing leaves your machine.\n\n"
        + "\n".join(lines)
        + "\n\n`kiwicha web MODEL` writes such a page for a model of your own.\n"
    )

"""The charting library: as a script for pages, and as a renderer of pictures."""

import importlib
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from kiwicha import cache
from kiwicha.errors import ToolError

__all__ = ["picture", "script"]

_MODULE = "vl_convert"
_PACKAGE = "vl-convert-python"


def script(on_build: Callable[[], None] | None = None) -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script.

    Parameters
    ----------
    on_build : callable or None
        Called before they are bundled, which takes seconds, once.

    Raises
    ------
    ToolError
        If the package that holds them is not installed.
    """

    def bundle(folder: Path) -> None:
        text: str = _library().javascript_bundle()
        # In a page nothing in a script may look like its end.
        safe = text.replace("</script", "<\\/script")
        (folder / "vega.js").write_text(safe, encoding="utf-8")

    _library()
    key = cache.digest([_PACKAGE, version(_PACKAGE)])
    entry = cache.build("charts", key, bundle, on_build=on_build)
    return (entry / "vega.js").read_text(encoding="utf-8")


def picture(chart: dict[str, Any], *, is_vector: bool) -> bytes:
    """Return a Vega-Lite chart as SVG or PNG.

    Raises
    ------
    ToolError
        If the package that draws it is not installed.
    """
    library = _library()
    if is_vector:
        text: str = library.vegalite_to_svg(chart)
        return text.encode()
    pixels: bytes = library.vegalite_to_png(chart)
    return pixels


def _library() -> Any:
    try:
        version(_PACKAGE)
        return importlib.import_module(_MODULE)
    except (PackageNotFoundError, ImportError) as error:
        raise ToolError(
            "the charting library must be installed; get it with: pip install 'kiwicha[report]'"
        ) from error

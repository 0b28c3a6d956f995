"""Notebooks as pages."""

import json
from pathlib import Path

__all__ = ["code_cells", "notebook_page"]


def notebook_page(path: Path) -> str:
    """Return a notebook as Markdown, with a link to the file itself."""
    parts = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        text = "".join(cell["source"])
        parts.append(text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```")
    parts.insert(1, f"This page is a notebook: [{path.name}]({path.name}).")
    return "\n\n".join(parts) + "\n"


def code_cells(path: Path) -> list[str]:
    """Return the code of a notebook, a text for each cell."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]

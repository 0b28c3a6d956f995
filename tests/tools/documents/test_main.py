"""Generated documents are those of their sources, and one command writes them."""

import json
from pathlib import Path

import pytest

from kiwicha.errors import UsageError
from tests.support.requirements import REPOSITORY
from tests.tools.documents.test_result_tables import run
from tools.documents import __main__ as documents

PAGES = [
    *(
        "README.md",
        "docs/results.md",
        "docs/depthwise.md",
        "docs/engine.md",
        "docs/energy.md",
        "docs/runs.schema.json",
        "docs/supported.md",
        "docs/vela.md",
        "docs/verification.md",
        "docs/boards.md",
    ),
    "docs/bring-up.md",
    "docs/performance.md",
    "docs/guides/beside-the-engine.md",
    "docs/c-api.md",
    "docs/guides/camera.md",
    "docs/guides/sound.md",
    "docs/guides/tflm.md",
    "docs/timing.md",
    "src/kiwicha/data/demo_runs.json",
]


def project(folder: Path, readme: str) -> Path:
    (folder / "docs" / "results" / "bench").mkdir(parents=True)
    (folder / "src" / "kiwicha" / "data").mkdir(parents=True)
    (folder / "README.md").write_text(readme)
    (folder / "docs" / "guides").mkdir()
    names = ("beside-the-engine", "camera", "sound", "tflm")
    guides = (*(f"guides/{name}.md" for name in names), "c-api.md")
    pages = ("bring-up.md", "depthwise.md", "energy.md", "engine.md", "performance.md", "timing.md")
    for name in (*pages, *guides):
        (folder / "docs" / name).write_text(f"{documents.BEGIN}\n{documents.END}\n")
    return folder


def test_committed_documents_are_those_of_the_committed_sources() -> None:
    """Whether the results are of the present hardware does not matter here."""
    assert documents.update(REPOSITORY, is_check=True) == [], "run python -m tools.documents"


def test_what_stands_between_the_markers_is_replaced(tmp_path: Path) -> None:
    old = f"above\n{documents.BEGIN}\nold\n{documents.END}\nbelow\n"
    folder = project(tmp_path, old)
    (folder / "docs" / "results" / "bench" / "a.json").write_text(json.dumps([run()]))
    assert documents.update(folder, is_check=True) == PAGES
    assert (folder / "README.md").read_text() == old
    assert documents.update(folder, is_check=False) == PAGES
    written = (folder / "README.md").read_text()
    assert written.startswith(f"above\n{documents.BEGIN}\n| model |")
    assert written.endswith(f"{documents.END}\nbelow\n")
    assert "old" not in written
    assert documents.update(folder, is_check=True) == []


def test_other_present_hardware_changes_the_pages(tmp_path: Path) -> None:
    folder = project(tmp_path, f"{documents.BEGIN}\n{documents.END}\n")
    results = folder / "docs" / "results"
    measured = {"hardware": "1"}
    (results / "bench" / "a.json").write_text(json.dumps([run(inputs=measured)]))
    documents.update(folder, is_check=False)
    present = {"bench/a": {"kws simd": measured}}
    (results / "present.json").write_text(json.dumps(present))
    pages = ["README.md", "docs/results.md"]
    assert documents.update(folder, is_check=False) == pages
    present["bench/a"]["kws simd"] = {"hardware": "2"}
    (results / "present.json").write_text(json.dumps(present))
    assert documents.update(folder, is_check=True) == pages


@pytest.mark.nightly
def test_profiles_are_taken_out_of_results(tmp_path: Path) -> None:
    folder = project(tmp_path, f"{documents.BEGIN}\n{documents.END}\n")
    path = folder / "docs" / "results" / "bench" / "a.json"
    path.write_text(json.dumps([run(profile={"layers": []}), run()]))
    assert "docs/results/bench/a.json" in documents.update(folder, is_check=False)
    assert json.loads(path.read_text()) == [run(), run()]
    assert documents.update(folder, is_check=True) == []


def test_a_document_without_markers_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^document must have the markers "):
        documents.update(project(tmp_path, "nothing"), is_check=False)

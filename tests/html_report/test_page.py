"""The page of a report in a real browser: nothing goes wrong, charts are drawn, tables sort."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kiwicha.html_report import build_page, read_files
from kiwicha.html_report.charts import charts, pareto
from tests.support.commands.example_runs import example_run, example_study
from tests.support.requirements import browser, module

BYTES_LIMIT = 3_000_000
SECONDS_LIMIT = 2
DRAWN = "body[data-drawn]"
PHONE_PIXELS = 390


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the page of a run of 31 layers beside two others."""
    folder = tmp_path_factory.mktemp("page")
    runs = [example_run(layers=31), example_run(layers=31, config="128", factor=0.6)]
    plain = example_run(layers=3, config="simd")
    del plain["profile"]
    runs[0]["profile"]["layers"][3]["dram"]["stores"] = 16
    (folder / "runs.json").write_text(json.dumps([*runs, plain]))
    page = folder / "report.html"
    page.write_text(build_page(*read_files([folder / "runs.json"])), encoding="utf-8")
    return page


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    playwright = module("playwright.sync_api", "playwright")
    executable = browser()
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield started
        started.close()


class Opened:
    """The page, open, and what its console said."""

    def __init__(self, chromium: Any, path: Path, **context: Any) -> None:
        self.problems: list[str] = []
        self.requests: list[str] = []
        self.tab = chromium.new_context(**context).new_page()
        self.tab.on("console", self._note)
        self.tab.on("pageerror", lambda error: self.problems.append(str(error)))
        self.tab.on("request", lambda request: self.requests.append(request.url))
        self.tab.goto(path.as_uri())
        self.tab.wait_for_selector(DRAWN, timeout=60_000)

    def _note(self, message: Any) -> None:
        if message.type == "error":
            self.problems.append(message.text)

    def charts(self) -> list[str]:
        """Return the names of the charts that have marks."""
        found: list[str] = self.tab.evaluate(
            "[...document.querySelectorAll('.chart')].filter(chart =>"
            " chart.querySelectorAll('svg .mark-rect path, svg .mark-symbol path').length > 2"
            ").map(chart => chart.id.slice(6))"
        )
        return found

    def labels(self) -> dict[str, str]:
        """Return what each drawn chart's own element tells who does not see it."""
        found: dict[str, str] = self.tab.evaluate(
            "Object.fromEntries([...document.querySelectorAll('.chart:has(svg)')].map(chart =>"
            " [chart.id.slice(6), chart.getAttribute('role') === 'graphics-document' ?"
            " chart.getAttribute('aria-label') : null]))"
        )
        return found

    def column(self, title: str, table: str = "#layers") -> list[str]:
        """Return the texts of a column of a table, by default that of layers."""
        titles = self.tab.locator(f"{table} th").all_inner_texts()
        found: list[str] = self.tab.locator(
            f"{table} td:nth-child({titles.index(title) + 1})"
        ).all_inner_texts()
        return found


def test_the_page_is_small_and_made_at_once(path: Path) -> None:
    assert path.stat().st_size < BYTES_LIMIT
    start = time.monotonic()
    build_page(*read_files([path.parent / "runs.json"]))
    assert time.monotonic() - start < SECONDS_LIMIT


@pytest.mark.browser
@pytest.mark.parametrize(
    "context",
    [
        {"viewport": {"width": 1280, "height": 900}},
        {"viewport": {"width": PHONE_PIXELS, "height": 844}},
        {"color_scheme": "dark"},
    ],
    ids=["desktop", "phone", "dark"],
)
def test_the_page_opens_without_errors(chromium: Any, path: Path, context: dict[str, Any]) -> None:
    page = Opened(chromium, path, **context)
    assert not page.problems
    assert page.requests == [path.as_uri()]
    assert page.charts() == ["cycles", "roofline", "scratchpad", "arena", "traffic"]
    width = page.tab.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert width <= 0
    background = page.tab.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(23, 24, 27)") == ("color_scheme" in context)
    specs = charts()
    assert page.labels() == {name: specs[name]["description"] for name in page.charts()}


@pytest.mark.browser
def test_a_click_on_a_title_sorts(chromium: Any, path: Path) -> None:
    page = Opened(chromium, path)
    before = [int(text.replace(",", "")) for text in page.column("cycles")]
    assert before != sorted(before)
    title = page.tab.locator("#layers th button", has_text="cycles").first
    title.click()
    assert [int(text.replace(",", "")) for text in page.column("cycles")] == sorted(before)
    title.click()
    assert [int(text.replace(",", "")) for text in page.column("cycles")] == sorted(before)[::-1]
    assert page.tab.locator("#layers th[aria-sort=descending]").count() == 1
    assert not page.problems


@pytest.mark.browser
def test_every_number_of_the_charts_is_in_a_table(chromium: Any, path: Path) -> None:
    page = Opened(chromium, path)
    (run, *_) = json.loads(page.tab.locator("#data").inner_text())["runs"]
    titles = page.tab.locator("#layers th").all_inner_texts()
    cells = {title: page.column(title) for title in titles}
    rows = {layer["label"]: number for number, layer in enumerate(run["layers"])}
    shown = 0
    for part in run["cycles"]:
        assert cells[part["cause"]][rows[part["label"]]] == f"{part['cycles']:,}"
        shown += part["cycles"]
    assert shown == run["totals"]["cycles"]
    for layer in run["layers"]:
        assert cells["predicted"][rows[layer["label"]]] == f"{layer['predicted']:,}"
    assert {part["sort"] for part in run["traffic"]} == {"weights", "activations written"}
    for part in run["traffic"]:
        assert cells[f"DRAM: {part['sort']}"][rows[part["label"]]] == f"{part['bytes']:,}"
    for point in run["points"]:
        for title, name in (("MACs/byte", "intensity"), ("MACs/cycle", "rate")):
            text = cells[title][rows[point["label"]]].replace(",", "")
            assert float(text) == pytest.approx(point[name], rel=1e-3)
    assert "CPU" not in titles
    page.tab.locator("summary").click()
    fields = {"tensor": "name", "from byte": "offset", "from cycle": "start", "to cycle": "end"}
    tensors = [tensor for place in run["memory"].values() for tensor in place["tensors"]]
    for title, name in {**fields, "bytes": "bytes"}.items():
        values = [tensor[name] for tensor in tensors]
        texts = [value if title == "tensor" else f"{value:,}" for value in values]
        assert page.column(title, "#tensors") == texts


@pytest.mark.browser
def test_runs_of_the_same_layers_stand_side_by_side(chromium: Any, path: Path) -> None:
    page = Opened(chromium, path)
    titles = page.tab.locator("#layers th").all_inner_texts()
    assert "toy on 128" in titles
    assert "toy on simd" not in titles
    assert {text for text in page.column("ratio") if text} == {"0.6"}


@pytest.mark.browser
def test_a_run_is_compared_with_the_first_of_its_model(chromium: Any, tmp_path: Path) -> None:
    slower = example_run(factor=2.0)
    files = {
        "a.json": [example_run(model="big", layers=9), example_run()],
        "b.json": [slower, example_run(config="128", factor=0.5)],
        "c.json": [slower, slower],
    }
    for name, runs in files.items():
        (tmp_path / name).write_text(json.dumps(runs))
    path = tmp_path / "page.html"
    path.write_text(build_page(*read_files([tmp_path / name for name in files])), encoding="utf-8")
    page = Opened(chromium, path)
    assert page.column("ratio", "#runs") == ["1", "1", "2", "0.5", "2", "2"]
    assert page.column("file", "#runs") == ["", "a.json", "b.json", "", "c.json 1", "c.json 2"]
    assert page.tab.locator("#run option").all_inner_texts() == [
        "big on 64",
        "toy on 64 (a.json)",
        "toy on 64 (b.json)",
        "toy on 128",
        "toy on 64 (c.json 1)",
        "toy on 64 (c.json 2)",
    ]
    page.tab.select_option("#run", label="toy on 128")
    page.tab.wait_for_selector("body[data-drawn='toy on 128']")
    titles = page.tab.locator("#layers th").all_inner_texts()
    assert [title for title in titles if title.startswith("toy")] == [
        "toy on 64 (a.json)",
        "toy on 64 (b.json)",
        "toy on 64 (c.json 1)",
        "toy on 64 (c.json 2)",
    ]
    assert not page.problems


@pytest.mark.browser
def test_another_run_can_be_chosen(chromium: Any, path: Path) -> None:
    page = Opened(chromium, path)
    page.tab.select_option("#run", label="toy on simd")
    page.tab.wait_for_selector("body[data-drawn='toy on simd']")
    assert len(page.column("#")) == 3
    assert page.tab.locator("figure:visible").count() == 1
    assert not page.problems


@pytest.mark.browser
def test_a_study_has_a_page(chromium: Any, tmp_path: Path) -> None:
    (tmp_path / "study.json").write_text(json.dumps({**example_study(), "bram_kbit": 18}))
    path = tmp_path / "page.html"
    path.write_text(build_page(*read_files([tmp_path / "study.json"])), encoding="utf-8")
    page = Opened(chromium, path)
    assert not page.problems
    points = "document.querySelectorAll('#chart-front svg .mark-symbol.role-mark path').length"
    assert page.tab.evaluate(points) == 2
    assert page.labels() == {"front": pareto(("bram", "cycles"))["description"]}
    assert page.tab.locator("#front tbody tr").count() == 3
    assert page.tab.locator("#front th").get_by_text("BRAM18, about").count() == 1
    assert page.tab.get_by_text("BRAM36").count() == 0
    assert page.tab.locator("#of-runs").is_hidden()

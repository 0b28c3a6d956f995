"""The page of a report in a real browser: nothing goes wrong, charts are drawn, tables sort."""

import csv
import json
import time
from pathlib import Path
from typing import Any

import pytest

from kiwicha.html_report import build_page, read_files
from kiwicha.html_report.charts import charts, pareto
from tests.support.choices import at_night, by_day
from tests.support.commands.example_runs import example_run, example_study

BYTES_LIMIT = 3_000_000
SECONDS_LIMIT = 2
DRAWN = "body[data-drawn]"
PATIENCE_MILLISECONDS = 120_000
"""For a page to load: other tests share the processor."""
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


class Opened:
    """The page, open, and what its console said."""

    def __init__(self, chromium: Any, path: Path, **context: Any) -> None:
        self.problems: list[str] = []
        self.requests: list[str] = []
        self.tab = chromium.new_context(**context).new_page()
        self.tab.set_default_navigation_timeout(PATIENCE_MILLISECONDS)
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

    def titles(self, table: str = "#layers") -> list[str]:
        """Return the titles of a table's columns."""
        found: list[str] = self.tab.locator(f"{table} thead tr:last-child th").all_inner_texts()
        return found

    def groups(self) -> list[str]:
        """Return the group of each column of layers."""
        return [
            cell.inner_text()
            for cell in self.tab.locator("#layers .group th").all()
            for _ in range(int(cell.get_attribute("colspan") or 1))
        ]

    def visible(self, title: str) -> bool:
        """Return whether a column of layers, all of it, is there before anyone scrolls sideways."""
        place = self.titles().index(title) + 1
        cell = self.tab.locator(f"#layers tbody tr:first-child td:nth-child({place})")
        seen: bool = cell.evaluate(
            "cell => { const box = cell.getBoundingClientRect();"
            " const place = document.getElementById('layers').getBoundingClientRect();"
            " return box.width > 0 && box.left >= place.left - 1 && box.right <= place.right + 1; }"
        )
        return seen

    def column(self, title: str, table: str = "#layers") -> list[str]:
        """Return the texts of a column of a table, by default that of layers."""
        return self.cells(self.titles(table).index(title), table)

    def cells(self, place: int, table: str = "#layers") -> list[str]:
        """Return the texts of a column by its number."""
        found: list[str] = self.tab.locator(
            f"{table} tbody td:nth-child({place + 1})"
        ).all_inner_texts()
        return found


@pytest.fixture(scope="module")
def opened(chromium: Any, path: Path) -> Opened:
    """Return a page that tests look at and leave as it was."""
    return Opened(chromium, path)


def test_the_page_is_small_and_made_at_once(path: Path) -> None:
    assert path.stat().st_size < BYTES_LIMIT
    start = time.monotonic()
    build_page(*read_files([path.parent / "runs.json"]))
    assert time.monotonic() - start < SECONDS_LIMIT


@pytest.mark.browser
@pytest.mark.parametrize(
    "context",
    [
        {"viewport": {"width": PHONE_PIXELS, "height": 844}},
        at_night({"viewport": {"width": 1280, "height": 900}}),
        at_night({"color_scheme": "dark"}),
    ],
    ids=["phone", "desktop", "dark"],
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
def test_a_click_on_a_title_sorts(opened: Opened) -> None:
    before = [int(text.replace(",", "")) for text in opened.column("cycles")]
    assert before != sorted(before)
    title = opened.tab.locator("#layers th button", has_text="cycles").first
    title.click()
    assert [int(text.replace(",", "")) for text in opened.column("cycles")] == sorted(before)[::-1]
    assert opened.tab.locator("#layers th[aria-sort=descending]").count() == 1
    title.click()
    assert [int(text.replace(",", "")) for text in opened.column("cycles")] == sorted(before)
    opened.tab.locator("#layers th button", has_text="MACs/cycle").click()
    rates = [float(text) for text in opened.column("MACs/cycle")]
    assert rates == sorted(rates)
    assert opened.tab.locator("#layers th[aria-sort]").count() == 1
    opened.tab.locator("#order").click()
    assert [int(text.replace(",", "")) for text in opened.column("cycles")] == before
    assert not opened.problems


@pytest.mark.browser
def test_every_number_of_the_charts_is_in_a_table(opened: Opened) -> None:
    (run, *_) = json.loads(opened.tab.locator("#data").inner_text())["runs"]
    titles = opened.titles()
    cells = {
        f"DRAM: {title}" if group == "DRAM bytes" else title: opened.cells(place)
        for place, (title, group) in reversed([
            *enumerate(zip(titles, opened.groups(), strict=True))
        ])
    }
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
    for point in run["roofline"]["points"]:
        for title, name in (("MACs/byte", "intensity"), ("MACs/cycle", "rate")):
            text = cells[title][rows[point["label"]]].replace(",", "")
            assert float(text) == pytest.approx(point[name], rel=1e-3)
    assert "CPU" not in titles
    opened.tab.locator("summary").click()
    fields = {"tensor": "name", "from byte": "offset", "from cycle": "start", "to cycle": "end"}
    tensors = [tensor for place in run["memory"].values() for tensor in place["tensors"]]
    for title, name in {**fields, "bytes": "bytes"}.items():
        values = [tensor[name] for tensor in tensors]
        texts = [value if title == "tensor" else f"{value:,}" for value in values]
        assert opened.column(title, "#tensors") == texts


@pytest.mark.browser
def test_runs_of_the_same_layers_stand_side_by_side(opened: Opened) -> None:
    assert "toy on 128" in opened.groups()
    assert "toy on simd" not in opened.groups()
    assert opened.column("against the first", "#runs")[:2] == ["", "1.7x faster than 64"]
    widths = opened.tab.evaluate(
        "[...document.querySelectorAll('#runs .bar')].map(bar =>"
        " [...bar.children].reduce((sum, part) => sum + part.offsetWidth, 0))"
    )
    assert widths[1] == pytest.approx(0.6 * widths[0], abs=3)
    assert {text for text in opened.column("ratio") if text} == {"0.6"}


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
    words = ["", "", "2.0x slower than 64", "2.0x faster than 64", *["2.0x slower than 64"] * 2]
    assert page.column("against the first", "#runs") == words
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
    groups = [title for title in page.groups() if title.startswith("toy")]
    assert groups[::2] == groups[1::2]
    assert groups[::2] == [
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
    texts = page.tab.locator("#chart-front svg .mark-text.role-mark text").all_text_contents()
    assert texts == [
        point["config"] for point in example_study()["configurations"] if point["front"]
    ]
    assert page.tab.title() == "Kiwicha study: toy"
    assert page.tab.locator("h1").inner_text() == "Explored configurations for toy"
    assert page.labels() == {"front": pareto(("bram", "cycles"))["description"]}
    assert page.tab.locator("#configurations tbody tr").count() == 2
    page.tab.locator("#of-misfits summary").click()
    assert page.column("does not fit", "#misfits") == ["bram 72.5 of 37"]
    assert (
        page.tab
        .locator("#configurations th")
        .get_by_text("block RAMs of 18 Kbit, estimated")
        .count()
        == 1
    )
    assert page.tab.get_by_text("36 Kbit").count() == 0
    assert page.tab.locator("#of-runs").count() == 0


def test_a_page_of_runs_and_a_study_names_both(tmp_path: Path) -> None:
    for name, content in (("study.json", example_study()), ("run.json", example_run())):
        (tmp_path / name).write_text(json.dumps(content))
    text = build_page(*read_files([tmp_path / "study.json", tmp_path / "run.json"]))
    assert "<title>Kiwicha study: toy; toy on 64</title>" in text
    assert "<h1>Explored configurations for toy, and runs</h1>" in text


def test_names_are_escaped(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps(example_run(model="<b>&")))
    text = build_page(*read_files([tmp_path / "run.json"]), made="kiwicha <i>")
    assert "<b>" not in text
    assert "kiwicha &lt;i&gt;" in text


@pytest.mark.browser
@pytest.mark.parametrize("scheme", by_day("light", "dark"))
@pytest.mark.parametrize(
    ("width", "titles"),
    [
        (1440, ["#", "operator", "cycles", "where", "why there"]),
        (PHONE_PIXELS, ["#", "operator", "cycles"]),
    ],
)
def test_what_matters_is_seen_without_scrolling_sideways(
    chromium: Any, path: Path, width: int, titles: list[str], scheme: str
) -> None:
    page = Opened(chromium, path, viewport={"width": width, "height": 900}, color_scheme=scheme)
    assert [title for title in titles if not page.visible(title)] == []
    assert not page.visible("MACs")
    page.tab.evaluate("document.getElementById('layers').scrollLeft = 10_000")
    assert page.visible("#")
    assert page.visible("operator")
    operator = page.tab.locator("#layers tbody td.operator").first
    assert operator.evaluate("cell => cell.scrollWidth <= cell.clientWidth")


@pytest.mark.browser
def test_layers_have_totals_and_groups(opened: Opened) -> None:
    (run, *_) = json.loads(opened.tab.locator("#data").inner_text())["runs"]
    foot = opened.tab.locator("#layers tfoot td").all_inner_texts()
    total = dict(reversed([*zip(opened.titles(), foot, strict=True)]))
    assert total["operator"] == "all layers"
    assert total["cycles"] == f"{run['totals']['cycles']:,}"
    assert total["share"] == "100 %"
    assert total["MACs"] == f"{run['totals']['macs']:,}"
    assert list(dict.fromkeys(opened.groups())) == [
        "layer",
        "cycles",
        "execution",
        "cycles by cause",
        "work",
        "DRAM bytes",
        "toy on 128",
    ]


@pytest.mark.browser
def test_a_reason_is_read_whole_on_demand(chromium: Any, tmp_path: Path) -> None:
    run = example_run()
    run["profile"]["layers"][0]["why"] = "a reason of many words " * 12
    (tmp_path / "run.json").write_text(json.dumps(run))
    path = tmp_path / "page.html"
    path.write_text(build_page(*read_files([tmp_path / "run.json"])), encoding="utf-8")
    page = Opened(chromium, path, viewport={"width": 1440, "height": 900})
    button = page.tab.locator("#layers td.why button").first
    hidden = "button => button.scrollWidth > button.clientWidth"
    assert button.evaluate(hidden)
    button.click()
    assert not button.evaluate(hidden)
    assert button.get_attribute("aria-expanded") == "true"
    button.click()
    assert button.evaluate(hidden)


@pytest.mark.browser
@pytest.mark.parametrize("width", by_day(1440, PHONE_PIXELS))
def test_texts_of_charts_are_as_large_as_those_of_the_page(
    chromium: Any, path: Path, width: int
) -> None:
    page = Opened(chromium, path, viewport={"width": width, "height": 900})
    sizes = page.tab.evaluate(
        "[...document.querySelectorAll('.chart text')].map(text =>"
        " parseFloat(getComputedStyle(text).fontSize))"
    )
    own = page.tab.evaluate("parseFloat(getComputedStyle(document.body).fontSize)")
    assert len(sizes) > 100
    assert min(sizes) == max(sizes) == own


@pytest.mark.browser
def test_a_colour_has_one_meaning(opened: Opened) -> None:
    meanings: dict[str, set[str]] = {}
    for chart in ("cycles", "traffic", "roofline"):
        for text, colour in opened.tab.evaluate(
            "name => [...document.querySelectorAll(`#chart-${name} .role-legend-symbol path`)].map("
            "(mark, k) => [document.querySelectorAll(`#chart-${name} .role-legend-label text`)[k]"
            ".textContent, mark.getAttribute('fill')])",
            chart,
        ):
            meanings.setdefault(colour, set()).add(text.removeprefix("memory: "))
    for item in opened.tab.locator("#legend li").all():
        colour = item.locator("i").evaluate("square => square.style.background")
        numbers = [int(text) for text in colour.removeprefix("rgb(").removesuffix(")").split(",")]
        own = "#{:02X}{:02X}{:02X}".format(*numbers)
        meanings.setdefault(own, set()).add(item.inner_text().removeprefix("memory: "))
    assert {"weights"} in meanings.values()
    assert [names for names in meanings.values() if len(names) > 1] == []


@pytest.mark.browser
def test_tables_and_charts_are_saved(opened: Opened) -> None:
    (run, *_) = json.loads(opened.tab.locator("#data").inner_text())["runs"]

    def saved(selector: str) -> tuple[str, str]:
        with opened.tab.expect_download() as download:
            opened.tab.locator(selector).click()
        return download.value.suggested_filename, download.value.path().read_text("utf-8")

    name, text = saved("[data-csv=layers]")
    assert name == "kiwicha-toy-on-64-layers.csv"
    rows = list(csv.DictReader(text.splitlines()))
    assert [int(row["cycles"]) for row in rows] == [layer["cycles"] for layer in run["layers"]]
    assert rows[3]["DRAM bytes: activations written"] == "16"
    assert rows[0]["where"] == "engine"
    name, text = saved("[data-svg=cycles]")
    assert name == "kiwicha-toy-on-64-cycles.svg"
    assert text.startswith("<svg")
    assert text.count("@ink") == 0
    assert not opened.problems

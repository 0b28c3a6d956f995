"""The page in a real browser: answers, cycles and timeline are those of the simulator."""

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from kiwicha.commands.execution import Workload, prepare
from kiwicha.errors import CapacityError, UsageError
from kiwicha.pictures import tensor_bytes
from kiwicha.report.run_report import make_report
from kiwicha.sim.profile.timeline import timeline
from kiwicha.sim.verilator.program_run import run_program
from kiwicha.sim.web.page import build_web_page
from tests.conftest import GoldenFinder

BYTES_LIMIT = 8_000_000
SECONDS_LIMIT = 5
PHONE_PIXELS = 390

pytestmark = [pytest.mark.browser, pytest.mark.verilator, pytest.mark.nightly]


class Opened:
    """The page, loaded."""

    def __init__(self, chromium: Any, path: Path, **context: Any) -> None:
        self.problems: list[str] = []
        self.requests: list[str] = []
        self.tab = chromium.new_context(**context).new_page()
        self.tab.on("pageerror", lambda error: self.problems.append(str(error)))
        self.tab.on("request", lambda request: self.requests.append(request.url))
        self.tab.goto(path.as_uri())
        self.tab.wait_for_selector("body[data-loaded]", timeout=60_000)

    def choose(self, path: Path) -> None:
        """Give the first input a file, and wait until it is there or refused."""
        self.tab.set_input_files("input[type=file]", path)
        self.tab.wait_for_selector(f".name:text-is('{path.name}'), #problem:not(:empty)")

    def tensor(self, at: int = 0) -> bytes:
        """Return an input as the simulation gets it."""
        return bytes(self.tab.evaluate(f"[...tensors[{at}]]"))

    def run(self) -> dict[str, Any]:
        """Simulate and return what the page shows."""
        self.tab.click("#run")
        self.tab.wait_for_selector(
            "body[data-results], #problem:not(:empty)", timeout=120_000, state="attached"
        )
        assert not self.problem()
        found: dict[str, Any] = self.tab.evaluate(
            "({...results, outputs: results.outputs.map((raw) => [...raw])})"
        )
        return found

    def problem(self) -> str:
        """Return what the page says is wrong."""
        return str(self.tab.inner_text("#problem"))


@pytest.fixture(scope="module")
def page_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., tuple[Workload, Path]]:
    """Return a function that writes the page of a model for configuration 64."""

    def write(model: str, **options: Any) -> tuple[Workload, Path]:
        workload = prepare(model, "64")
        path = tmp_path_factory.mktemp("web") / "page.html"
        text = build_web_page(
            workload.compilation, model=workload.model, labels=workload.labels, **options
        )
        path.write_text(text, encoding="utf-8")
        return workload, path

    return write


@pytest.fixture(scope="module")
def demo(page_of: Callable[..., tuple[Workload, Path]]) -> tuple[Workload, Path]:
    return page_of("demo")


def photo(folder: Path, size: tuple[int, int], mode: str = "RGB") -> Path:
    """Write a picture of random numbers: resizing it has something to round everywhere."""
    channels = len(Image.new(mode, (1, 1)).getbands())
    pixels = np.random.default_rng(size[0]).integers(0, 256, (size[1], size[0], channels), np.uint8)
    path = folder / f"{mode}-{size[0]}x{size[1]}.png"
    Image.fromarray(pixels if channels > 1 else pixels[:, :, 0]).save(path)
    return path


def check_run(workload: Workload, inputs: list[bytes], shown: dict[str, Any]) -> None:
    """Compare what a page shows with the simulator's run of the same inputs."""
    native = run_program(workload.program, inputs, inferences=2)
    assert shown["outputs"] == [list(raw) for raw in native.outputs]
    assert (shown["first"], shown["cycles"]) == (native.first_cycles, native.last_cycles)
    assert shown["simulated"] == native.simulated_cycles
    report = make_report(
        workload.program,
        model=workload.model,
        config=workload.config,
        target="sim",
        clock_hz=workload.config.memory.clock_hz,
        step_cycles=native.step_cycles,
        inference_cycles=(native.first_cycles, native.last_cycles),
        bit_exact=None,
        job_ends=native.job_ends,
    )
    assert shown["layers"] == [layer.cycles for layer in report.layers]
    assert sum(shown["layers"]) == native.last_cycles
    slices = timeline(native.activity, workload.program, native.step_cycles)
    expected = [[dataclasses.asdict(item) for item in inference] for inference in slices]
    assert [len(inference) for inference in shown["slices"]] == [len(item) for item in expected]
    assert shown["slices"] == json.loads(json.dumps(expected))


def test_person_detect_is_as_simulated_here(
    chromium: Any,
    page_of: Callable[..., tuple[Workload, Path]],
    zoo_model: Callable[[str], Path],
    golden_cases: GoldenFinder,
    tmp_path: Path,
) -> None:
    workload, path = page_of(str(zoo_model("person_detect")))
    assert path.stat().st_size <= BYTES_LIMIT
    page = Opened(chromium, path)
    page.choose(photo(tmp_path, (150, 120)))
    shown = page.run()
    check_run(workload, [page.tensor()], shown)
    assert shown["seconds"] <= SECONDS_LIMIT
    for golden in golden_cases("person_detect"):
        raw = tmp_path / golden.name
        raw.write_bytes(golden.input)
        page.choose(raw)
        found = page.run()
        assert bytes(found["outputs"][0]) == golden.output
        assert found["cycles"] == shown["cycles"]
    assert not page.problems
    assert [url for url in page.requests if not url.startswith("blob:")] == [path.as_uri()]


def test_the_demo_begins_with_its_picture(
    chromium: Any, page_of: Callable[..., tuple[Workload, Path]]
) -> None:
    raw = bytes(range(256)) * 36
    workload, path = page_of("demo", examples=[("a picture", raw)])
    assert workload.program.inputs[0].ref.bytes == len(raw)
    page = Opened(chromium, path, viewport={"width": PHONE_PIXELS, "height": 844})
    assert page.tensor() == raw
    check_run(workload, [raw], page.run())
    labels = [text.split("\n")[0] for text in page.tab.locator("#answer li").all_inner_texts()]
    assert sorted(labels) == sorted(workload.labels)
    titles = page.tab.locator("#layers tbody td:nth-child(2)").all_inner_texts()
    assert titles == [layer.operator for layer in workload.program.layers]
    width = page.tab.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert width <= 0
    drawn = page.tab.evaluate(
        "(() => { const canvas = document.getElementById('timeline');"
        " const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);"
        " return new Set(new Uint32Array(pixels.data.buffer)).size; })()"
    )
    assert drawn > 6


@pytest.mark.parametrize(
    ("size", "mode"),
    [((150, 120), "RGB"), ((31, 200), "L"), ((96, 96), "RGB"), ((96, 9), "RGB"), ((1, 1), "L")],
)
def test_a_picture_is_within_a_count_of_what_the_command_line_makes(
    chromium: Any,
    demo: tuple[Workload, Path],
    tmp_path: Path,
    size: tuple[int, int],
    mode: str,
) -> None:
    workload, path = demo
    page = Opened(chromium, path)
    picture = photo(tmp_path, size, mode)
    page.choose(picture)
    shown, expected = (
        np.frombuffer(raw, np.int8).astype(np.int64)
        for raw in (page.tensor(), tensor_bytes(workload.program.inputs[0], picture))
    )
    # Pillow rounds between its two passes, and of some shapes resizes rows first.
    assert np.abs(shown - expected).max() <= 1
    assert np.ptp(expected) > 0 or size == (1, 1)


def test_what_is_no_input_is_refused(
    chromium: Any, demo: tuple[Workload, Path], tmp_path: Path
) -> None:
    page = Opened(chromium, demo[1])
    assert page.tab.is_disabled("#run")
    wrong = tmp_path / "wrong.bin"
    wrong.write_bytes(bytes(100))
    page.choose(wrong)
    assert page.problem().startswith("wrong.bin must be a picture or the raw tensor (int8 1x96x96")
    assert page.tab.is_disabled("#run")
    page.choose(photo(tmp_path, (10, 10)))
    assert not page.problem()
    assert page.tab.is_enabled("#run")


def test_a_damaged_page_says_so(chromium: Any, demo: tuple[Workload, Path], tmp_path: Path) -> None:
    page = Opened(chromium, demo[1])
    page.choose(photo(tmp_path, (10, 10)))
    page.tab.evaluate("facts.dumps[0] = [0x10000000, 16]")
    page.tab.click("#run")
    page.tab.wait_for_selector("#problem:not(:empty)")
    assert page.problem() == (
        "the simulation failed: the simulated memory has no 16 bytes at 268435456"
    )


def test_a_configuration_without_an_engine_is_refused() -> None:
    workload = prepare("demo", "simd")
    with pytest.raises(UsageError, match="must simulate a configuration with an engine"):
        build_web_page(workload.compilation, model="demo")


def test_a_model_that_does_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kiwicha.sim.web.description.DRAM_BYTES", 1 << 16)
    workload = prepare("demo", "64")
    with pytest.raises(CapacityError, match="must fit into"):
        build_web_page(workload.compilation, model="demo")

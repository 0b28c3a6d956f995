"""The tables of the page on energy."""

from collections.abc import Iterable
from typing import Any

import pytest

from kiwicha.errors import UsageError
from tools.documents.energy_section import energy_section

EVENTS: dict[str, Any] = {
    "clock": {"count": 1_000_000_000, "picojoules": 0.0255, "source": "1 pJ of A"},
    "product": {"count": 2_500_000, "picojoules": 0.1, "source": "2 pJ of B"},
}
OUTCOME: dict[str, Any] = {
    "model": "resnet8",
    "config": "64",
    "clock_hz": 100_000_000,
    "estimated_dynamic_microjoules": 25.75,
    "note": "an estimate",
    "cycles": 50_000,
    "driven_bits": {"flip-flops": 20_000},
    "events": EVENTS,
}
AREAS = {"a/64.json": {"config": "64", "resources": {"FF": 10_000}}}


def fresh(paths: Iterable[str]) -> str:
    return f"fresh: {', '.join(paths)}"


def test_it_shows_what_events_cost_and_inferences_take() -> None:
    lines = energy_section({"e/r.json": OUTCOME}, AREAS, fresh).splitlines()
    assert lines[:4] == [
        "| event | published, scaled | pJ |",
        "|---|---|---:|",
        "| `clock` | 1 pJ of A | 0.025 |",
        "| `product` | 2 pJ of B | 0.1 |",
    ]
    assert "| model | config | cycles | `clock` | `product` | about | mean power |" in lines
    # 25.75 uJ in 0.5 ms.
    assert "| ic (`resnet8`) | `64` | 50,000 | 25.5 | 0.2 | 26 | 52 mW |" in lines
    assert "| ic (`resnet8`) | `64` | 1,000,000,000 | 2,500,000 |" in lines
    assert "Each is an estimate. Counted:" in lines
    (line,) = (line for line in lines if line.startswith("`64` has "))
    assert line.startswith(
        "`64` has 20,000 bits of flip-flops here, of which synthesis leaves 10,0"
    )
    assert lines[-4:] == [
        "kiwicha energy resnet8 --config 64 --json e/r.json",
        "```",
        "",
        "fresh: e/r.json",
    ]


def test_models_stand_in_the_order_of_the_benchmarks() -> None:
    models = ("ad", "demo", "kws", "vww")
    files = {f"e/{model}.json": OUTCOME | {"model": model} for model in models}
    lines = energy_section(files, {}, fresh).splitlines()
    assert lines[-1] == "fresh: e/vww.json, e/kws.json, e/ad.json, e/demo.json"
    found = [line.split()[1] for line in lines if " 50,000 " in line]
    assert found == ["vww", "kws", "ad", "demo"]
    assert not any("synthesis" in line for line in lines)


def test_there_is_none_without_any() -> None:
    assert energy_section({}, AREAS, fresh) == ""


def test_files_with_other_figures_are_refused() -> None:
    dearer = {**EVENTS, "clock": {**EVENTS["clock"], "picojoules": 1.0}}
    files = {"e/a.json": OUTCOME, "e/b.json": OUTCOME | {"events": dearer}}
    with pytest.raises(
        UsageError, match=r"^energies of events must be those of the other files \(e/b.json\)$"
    ):
        energy_section(files, {}, fresh)


def test_other_files_are_refused() -> None:
    with pytest.raises(UsageError, match=r"^results must be those of kiwicha energy: .*\(a\)$"):
        energy_section({"a": {"model": "kws"}}, {}, fresh)

"""Tables of results."""

import re
from collections.abc import Iterable
from typing import Any

import pytest

from kiwicha.errors import UsageError
from tools.documents import result_tables, vela_tables
from tools.results.planned import BLOCKS, DEPTHWISE, PUBLIC

AREA = {"config": "simd", "family": "xc7", "resources": {"LUT": 1234, "BRAM36": 0.5}}


def run(**changes: Any) -> dict[str, Any]:
    values = {
        "model": "kws",
        "config": "simd",
        "macs": 1000,
        "cycles": 4000,
        "cycles_first": 5000,
        "utilization": 0.25,
        "clock_hz": 100_000_000,
        "bit_exact": True,
        "simulation_hz": 900_000,
        "layers": [{"where": "simd", "cycles": 3000}, {"where": "cpu", "cycles": 1000}],
    }
    return values | changes


def fresh(paths: Iterable[str]) -> str:
    return f"fresh: {', '.join(paths)}"


def test_the_overview_has_a_row_for_each_model_above_the_commands() -> None:
    vela = {"accelerator": "ethos-u55-64", "cycles": 6000, "version": "5"}
    files = {
        "a.json": [run(config="64", cycles=2000, vela=vela), run()],
        "b.json": [run(model="ad"), run(config="baseline", cycles=80_000)],
    }
    assert result_tables.overview(files, fresh).splitlines() == [
        "| model | MACs | `baseline` | `simd` | `64` | ethos-u55-64 by Vela |",
        "|---|---:|---:|---:|---:|---:|",
        "| kws | 1,000 | 80,000 | 4,000 | 2,000 | 6,000 |",
        "| ad | 1,000 |  | 4,000 |  |  |",
        "",
        "measured with",
        "",
        "```",
        "kiwicha bench kws --config 64,simd --compare vela --json a.json",
        "kiwicha bench ad kws --config simd,baseline --json b.json",
        "```",
        "",
        "fresh: a.json, b.json",
    ]


def test_the_page_of_results_shows_each_run_above_its_command() -> None:
    places = {"engine": 1900, "none": 0, "simd": 60, "cpu": 40}
    layers = [{"where": where, "cycles": cycles} for where, cycles in places.items()]
    on_engine = {"config": "64", "predicted": 2010, "utilization": 1 / 128, "layers": layers}
    on_engine |= {"cycles": 2000, "period": 2010, "simulation_hz": 90}
    runs = [run(), run(**on_engine, clock_hz=20_000_000)]
    assert result_tables.results_page({"a.json": runs}, {}, fresh).splitlines()[-7:] == [
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
        "| kws | simd | 1,000 | 4,000 | 5,000 |  |  |  | 0.250 | 25.0 % | 0.04 | 900,000 |",
        "| kws | 64 | 1,000 | 2,000 | 5,000 | 2,010 | +0.5 % | 5.0 % | 0.500 | 0.8 % | 0.10 | 90 |",
        "",
        "`kiwicha bench kws --config simd,64 --stream --json a.json`",
        "",
        "fresh: a.json",
    ]


def test_runs_with_dead_channels_have_rows_of_their_own() -> None:
    files = {"a.json": [run()], "b.json": [run(cycles=7000, eliminate=False)]}
    rows = result_tables.overview(files, fresh).splitlines()
    assert rows[2:4] == ["| kws | 1,000 | 4,000 |", "| kws, `--no-eliminate` | 1,000 | 7,000 |"]
    assert "kiwicha bench kws --config simd --no-eliminate --json b.json" in rows
    assert "| kws, `--no-eliminate` | simd |" in result_tables.results_page(files, {}, fresh)


def test_a_run_on_another_memory_has_a_row_that_names_the_board() -> None:
    files = {
        "a.json": [run(memory="ddr3-quarter-rate")],
        "b.json": [run(cycles=7000, memory="ddr3-half-rate")],
    }
    rows = result_tables.overview(files, fresh).splitlines()
    assert rows[2:4] == ["| kws | 1,000 | 4,000 |", "| kws, `--board ecpix5_85f` | 1,000 | 7,000 |"]
    assert "kiwicha bench kws --config simd --json a.json" in rows
    assert "kiwicha bench kws --config simd --board ecpix5_85f --json b.json" in rows


def compilation(**changes: Any) -> dict[str, Any]:
    sizes = {"weights": 1000, "weight_bytes": 700, "raw_weight_bytes": 1400, "cycles": 5}
    values = {"model": "kws", "config": "64", "optimize": "size", "predicted": sizes}
    return values | changes


def test_the_page_of_results_shows_what_weights_take() -> None:
    assert result_tables.results_page({}, {"w/k.json": compilation()}, fresh).splitlines()[
        -11:
    ] == [
        "| model | config | weights | raw bits | stored bits | stored / raw |",
        "|---|---|---:|---:|---:|---:|",
        "| kws | `64` | 1,000 | 11.20 | 5.60 | 50.0 % |",
        "",
        "measured with",
        "",
        "```",
        "kiwicha compile kws --config 64 --optimize size --json w/k.json",
        "```",
        "",
        "fresh: w/k.json",
    ]


@pytest.mark.parametrize(("value", "text"), [({}, "'model'"), (compilation(predicted=None), "")])
def test_compilations_without_sizes_are_refused(value: Any, text: str) -> None:
    start = f"results must be those of kiwicha compile for an engine: {text}"
    with pytest.raises(UsageError, match=rf"^{re.escape(start)}.*\(w\.json\)$"):
        result_tables.results_page({}, {"w.json": value}, fresh)


def test_public_models_have_a_row_beside_the_estimate() -> None:
    vela = {"accelerator": "ethos-u55-64", "cycles": 6000, "version": "5"}
    layers = [{"where": "engine", "cycles": 3800}, {"where": "cpu", "cycles": 200}]
    runs = [run(config="64", vela=vela, layers=layers), run(config="128", cycles=2500)]
    page = result_tables.results_page({PUBLIC: runs}, {}, fresh)
    assert "| kws | 4,000 | 2,500 | 6,000 | 1.50 | 5.0 % |" in page.splitlines()
    assert "kws" not in result_tables.overview({PUBLIC: runs}, fresh)


def test_runs_beside_the_unit_have_a_table_of_their_own() -> None:
    runs = [run(config="64-depthwise"), run(config="128-depthwise", cycles=2500)]
    lines = result_tables.unit_table({DEPTHWISE: runs}, fresh).splitlines()
    assert lines[0] == "| model | MACs | `64-depthwise` | `128-depthwise` |"
    assert lines[-1] == f"fresh: {DEPTHWISE}"
    assert any("2,500" in line for line in lines)
    overview = result_tables.overview({DEPTHWISE: runs}, fresh)
    assert "\n".join(lines) in overview
    assert overview.count("| kws |") == 1
    assert result_tables.unit_table({PUBLIC: runs}, fresh) == ""


def test_decoders_of_blocks_have_a_table_of_their_own() -> None:
    runs = [run(config="64-blocks"), run(config="256-blocks", cycles=2500, cycles_first=2600)]
    lines = result_tables.blocks_table({BLOCKS: runs, PUBLIC: runs}, fresh).splitlines()
    assert lines[0] == "| model | config | first inference | second one |"
    assert lines[3] == "| kws | `256-blocks` | 2,600 | 2,500 |"
    assert lines[-1] == f"fresh: {BLOCKS}"
    assert "kws" not in result_tables.overview({BLOCKS: runs}, fresh)


def test_runs_beside_vela_have_a_page() -> None:
    vela = {"accelerator": "ethos-u55-64", "cycles": 6000, "version": "5"}
    runs = [run(config="64", vela=vela), run()]
    page = vela_tables.vela_page({"docs/results/kws.json": runs}, fresh)
    assert page.splitlines()[-7:] == [
        "| model | config | cycles | accelerator | Vela's estimate | ratio |",
        "|---|---|---:|---|---:|---:|",
        "| kws | 64 | 4,000 | ethos-u55-64 | 6,000 | 1.50 |",
        "",
        "`kiwicha bench kws --config 64,simd --compare vela --json docs/results/kws.json`, Vela 5",
        "",
        "fresh: docs/results/kws.json",
    ]


def test_resources_are_one_table_above_the_commands() -> None:
    small = {"config": "baseline", "family": "xc7", "resources": {"LUT": 10}}
    files = {"area.json": AREA, "b.json": small}
    assert result_tables.overview(files, fresh).splitlines() == [
        "| CFU on xc7 | LUT | BRAM36 |",
        "|---|---:|---:|",
        "| `baseline` | 10 | 0 |",
        "| `simd` | 1,234 | 0.5 |",
        "",
        "measured with",
        "",
        "```",
        "kiwicha area --config simd --json area.json",
        "kiwicha area --config baseline --json b.json",
        "```",
        "",
        "fresh: area.json, b.json",
    ]


def test_each_family_has_its_own_table_of_resources() -> None:
    other = {"config": "64", "family": "ecp5", "resources": {"LUT": 26_000, "BRAM": 81}}
    lines = result_tables.overview({"area.json": AREA, "b.json": other}, fresh).splitlines()
    assert lines[:7] == [
        "| CFU on xc7 | LUT | BRAM36 |",
        "|---|---:|---:|",
        "| `simd` | 1,234 | 0.5 |",
        "",
        "| CFU on ecp5 | LUT | BRAM |",
        "|---|---:|---:|",
        "| `64` | 26,000 | 81 |",
    ]
    assert "kiwicha area --config 64 --family ecp5 --json b.json" in lines


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ([run(bit_exact=False)], "results must be bit-exact, not those of kws (f.json)"),
        ([run(config="7")], "config must be known, not 7 (f.json)"),
        ([{"model": "kws"}], "results must be those of kiwicha bench: 'bit_exact' (f.json)"),
        ({"config": "simd"}, "results must be those of kiwicha area: 'resources' (f.json)"),
    ],
)
def test_other_files_are_no_results(value: Any, text: str) -> None:
    with pytest.raises(UsageError) as caught:
        result_tables.overview({"f.json": value}, fresh)
    assert str(caught.value) == text


def test_the_page_of_results_has_the_largest_deviation_of_each_kind_of_layer() -> None:
    layers = [
        {"index": 0, "op": "CONV_2D", "where": "engine", "cycles": 10_000, "predicted": 10_400},
        {"index": 1, "op": "CONV_2D", "where": "engine", "cycles": 20_000, "predicted": 19_900},
        {"index": 2, "op": "SOFTMAX", "where": "cpu", "cycles": 400, "predicted": 600},
    ]
    runs = [run(config="64", predicted=30_900, layers=layers)]
    lines = result_tables.results_page({"a.json": runs}, {}, fresh).splitlines()
    at = lines.index("## Predictions, layer by layer")
    assert any(line.startswith("3 layers 1 are off by more.") for line in lines[at:])
    assert "| CONV_2D | engine | 2 | +4.0 % |  |" in lines[at:]
    assert "| SOFTMAX | cpu | 1 |  | +200 |" in lines[at:]
    (wrong,) = [line for line in lines[at:] if "400" in line and "600" in line]
    assert wrong.endswith("| 2 | SOFTMAX | 400 | 600 |")

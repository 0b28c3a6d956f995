"""Reports of runs."""

import dataclasses
import io
import itertools
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from rich.table import Table

from kiwicha.compiler import compile_model
from kiwicha.contract import cfu
from kiwicha.contract.configs import CONFIGS
from kiwicha.contract.layout import Ref
from kiwicha.contract.program import Kernel, Where
from kiwicha.program.engine_list import EngineList
from kiwicha.program.image import Program
from kiwicha.program.parts import Layer, Step
from kiwicha.program.step_lists import list_of
from kiwicha.report import run_report as report
from kiwicha.report import tables as report_tables
from tests.support.models.tflite_builder import ModelBuilder
from tests.support.programs.steps import whole_copy


def move() -> Step:
    return Step(Kernel.COPY, 0, whole_copy(Ref(0, 0), Ref(0, 0)))


def program() -> Program:
    steps = [Step(move().kernel, layer, move().params) for layer in (0, 2, 2)]
    return Program(
        config_hash=CONFIGS["simd"].hash,
        arena_bytes=16,
        inputs=(),
        outputs=(),
        layers=(
            Layer(0, "CONV_2D", (1, 2, 2, 8), 1000, Where.SIMD),
            Layer(1, "RESHAPE", (1, 32), 0, Where.NONE),
            Layer(2, "SOFTMAX", (1, 32), 0, Where.CPU),
        ),
        steps=tuple(steps),
        constants=b"",
    )


def make(**changes: Any) -> report.Report:
    values: dict[str, Any] = {
        "model": "toy",
        "config": CONFIGS["simd"],
        "target": "sim",
        "clock_hz": cfu.CLOCK_HZ,
        "step_cycles": [(900, 90, 9), (500, 40, 10)],
        "inference_cycles": [1100, 600],
        "bit_exact": True,
    }
    return report.make_report(program(), **values | changes)


def text(table: Table) -> list[list[str]]:
    out = io.StringIO()
    Console(file=out, width=200).print(table)
    rows = [line for line in out.getvalue().splitlines() if line.startswith("│")]
    return [[cell.strip() for cell in row.strip("│").split("│")] for row in rows]


def test_json_is_the_documented_object() -> None:
    assert make().to_json() == {
        "model": "toy",
        "config": "simd",
        "target": "sim",
        "memory": "ddr3-quarter-rate",
        "cycles": 600,
        "cycles_first": 1100,
        "macs": 1000,
        "utilization": 1000 / (600 * 4),
        "bit_exact": True,
        "clock_hz": 100_000_000,
        "layers": [
            {"index": 0, "op": "CONV_2D", "where": "simd", "cycles": 500, "macs": 1000},
            {"index": 1, "op": "RESHAPE", "where": "none", "cycles": 0, "macs": 0},
            {"index": 2, "op": "SOFTMAX", "where": "cpu", "cycles": 50, "macs": 0},
        ],
    }


def test_a_stream_has_a_period() -> None:
    value = dataclasses.replace(make(), period=612, copied_bytes=32)
    assert value.to_json()["period"] == 612
    assert value.to_json()["copied_bytes"] == 32
    assert ", 612 from one of a stream to the next, bit-exact" in report_tables.summary(value)
    shown = dataclasses.replace(value, predicted=590)
    (row,) = text(report_tables.bench_table([(shown, 1e6)]))
    assert row[3:6] == ["1,100", "600", "612"]


def test_what_was_not_simulated_has_no_cycles() -> None:
    value = make(step_cycles=(), inference_cycles=(), target="reference", bit_exact=None)
    json = value.to_json()
    assert [json[key] for key in ("cycles", "cycles_first", "utilization", "bit_exact")] == [
        None
    ] * 4
    assert {layer["cycles"] for layer in json["layers"]} == {None}
    assert report_tables.summary(value) == "toy on simd: 1,000 MACs"


def test_one_inference_is_first_and_last() -> None:
    value = make(step_cycles=[(900, 90, 9)], inference_cycles=[1100])
    assert (value.cycles, value.cycles_first) == (1100, 1100)


def test_utilization_counts_the_multipliers_of_the_configuration() -> None:
    value = make(config=CONFIGS["baseline"])
    assert value.utilization == pytest.approx(1000 / 600)
    assert CONFIGS["simd"].macs_per_cycle == cfu.LANES


def test_step_cycles_must_fit_the_program() -> None:
    with pytest.raises(ValueError, match="zip"):
        make(step_cycles=[(1, 2)])


def test_table_shows_layers_and_totals() -> None:
    rows = text(report_tables.layer_table(make()))
    assert rows == [
        ["0", "CONV_2D", "1x2x2x8", "1,000", "500", "2.000", "simd"],
        ["1", "RESHAPE", "1x32", "-", "0", "-", "none"],
        ["2", "SOFTMAX", "1x32", "-", "50", "-", "cpu"],
        ["", "total", "", "1,000", "600", "1.667", ""],
    ]


def test_table_with_others_shows_how_much_faster_the_run_is() -> None:
    base = make(step_cycles=[(5000, 60, 40)], inference_cycles=[6000])
    rows = text(report_tables.layer_table(make(), [report_tables.Beside.of(base)]))
    assert [row[-2:] for row in rows] == [
        ["5,000", "10.0x"],
        ["0", "-"],
        ["100", "2.0x"],
        ["6,000", "10.0x"],
    ]


def test_a_layer_that_another_run_has_not_is_a_dash() -> None:
    other = report_tables.Beside("64", 60, {0: 50})
    rows = text(report_tables.layer_table(make(), [other]))
    assert [row[-2:] for row in rows] == [["50", "0.1x"], ["-", "-"], ["-", "-"], ["60", "0.1x"]]


def test_summary_has_time_and_use_of_the_multipliers() -> None:
    assert report_tables.summary(make(bit_exact=False)) == (
        "toy on simd: 1,000 MACs, 600 cycles, 0.0 ms at 100 MHz, 41.7 % of the multipliers, "
        "NOT bit-exact"
    )


def test_bench_table_has_one_row_per_run() -> None:
    assert text(report_tables.bench_table([(make(), 1.25e6)])) == [
        ["toy", "simd", "1,000", "600", "1.667", "41.7 %", "0.0 ms", "1,250 k/s", "yes"]
    ]


def block() -> bytes:
    """Give two convolutions, and the sum of their output and their input."""
    builder, rng, shape = ModelBuilder(), np.random.default_rng(0), (1, 12, 12, 32)
    scales = (0.0437, 0.0317, 0.0359, 0.0491)
    images = [builder.tensor(shape, scale=scale, zero_point=3) for scale in scales]
    for x, y in itertools.pairwise(images[:3]):
        data = rng.integers(-127, 128, (32, 3, 3, 32), np.int8)
        weights = builder.tensor(data.shape, scale=0.0006, data=data)
        strides = {"strideH": 1, "strideW": 1}
        builder.operator("CONV_2D", [x, weights, -1], [y], padding=0, **strides)
    builder.operator("ADD", [images[2], images[0]], [images[3]])
    return builder.build([images[0]], [images[3]])


@pytest.mark.parametrize(("counts_there", "behind"), [(False, 1), (True, None)])
def test_a_sum_behind_a_convolution_names_it(
    counts_there: bool, behind: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = compile_model(block(), "64")
    if counts_there:

        def all_of_the_sum(program: Program, step: Step) -> EngineList:
            found = list_of(program, step)
            jobs = tuple(dataclasses.replace(job, layer=2) for job in found.jobs)
            return dataclasses.replace(found, jobs=jobs)

        monkeypatch.setattr(report, "list_of", all_of_the_sum)
    run = report.make_report(
        made,
        model="block",
        config=made.config,
        target="reference",
        clock_hz=cfu.CLOCK_HZ,
        step_cycles=(),
        inference_cycles=(),
        bit_exact=None,
    )
    assert [layer.behind for layer in run.layers] == [None, None, behind]
    assert [layer.get("behind") for layer in run.to_json()["layers"]] == [None, None, behind]

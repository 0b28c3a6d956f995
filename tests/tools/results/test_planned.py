"""Results that have no file yet."""

from pathlib import Path

import pytest

from kiwicha.boards.memories import memory_of
from kiwicha.contract.depthwise import UNIT_MACS
from kiwicha.contract.memories import MEMORIES
from kiwicha.gallery.catalogue import ARCHITECTURES
from kiwicha.mlperf.benchmarks import BENCHMARKS
from tools.results.planned import (
    BLOCKS,
    BOARDS,
    DEPTHWISE,
    FRONTEND,
    GALLERY,
    LARGE,
    PREDICTIONS,
    PUBLIC,
    RECURRENT,
    ROOM,
    SOFTMAX,
    STREAMING,
    planned,
)


def test_each_architecture_is_to_be_measured_once(tmp_path: Path) -> None:
    result = planned(tmp_path)[0]
    assert (result.name, result.path) == ("bench/gallery", GALLERY)
    models = list(dict.fromkeys(run["model"] for run in result.contents))
    assert sorted(model.partition("@")[0] for model in models) == sorted(ARCHITECTURES)
    command = f"kiwicha bench {' '.join(models)} --config 64,128 --compare vela --json {GALLERY}"
    assert result.command == command


def test_public_models_are_measured_on_both_engines_beside_vela(tmp_path: Path) -> None:
    result = planned(tmp_path)[1]
    assert (result.name, result.path) == ("bench/public", PUBLIC)
    models = list(dict.fromkeys(run["model"] for run in result.contents))
    assert {"mcunet_vww", "deeplabv3", "str_ww"} <= set(models)
    command = f"kiwicha bench {' '.join(models)} --config 64,128 --compare vela --json {PUBLIC}"
    assert result.command == command


def test_models_are_measured_with_the_memory_of_each_board(tmp_path: Path) -> None:
    found = {result.path: result for result in planned(tmp_path)}
    for board, path in BOARDS.items():
        result = found[path]
        models = " ".join(run["model"] for run in result.contents)
        command = f"kiwicha bench {models} --config 64 --board {board} --json {path}"
        assert result.command == command
    assert {memory_of(board) for board in (None, *BOARDS)} == set(MEMORIES.values())


def test_units_are_measured_beside_each_array_that_can_have_one(tmp_path: Path) -> None:
    (result,) = (one for one in planned(tmp_path) if one.path == DEPTHWISE)
    assert result.name == "bench/depthwise"
    models = " ".join(dict.fromkeys(run["model"] for run in result.contents))
    assert {"person_detect", "mnv2"} <= set(models.split())
    configs = ",".join(f"{macs}-depthwise" for macs in UNIT_MACS)
    assert result.command == f"kiwicha bench {models} --config {configs} --json {DEPTHWISE}"


def test_what_weights_on_chip_gain_is_measured_beside_what_decoders_do(tmp_path: Path) -> None:
    result = next(result for result in planned(tmp_path) if result.path == BLOCKS)
    configs = (
        "64-blocks,64-blocks-resident,128-blocks,128-blocks-resident,256-blocks,256-blocks-resident"
    )
    assert result.command == f"kiwicha bench ad --config {configs} --json {BLOCKS}"


def test_large_models_are_measured_where_products_are_packed(tmp_path: Path) -> None:
    result = next(result for result in planned(tmp_path) if result.path == LARGE)
    models = "mobilenet_v2 resnet_large"
    assert result.command == f"kiwicha bench {models} --config 128,256 --json {LARGE}"
    result = next(result for result in planned(tmp_path) if result.path == ROOM)
    configs = "128-128k-depthwise,256-128k-depthwise"
    assert result.command == f"kiwicha bench {models} mnv2 --config {configs} --json {ROOM}"


def test_configurations_with_more_are_synthesised_for_a_larger_part(tmp_path: Path) -> None:
    commands = {result.name: result.command for result in planned(tmp_path)}
    path = "docs/results/boards/arty_a7_100-256-depthwise.json"
    assert commands["boards/arty_a7_100-256-depthwise"] == (
        f"kiwicha build arty_a7_100 --config 256-depthwise --clock 100 --no-compile --json {path}"
    )
    for config in ("64-depthwise", "128-depthwise", "256-depthwise", "64-blocks"):
        path = f"docs/results/area/{config}.json"
        assert commands[f"area/{config}"] == f"kiwicha area --config {config} --json {path}"
        path = f"docs/results/timing/{config}.json"
        words = f"--config {config} --board arty_a7_100"
        assert commands[f"timing/{config}"] == f"kiwicha timing {words} --json {path}"


def test_models_with_memory_are_measured_on_both_engines_and_the_frontend_without(
    tmp_path: Path,
) -> None:
    commands = {one.path: one.command for one in planned(tmp_path)}
    assert commands[STREAMING] == (
        "kiwicha bench okay_nabu keyword_scrambled mnist_lstm --config 64,128 --compare vela "
        f"--json {STREAMING}"
    )
    assert commands[FRONTEND] == (
        f"kiwicha bench audio_preprocessor --config simd --json {FRONTEND}"
    )


def test_energies_are_those_of_the_benchmarks_a_file_for_each_model(tmp_path: Path) -> None:
    commands = {one.name: one.command for one in planned(tmp_path)}
    assert {name for name in commands if name.startswith("energy/")} == {
        f"energy/{benchmark.model}" for benchmark in BENCHMARKS
    }
    path = "docs/results/energy/resnet8.json"
    assert commands["energy/resnet8"] == f"kiwicha energy resnet8 --config 64 --json {path}"


_OTHERS = [
    "docs/results/energy/kws.json",
    *(f"docs/results/area/{config}.json" for config in ("64-depthwise", "64-blocks")),
    "docs/results/boards/arty_a7_100-256.json",
]


_RUNS = [GALLERY, PUBLIC, SOFTMAX, STREAMING, RECURRENT, FRONTEND, PREDICTIONS, DEPTHWISE, LARGE]
_RUNS += [ROOM, BLOCKS]


@pytest.mark.parametrize("there", [*_RUNS, *BOARDS.values(), *_OTHERS])
def test_what_is_there_is_not_planned(there: str, tmp_path: Path) -> None:
    before = [result.path for result in planned(tmp_path)]
    path = tmp_path / there
    path.parent.mkdir(parents=True)
    path.write_text("[]")
    assert [result.path for result in planned(tmp_path)] == [n for n in before if n != there]

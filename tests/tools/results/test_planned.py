"""Results that have no file yet."""

from pathlib import Path

import pytest

from kiwicha.boards.memories import memory_of
from kiwicha.contract.depthwise import UNIT_MACS
from kiwicha.contract.memories import MEMORIES
from kiwicha.gallery.catalogue import ARCHITECTURES
from tools.results.planned import (
    BOARDS,
    DEPTHWISE,
    FRONTEND,
    GALLERY,
    PREDICTIONS,
    PUBLIC,
    STREAMING,
    planned,
)

EACH = GALLERY, PUBLIC, STREAMING, FRONTEND, PREDICTIONS, DEPTHWISE, *BOARDS.values()


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
    for (board, path), result in zip(
        BOARDS.items(), planned(tmp_path)[-len(BOARDS) :], strict=True
    ):
        models = " ".join(run["model"] for run in result.contents)
        command = f"kiwicha bench {models} --config 64 --board {board} --json {path}"
        assert result.command == command
    assert {memory_of(board) for board in (None, *BOARDS)} == set(MEMORIES.values())


def test_units_are_measured_beside_each_array_that_can_have_one(tmp_path: Path) -> None:
    result = planned(tmp_path)[5]
    assert (result.name, result.path) == ("bench/depthwise", DEPTHWISE)
    models = " ".join(dict.fromkeys(run["model"] for run in result.contents))
    assert {"person_detect", "mnv2"} <= set(models.split())
    configs = ",".join(f"{macs}-depthwise" for macs in UNIT_MACS)
    assert result.command == f"kiwicha bench {models} --config {configs} --json {DEPTHWISE}"


def test_models_with_memory_are_measured_on_both_engines_and_the_frontend_without(
    tmp_path: Path,
) -> None:
    streaming, frontend = planned(tmp_path)[2:4]
    assert streaming.command == (
        f"kiwicha bench okay_nabu keyword_scrambled mnist_lstm --config 64,128 --json {STREAMING}"
    )
    assert frontend.command == (f"kiwicha bench audio_preprocessor --config simd --json {FRONTEND}")


@pytest.mark.parametrize("there", EACH)
def test_what_is_there_is_not_planned(there: str, tmp_path: Path) -> None:
    path = tmp_path / there
    path.parent.mkdir(parents=True)
    path.write_text("[]")
    left = [name for name in EACH if name != there]
    assert [result.path for result in planned(tmp_path)] == left

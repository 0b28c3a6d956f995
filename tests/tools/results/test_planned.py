"""Results that have no file yet."""

from pathlib import Path

import pytest

from kiwicha.gallery.catalogue import ARCHITECTURES
from tools.results.planned import GALLERY, PUBLIC, planned


def test_each_architecture_is_to_be_measured_once(tmp_path: Path) -> None:
    result, _ = planned(tmp_path)
    assert (result.name, result.path) == ("bench/gallery", GALLERY)
    models = list(dict.fromkeys(run["model"] for run in result.contents))
    assert sorted(model.partition("@")[0] for model in models) == sorted(ARCHITECTURES)
    command = f"kiwicha bench {' '.join(models)} --config 64,128 --compare vela --json {GALLERY}"
    assert result.command == command


def test_public_models_are_measured_on_both_engines_beside_vela(tmp_path: Path) -> None:
    _, result = planned(tmp_path)
    assert (result.name, result.path) == ("bench/public", PUBLIC)
    models = list(dict.fromkeys(run["model"] for run in result.contents))
    assert {"mcunet_vww", "deeplabv3", "str_ww"} <= set(models)
    command = f"kiwicha bench {' '.join(models)} --config 64,128 --compare vela --json {PUBLIC}"
    assert result.command == command


@pytest.mark.parametrize(("there", "left"), [(GALLERY, [PUBLIC]), (PUBLIC, [GALLERY])])
def test_what_is_there_is_not_planned(there: str, left: list[str], tmp_path: Path) -> None:
    path = tmp_path / there
    path.parent.mkdir(parents=True)
    path.write_text("[]")
    assert [result.path for result in planned(tmp_path)] == left

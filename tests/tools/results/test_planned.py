"""Results that have no file yet."""

from pathlib import Path

from kiwicha.gallery.catalogue import ARCHITECTURES
from tools.results.planned import GALLERY, planned


def test_each_architecture_is_to_be_measured_once(tmp_path: Path) -> None:
    (result,) = planned(tmp_path)
    assert (result.name, result.path) == ("bench/gallery", GALLERY)
    models = list(dict.fromkeys(run["model"] for run in result.contents))
    assert sorted(model.partition("@")[0] for model in models) == sorted(ARCHITECTURES)
    command = f"kiwicha bench {' '.join(models)} --config 64,128 --compare vela --json {GALLERY}"
    assert result.command == command


def test_nothing_is_planned_once_it_is_there(tmp_path: Path) -> None:
    path = tmp_path / GALLERY
    path.parent.mkdir(parents=True)
    path.write_text("[]")
    assert planned(tmp_path) == []

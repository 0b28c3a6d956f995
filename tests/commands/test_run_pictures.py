"""What public models see on photographs, in words and in pictures."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.support import requirements
from tests.support.commands.command_line import Command
from tests.support.oracle import oracle
from tests.support.requirements import REPOSITORY


def test_the_answer_is_that_of_litert(
    kiwicha: Command, zoo_model, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = zoo_model("mobilenet_v2_1.0_224_quant")
    monkeypatch.setenv("KIWICHA_MODELS", str(path.parent))
    photograph = requirements.find_in_models("inputs/grace_hopper.bmp")
    with Image.open(photograph) as opened:
        picture = opened.convert("RGB").resize((224, 224), Image.Resampling.BILINEAR)
    case = oracle.Case(path.read_bytes(), (np.asarray(picture, np.uint8)[None],))
    (answer,) = oracle.ask([case], oracle.LITERT)
    assert answer.outputs is not None
    code, out, err = kiwicha.reference(
        "mobilenet_v2", "--input", photograph, "--config", "baseline"
    )
    assert code == 0, err
    # The output's scale is 1/256.
    score = 100 * int(answer.outputs[0].max()) / 256
    *_, words, others = out.splitlines()
    assert words == f"answer: military uniform ({score:.1f} %)"
    assert others.startswith("then: ")
    assert others.count(" %)") == 4


def test_boxes_of_no_detector_are_refused_in_a_line(tmp_path: Path) -> None:
    script = REPOSITORY / "docs" / "examples" / "draw_boxes.py"
    model = tmp_path / "m.tflite"
    model.write_bytes(b"no model")
    done = subprocess.run(
        [sys.executable, script, model, "a.png"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith("draw_boxes: ")
    assert "the file must be a TFLite model" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_boxes_are_drawn(zoo_model, tmp_path: Path) -> None:
    photograph = requirements.find_in_models("inputs/cat.bmp")
    boxes = tmp_path / "boxes.png"
    script = REPOSITORY / "docs" / "examples" / "draw_boxes.py"
    words = [zoo_model("ssd_mobilenet_v1_coco_quant"), photograph, "--config", "baseline"]
    labels = requirements.find_in_models("inputs/coco_labels.txt")
    command = [sys.executable, script, *words, "--labels", labels, "-o", boxes]
    subprocess.run(list(map(str, command)), check=True)
    with Image.open(photograph) as opened, Image.open(boxes) as drawn:
        before, after = (np.asarray(image.convert("RGB")) for image in (opened, drawn))
    is_drawn = (before != after).any(axis=2)
    assert (after[is_drawn] == (0, 255, 0)).all(axis=1).sum() > 1000, "lime"
    rows, columns = is_drawn.any(axis=1).sum(), is_drawn.any(axis=0).sum()
    # The cat fills most of the picture.
    assert rows > 0.5 * before.shape[0]
    assert columns > 0.3 * before.shape[1]


def test_a_picture_for_a_model_of_sound_is_refused(
    kiwicha: Command, zoo_model, tmp_path: Path
) -> None:
    path = zoo_model("mlperf_kws_ref_model")
    picture = tmp_path / "yes.png"
    Image.new("L", (10, 49)).save(picture)
    code, _, err = kiwicha.reference(path, "--input", picture, "--config", "baseline")
    assert code == 2
    assert "must be features of sound (int8 1x49x10x1, 490 bytes), not a picture (" in err

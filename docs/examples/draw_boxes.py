"""Draw what a detector sees on a picture.

``python docs/examples/draw_boxes.py MODEL PICTURE --labels LABELS -o boxes.png``
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from kiwicha.errors import KiwichaError
from kiwicha.interpreter.executors import TARGETS
from kiwicha.interpreter.interpreter import Interpreter

LEAST_SCORE = 0.5


def main(words: Sequence[str] | None = None) -> None:
    """Find boxes with the chosen target and draw those that are more likely than not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path, help="such as ssd_mobilenet_v1_coco_quant.tflite")
    parser.add_argument("picture", type=Path)
    parser.add_argument("--labels", type=Path, help="names of the classes, a line for each")
    parser.add_argument("--config", default="64")
    parser.add_argument("--target", choices=TARGETS, default="native")
    parser.add_argument("-o", "--output", type=Path, default=Path("boxes.png"))
    chosen = parser.parse_args(words)
    labels = chosen.labels.read_text(encoding="utf-8").splitlines() if chosen.labels else []

    interpreter = Interpreter(model_path=chosen.model, config=chosen.config, target=chosen.target)
    interpreter.allocate_tensors()
    (image,) = interpreter.get_input_details()
    _, height, width, _ = image["shape"]
    with Image.open(chosen.picture) as opened:
        picture = opened.convert("RGB")
    resized = picture.resize((int(width), int(height)), Image.Resampling.BILINEAR)
    interpreter.set_tensor(image["index"], np.asarray(resized, image["dtype"])[None])
    interpreter.invoke()
    boxes, classes, scores, _ = (
        interpreter.get_tensor(details["index"])[0] for details in interpreter.get_output_details()
    )

    draw = ImageDraw.Draw(picture)
    sizes = np.array([picture.height, picture.width] * 2)
    for box, number, score in zip(boxes * sizes, classes.astype(int), scores, strict=True):
        if score < LEAST_SCORE:
            continue
        top, left, bottom, right = box.tolist()
        name = labels[number] if number < len(labels) else f"class {number}"
        draw.rectangle((left, top, right, bottom), outline="lime", width=3)
        draw.text((left + 6, top + 6), f"{name} {100 * score:.0f} %", fill="lime", font_size=18)
    picture.save(chosen.output)


if __name__ == "__main__":
    try:
        main()
    except (KiwichaError, OSError) as error:
        sys.exit(f"draw_boxes: {error}")

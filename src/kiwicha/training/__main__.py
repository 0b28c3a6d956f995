"""Trains, evaluates and writes the demo model: ``python -m kiwicha.training``."""

import argparse
import hashlib
import time
from dataclasses import dataclass
from pathlib import Path

import torch
from rich.console import Console

from kiwicha.training.augmentation import Composer
from kiwicha.training.convert import convert
from kiwicha.training.dataset import Split, enlarge, load_patches, split_folds
from kiwicha.training.evaluate import Confusion, classify
from kiwicha.training.network import predict, train

STEPS = 2000
SEED = 1
CALIBRATION_PICTURES, CALIBRATION_SEED = 256, 2
TEST_PICTURES, TEST_SEED = 400, 3


def main() -> None:
    """Parse the command line and do what it asks."""
    parser = argparse.ArgumentParser(prog="python -m kiwicha.training", description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=Path("build/face_detect.tflite"))
    parser.add_argument("--steps", type=int, default=STEPS, help="batches per network")
    parser.add_argument(
        "--cross-validate", action="store_true", help="train and evaluate all folds, not only one"
    )
    arguments = parser.parse_args()
    console = Console(markup=False, emoji=False, highlight=False)
    # One thread: sums are then added in the same order every time.
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    splits = split_folds(load_patches(), seed=SEED)
    # The model of the first fold is the one to keep: its held-out part was never learnt from.
    model, result = _run_fold(console, splits[0], 0, arguments.steps)
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_bytes(model)
    digest = hashlib.sha256(model).hexdigest()
    console.print(f"{arguments.output}: {len(model)} bytes, sha256 {digest}", soft_wrap=True)
    if arguments.cross_validate:
        _cross_validate(console, splits, result, arguments.steps)


@dataclass(frozen=True)
class Result:
    """Accuracy on held-out patches and on pictures composed from them."""

    float_plain: Confusion
    int8_plain: Confusion
    float_composed: Confusion
    int8_composed: Confusion

    def __add__(self, other: "Result") -> "Result":
        """Join the counts of two folds."""
        pairs = zip(self._counts(), other._counts(), strict=True)
        return Result(*(one + following for one, following in pairs))

    def __str__(self) -> str:
        """Say each accuracy on a line."""
        names = ("patches, float", "patches, int8", "composed, float", "composed, int8")
        rows = zip(names, self._counts(), strict=True)
        return "\n".join(f"  {name:<16} {confusion}" for name, confusion in rows)

    def _counts(self) -> tuple[Confusion, ...]:
        return self.float_plain, self.int8_plain, self.float_composed, self.int8_composed


def _run_fold(console: Console, split: Split, fold: int, steps: int) -> tuple[bytes, Result]:
    """Train on one fold, quantize, and report the accuracy on its held-out part."""
    start = time.monotonic()

    def report(step: int, loss: float) -> None:
        if (step + 1) % 250 == 0:
            console.print(f"  step {step + 1}: loss {loss:.3f}, {time.monotonic() - start:.0f} s")

    console.print(f"fold {fold}: {len(split.train)} to learn from, {len(split.held_out)} held out")
    network = train(split.train, steps=steps, seed=SEED, report=report)
    calibration = Composer.of(split.train, CALIBRATION_SEED).compose_labelled(CALIBRATION_PICTURES)
    model = convert(network, calibration.images)
    confusions = []
    composed = Composer.of(split.held_out, TEST_SEED).compose_labelled(TEST_PICTURES)
    for pictures in (enlarge(split.held_out), composed):
        for answers in (predict(network, pictures.images), classify(model, pictures.images)):
            confusions.append(Confusion.of(pictures.labels, answers))
    result = Result(*confusions)
    console.print(str(result), soft_wrap=True)
    return model, result


def _cross_validate(console: Console, splits: list[Split], first: Result, steps: int) -> None:
    """Train on the folds after the first and report the accuracy over all patches."""
    total = first
    for fold, split in enumerate(splits[1:], start=1):
        total += _run_fold(console, split, fold, steps)[1]
    console.print(f"all folds\n{total}", soft_wrap=True)


if __name__ == "__main__":
    main()

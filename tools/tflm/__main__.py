"""Writes docs/guides/tflm-models.json: ``python -m tools.tflm TREE MODELS``.

TREE is a checkout of TensorFlow Lite Micro that its own build has built for this machine, MODELS a
folder of ``.tflite`` files.
"""

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import typer

from kiwicha.contract.configs import find_config
from kiwicha.errors import KiwichaError
from kiwicha.tflm import divide
from tools.tflm.application import RefusedError, Tree, build_plain, build_with_operator, noise, run

__all__ = ["compare"]

_RESULTS = Path(__file__).parents[2] / "docs" / "guides" / "tflm-models.json"
_INFERENCES = 3
_SEED = 1


def compare(tree: Tree, plain: Path, model: Path, folder: Path) -> dict[str, Any]:
    """Return what came of a model.

    Parameters
    ----------
    tree : Tree
        Built.
    plain : Path
        From `build_plain`.
    model : Path
        A ``.tflite`` file.
    folder : Path
        Receives everything.

    Returns
    -------
    dict
        ``programs`` and ``operators`` that are left; ``outcome`` is ``equal`` or ``different``, or
        says who refuses, and ``reason`` why; ``bytes``, that were compared.
    """
    try:
        partitioned = divide(model.read_bytes(), find_config("baseline"))
    except KiwichaError as error:
        return {"outcome": "refused by Kiwicha", "reason": str(error).splitlines()[0]}
    facts = {"programs": len(partitioned.partitions), "operators": len(partitioned.left)}
    inputs = noise(partitioned, _INFERENCES, _SEED)
    folder.mkdir(parents=True)
    try:
        expected = run(plain, model, inputs, folder)
    except RefusedError as error:
        refusal = "refused by TensorFlow Lite Micro without the operator"
        return {**facts, "outcome": refusal, "reason": str(error)}
    application, written = build_with_operator(tree, folder, model.stem, partitioned)
    try:
        found = run(application, written, inputs, folder)
    except RefusedError as error:
        refusal = "refused by TensorFlow Lite Micro with the operator"
        return {**facts, "outcome": refusal, "reason": str(error)}
    return {
        **facts,
        "outcome": "equal" if found == expected else "different",
        "bytes": len(expected),
    }


def main() -> None:
    """Compare all models of a folder."""
    parser = argparse.ArgumentParser(prog="python -m tools.tflm", description=__doc__)
    parser.add_argument("tree", type=Path)
    parser.add_argument("models", type=Path)
    words = parser.parse_args()
    tree, found = Tree(words.tree.resolve()), {}
    with tempfile.TemporaryDirectory(prefix="kiwicha-") as name:
        plain = build_plain(tree, Path(name) / "plain")
        for model in sorted(words.models.glob("*.tflite")):
            found[model.stem] = compare(tree, plain, model.resolve(), Path(name) / model.stem)
            typer.echo(f"{model.stem}: {found[model.stem]['outcome']}")
    facts = {"tflm_commit": tree.commit, "inferences": _INFERENCES, "models": found}
    _RESULTS.parent.mkdir(parents=True, exist_ok=True)
    _RESULTS.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""Compares public models in TensorFlow Lite Micro, with the operator and without it.

``python -m tools.tflm`` takes a user's tree of TensorFlow Lite Micro, by default what ``TFLM``
names, and all models that have a name. The host's compiler compiles the operator, its C library for
``baseline``, and two applications, which differ in the operator alone.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kiwicha import cache
from kiwicha.contract.configs import find_config
from kiwicha.errors import KiwichaError, UsageError
from kiwicha.tflm import Partitioned, divide
from kiwicha.zoo import models as zoo
from tools.tflm.application import (
    RefusedError,
    Tree,
    build_plain,
    build_with_operator,
    library_files,
    noise,
    run,
)

__all__ = ["EQUAL", "REFUSED", "TREE_VARIABLE", "compare", "fingerprint", "main"]

TREE_VARIABLE = "TFLM"
"""Environment variable with the tree."""
EQUAL = "equal"
REFUSED = "refused by TensorFlow Lite Micro without the operator"
"""Outcomes that are good: there is nothing to compare with where it refuses a model itself."""
_INFERENCES = 3
_SEED = 1
_CODE = (".c", ".cc", ".h")
_MODEL, _FILE = "model/", ".tflite"


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
        Receives everything; for several models, one after the other.

    Returns
    -------
    dict
        ``programs`` and ``operators`` that are left; ``outcome`` is ``equal`` or ``different``, or
        says who refuses, and ``reason`` why; ``bytes``, that were compared; ``inputs``, the hashes
        of model and library.
    """
    try:
        partitioned = _divided(model)
    except KiwichaError as error:
        return {"outcome": "refused by Kiwicha", "reason": str(error).splitlines()[0]}
    files = library_files(model.stem, partitioned)
    facts: dict[str, Any] = {
        "programs": len(partitioned.partitions),
        "operators": len(partitioned.left),
        "inputs": _hashes(files),
    }
    inputs = noise(partitioned, _INFERENCES, _SEED)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        expected = run(plain, model, inputs, folder)
    except RefusedError as error:
        return {**facts, "outcome": REFUSED, "reason": str(error)}
    application, written = build_with_operator(tree, folder, model.stem, files)
    try:
        found = run(application, written, inputs, folder)
    except RefusedError as error:
        refusal = "refused by TensorFlow Lite Micro with the operator"
        return {**facts, "outcome": refusal, "reason": str(error)}
    return {
        **facts,
        "outcome": EQUAL if found == expected else "different",
        "bytes": len(expected),
    }


def fingerprint(names: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return hashes of what would be compared now, by model; without those that we refuse.

    Parameters
    ----------
    names : iterable of str
        Of models.
    """
    found = {}
    for name in names:
        path = zoo.resolve(name)[1]
        try:
            found[name] = _hashes(library_files(path.stem, _divided(path)))
        except KiwichaError:
            continue
    return found


def _divided(model: Path) -> Partitioned:
    return divide(model.read_bytes(), find_config("baseline"))


def _hashes(files: Mapping[str, bytes]) -> dict[str, str]:
    """Return a hash of the code that is compiled, and one of the model with its Programs."""
    code: list[str | bytes] = []
    program: list[str | bytes] = []
    for path, raw in sorted(files.items()):
        if path.startswith(_MODEL) or path.endswith(_FILE):
            program += [path, raw]
        elif path.endswith(_CODE):
            code += [path, raw]
    return {"firmware": cache.digest(code), "program": cache.digest(program)}


def main(words: Sequence[str] | None = None) -> int:
    """Compare models; return 1 if outputs of one differ, or the operator refuses it."""
    parser = argparse.ArgumentParser(prog="python -m tools.tflm", description=__doc__)
    parser.add_argument("models", nargs="*", help="by default all that have a name")
    parser.add_argument("--tree", type=Path, help=f"by default what {TREE_VARIABLE} names")
    parser.add_argument("--json", type=Path, help="receives what came of it")
    chosen = parser.parse_args(words)
    place = chosen.tree or os.environ.get(TREE_VARIABLE)
    if place is None:
        raise UsageError(f"{TREE_VARIABLE} or --tree must name a tree of TensorFlow Lite Micro")
    tree, found = Tree(Path(place).resolve()), {}
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="kiwicha-") as name:
        plain = build_plain(tree, Path(name) / "plain")
        for model in chosen.models or [item.name for item in zoo.entries()]:
            path = zoo.resolve(model)[1].resolve()
            found[model] = compare(tree, plain, path, Path(name) / "library")
            sys.stdout.write(f"{model}: {found[model]['outcome']}\n")
            sys.stdout.flush()
    if chosen.json is not None:
        facts = {
            "tflm_commit": tree.commit,
            "inferences": _INFERENCES,
            "models": found,
            "seconds": round(time.monotonic() - begin),
        }
        chosen.json.parent.mkdir(parents=True, exist_ok=True)
        chosen.json.write_text(f"{json.dumps(facts, indent=2)}\n", encoding="utf-8")
    return int(any(one["outcome"] not in {EQUAL, REFUSED} for one in found.values()))


if __name__ == "__main__":
    sys.exit(main())

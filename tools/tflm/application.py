"""The application: compiled with a user's tree of TensorFlow Lite Micro, which that has built."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kiwicha import tools
from kiwicha.errors import ToolError
from kiwicha.tflm import Partitioned, tflm_files, write_model

__all__ = ["RefusedError", "Tree", "build_plain", "build_with_operator", "noise", "run"]

_SOURCE = Path(__file__).with_name("application.cpp")
_LIBRARY = "gen/*/lib/libtensorflow-microlite.a"
_DOWNLOADS = "tensorflow/lite/micro/tools/make/downloads"
_DEPENDENCIES = ("flatbuffers/include", "gemmlowp", "ruy")
_ARENA_STATUS = 3
"""With which the application ends if TensorFlow Lite Micro refuses the model."""


class RefusedError(Exception):
    """TensorFlow Lite Micro refuses a model; the text is what it says of it."""


@dataclass(frozen=True)
class Tree:
    """A tree of TensorFlow Lite Micro.

    Parameters
    ----------
    folder : Path
        Its root.
    """

    folder: Path

    @property
    def library(self) -> Path:
        """Its library for this machine, made by its own build."""
        found = sorted(self.folder.glob(_LIBRARY))
        if len(found) != 1:
            raise ToolError(
                f"TFLM must be a tree in which its own build has made one {_LIBRARY}, not "
                f"{len(found)} ({self.folder})"
            )
        return found[0]

    @property
    def commit(self) -> str:
        """The commit that is checked out."""
        command = ["git", "-C", str(self.folder), "rev-parse", "HEAD"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise ToolError(f"TFLM must be a git checkout: {done.stderr.strip()} ({self.folder})")
        return done.stdout.strip()

    @property
    def flags(self) -> tuple[str, ...]:
        """Options of compilers: what its own build sets, and where its headers are."""
        downloads = self.folder / _DOWNLOADS
        folders = (self.folder, *(downloads / name for name in _DEPENDENCIES))
        return (
            "-DTF_LITE_STATIC_MEMORY",
            *(word for item in folders for word in ("-isystem", str(item))),
        )


def build_plain(tree: Tree, folder: Path) -> Path:
    """Compile the application without our operator, and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    return _linked(tree, folder, [])


def build_with_operator(
    tree: Tree, folder: Path, name: str, partitioned: Partitioned
) -> tuple[Path, Path]:
    """Compile library and application; return the application and the model.

    Parameters
    ----------
    tree : Tree
        What it is built against.
    folder : Path
        Receives the library of the model.
    name : str
        Of the model.
    partitioned : Partitioned
        Compiled for ``baseline``.
    """
    model = write_model(name, partitioned)
    for path, raw in tflm_files(name, partitioned, model).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(raw)
    command = [*tools.make().command, "-s", f"-j{tools.cores()}", f"TFLM={tree.folder}"]
    command += [f"TFLM_FLAGS={' '.join(tree.flags)}", "CFLAGS=-O2 -Werror"]
    tools.run(command, name="make", folder=folder)
    # All of the archive: the kernels of the model, which is read from a file here.
    words = ["-DKIWICHA_OPERATOR", f"-I{folder}", "-x", "c", "platform/platform.c", "-x", "none"]
    words += ["-Wl,--whole-archive", "build/libkiwicha.a", "-Wl,--no-whole-archive"]
    return _linked(tree, folder, words), folder / f"{name}.kiwicha.tflite"


def _linked(tree: Tree, folder: Path, words: list[str]) -> Path:
    command = [*tools.cxx().command, "-std=c++17", "-O1", *tree.flags, "-x", "c++", str(_SOURCE)]
    command += [*(words or ["-x", "none"]), str(tree.library), "-o", "application"]
    tools.run(command, name="the host's compiler", folder=folder)
    return folder / "application"


def run(application: Path, model: Path, inputs: bytes, folder: Path) -> bytes:
    """Return the outputs of all inferences.

    Parameters
    ----------
    application, model : Path
        What is run.
    inputs : bytes
        Of all inferences.
    folder : Path
        Receives inputs and outputs.

    Raises
    ------
    RefusedError
        If TensorFlow Lite Micro refuses the model.
    ToolError
        If the application fails otherwise.
    """
    given, results = folder / "inputs.bin", folder / "outputs.bin"
    given.write_bytes(inputs)
    command = [str(application), str(model), str(given), str(results)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode == _ARENA_STATUS:
        raise RefusedError(" ".join(done.stderr.split()))
    if done.returncode:
        raise ToolError(
            f"the application must end with 0, not {done.returncode}: {done.stderr} ({model})"
        )
    return results.read_bytes()


def noise(partitioned: Partitioned, count: int, seed: int) -> bytes:
    """Return random inputs for so many inferences, the same for the same seed.

    Parameters
    ----------
    partitioned : Partitioned
        The model.
    count, seed : int
        How many, and of what.
    """
    generator = np.random.default_rng(seed)
    parts: list[bytes] = []
    for _ in range(count):
        for index in partitioned.source.inputs:
            tensor = partitioned.source.tensors[index]
            size = int(np.prod(tensor.shape or ()))
            if tensor.type == 0:
                parts.append(generator.standard_normal(size, np.float32).tobytes())
            else:
                width = {2: 4, 4: 8, 7: 2}.get(tensor.type, 1)
                parts.append(generator.bytes(size * width))
    return b"".join(parts)

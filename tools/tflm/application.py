"""The application: compiled with a user's tree of TensorFlow Lite Micro, which that has built."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kiwicha import tools
from kiwicha.errors import ToolError
from kiwicha.tflm import Partitioned, tflm_files, write_model

__all__ = [
    "RefusedError",
    "Tree",
    "build_plain",
    "build_with_operator",
    "library_files",
    "noise",
    "run",
]

_SOURCE = Path(__file__).with_name("application.cpp")
_LIBRARY = "gen/*/lib/libtensorflow-microlite.a"
_MAKEFILE = "tensorflow/lite/micro/tools/make/Makefile"
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
        """Its library for this machine; its own build makes it if it is not there.

        That downloads what it depends on, and takes minutes.
        """
        found = self._libraries()
        if not found and (self.folder / _MAKEFILE).is_file():
            command = [*tools.make().command, "-f", _MAKEFILE, f"-j{tools.cores()}", "microlite"]
            # Its scripts import numpy and Pillow, which this interpreter has.
            search = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
            name = "the build of TensorFlow Lite Micro"
            tools.run(command, name=name, folder=self.folder, environment={"PATH": search})
            found = self._libraries()
        if len(found) != 1:
            raise ToolError(
                f"TFLM must be a tree in which its own build has made one {_LIBRARY}, not "
                f"{len(found)} ({self.folder})"
            )
        return found[0]

    def _libraries(self) -> list[Path]:
        return sorted(self.folder.glob(_LIBRARY))

    @property
    def commit(self) -> str:
        """The commit that is checked out; ``-dirty`` follows it if files of it have changed."""
        command = ["git", "-C", str(self.folder), "describe", "--always", "--abbrev=40"]
        command += ["--exclude=*", "--dirty"]
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
    return _linked(tree, folder, [], [])


def library_files(name: str, partitioned: Partitioned) -> dict[str, bytes]:
    """Return what ``kiwicha compile --format tflite`` writes for a model, by path.

    Parameters
    ----------
    name : str
        Of the model.
    partitioned : Partitioned
        What is computed by Programs.
    """
    return tflm_files(name, partitioned, write_model(name, partitioned))


def build_with_operator(
    tree: Tree, folder: Path, name: str, files: Mapping[str, bytes]
) -> tuple[Path, Path]:
    """Compile library and application; return the application and the model.

    Parameters
    ----------
    tree : Tree
        What it is built against.
    folder : Path
        Receives the library. It may have that of another model: what both share is compiled once.
    name : str
        Of the model.
    files : mapping
        From `library_files`, for ``baseline``.
    """
    archive = folder / "build" / "libkiwicha.a"
    for old in (archive, *folder.glob("model/*.[ch]")):
        old.unlink(missing_ok=True)
    for path, raw in files.items():
        place = folder / path
        # What is as it was keeps its time, and make does not compile it anew.
        if not place.exists() or place.read_bytes() != raw:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(raw)
    command = [*tools.make().command, "-s", f"-j{tools.cores()}", f"TFLM={tree.folder}"]
    command += [f"TFLM_FLAGS={' '.join(tree.flags)}", "CFLAGS=-O2 -Werror"]
    tools.run(command, name="make", folder=folder)
    # All of the archive: the kernels of the model, which is read from a file here.
    parts = ["-x", "c", "platform/platform.c", "-x", "none", f"-I{folder}"]
    parts += ["-Wl,--whole-archive", str(archive), "-Wl,--no-whole-archive"]
    application = _linked(tree, folder, ["-DKIWICHA_OPERATOR", f"-I{folder}"], parts)
    return application, folder / f"{name}.kiwicha.tflite"


def _linked(tree: Tree, folder: Path, flags: Sequence[str], parts: Sequence[str]) -> Path:
    """Compile the application, if it is not there from another model, and link it."""
    folder.mkdir(parents=True, exist_ok=True)
    cxx, name = tools.cxx().command, "the host's compiler"
    compiled = folder / "application.o"
    if not compiled.exists():
        words = ["-std=c++17", "-O1", *tree.flags, *flags, "-c", str(_SOURCE), "-o", str(compiled)]
        tools.run([*cxx, *words], name=name, folder=folder)
    words = [str(compiled), *parts, str(tree.library), "-o", "application"]
    tools.run([*cxx, *words], name=name, folder=folder)
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

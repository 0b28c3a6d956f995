"""Public models by name: where they come from, what their bytes must hash to, where they are here.

A model is looked for in the folders of ``KIWICHA_MODELS``, then among those fetched before. A file
counts only if its sha256 is the listed one.
"""

import difflib
import functools
import hashlib
import importlib.resources
import json
import os
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kiwicha.cache import cache_dir
from kiwicha.errors import UsageError, reason
from kiwicha.gallery import catalogue

__all__ = [
    "DEMO",
    "FOLDERS_VARIABLE",
    "Location",
    "Picture",
    "ZooModel",
    "demo_model",
    "demo_pictures",
    "entries",
    "fetched_folder",
    "find",
    "folders",
    "frame_step_ms",
    "labels_within",
    "locate",
    "read_labels",
    "resolve",
    "sha256_of",
    "spectrum",
    "takes_sound",
]

DEMO = "demo"
"""Name of the bundled model."""
FOLDERS_VARIABLE = "KIWICHA_MODELS"


@dataclass(frozen=True)
class ZooModel:
    """A public model.

    Parameters
    ----------
    name : str
        Name on the command line.
    aliases : tuple of str
        Further names.
    summary : str
        What it does.
    file : str
        File name under which it is kept.
    repository, path, commit : str
        The public repository that it comes from, and where it is there.
    sha256 : str
        Of the file, hexadecimal.
    size_bytes : int
        Of the file.
    licence : str
        SPDX identifier.
    labels : tuple of str
        Meaning of each element of the output; empty if it has none, or a file has them.
    labels_file : str
        File with them, a line for each; empty if there is none.
    labels_sha256 : str
        Of that file, hexadecimal.
    takes_sound : bool
        Its input are features of sound, in which a picture has no meaning.
    frame_step_ms : int
        From one frame of sound to the next, if features are those of `kiwicha.sound.frontend`; 0 if
        they are others.
    spectrum : str
        Name of a `kiwicha.sound.spectra.SpectrumKind`, if features are such ones.
    """

    name: str
    aliases: tuple[str, ...]
    summary: str
    file: str
    repository: str
    path: str
    commit: str
    sha256: str
    size_bytes: int
    licence: str
    labels: tuple[str, ...]
    labels_file: str = ""
    labels_sha256: str = ""
    takes_sound: bool = False
    frame_step_ms: int = 0
    spectrum: str = ""

    @property
    def address(self) -> str:
        """Where the file is on the network."""
        return f"https://raw.githubusercontent.com/{self.repository}/{self.commit}/{self.path}"

    @property
    def file_names(self) -> tuple[str, ...]:
        """Names under which the file is looked for: ours and that in its repository."""
        return tuple(dict.fromkeys((self.file, self.path.rpartition("/")[2])))


@dataclass(frozen=True)
class Location:
    """Where a model was looked for.

    Parameters
    ----------
    path : Path or None
        The file, if it was found.
    rejected : tuple of Path
        Files of the right name with another sha256.
    """

    path: Path | None
    rejected: tuple[Path, ...]


@dataclass(frozen=True)
class Picture:
    """A bundled picture and what the bundled model should see in it."""

    path: Path
    label: str


def _data_folder() -> Path:
    return Path(str(importlib.resources.files("kiwicha.data")))


def _frozen(entry: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(v) if isinstance(v, list) else v for key, v in entry.items()}


@functools.cache
def entries() -> tuple[ZooModel, ...]:
    """Return the public models."""
    text = (_data_folder() / "zoo.json").read_text(encoding="utf-8")
    return tuple(ZooModel(**_frozen(entry)) for entry in json.loads(text))


def _demo_facts() -> dict[str, object]:
    text = (_data_folder() / "face_detect.json").read_text(encoding="utf-8")
    facts: dict[str, object] = json.loads(text)
    return facts


def demo_model() -> tuple[Path, tuple[str, ...]]:
    """Return the bundled model's file and the meaning of each element of its output."""
    facts = _demo_facts()
    labels = facts["labels"]
    if not isinstance(labels, list):
        raise TypeError(f"labels of the bundled model must be a list, not {labels!r}")
    return _data_folder() / str(facts["model"]), tuple(labels)


def demo_pictures() -> tuple[Picture, ...]:
    """Return the bundled pictures; the first is the default input of the bundled model."""
    pictures = _demo_facts()["pictures"]
    if not isinstance(pictures, dict):
        raise TypeError(f"pictures of the bundled model must be an object, not {pictures!r}")
    return tuple(Picture(_data_folder() / name, label) for name, label in pictures.items())


def find(name: str, what: str = "a name") -> ZooModel:
    """Return the public model of that name or alias.

    Parameters
    ----------
    name : str
        What the user wrote.
    what : str
        What an error says that it must be.

    Raises
    ------
    UsageError
        If there is none; the text names the nearest.
    """
    by_name = {key: entry for entry in entries() for key in (entry.name, *entry.aliases)}
    if name in by_name:
        return by_name[name]
    names = {DEMO: DEMO} | {key: entry.name for key, entry in by_name.items()}
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.4)
    hint = f"; nearest is {names[near[0]]!r}" if near else ""
    raise UsageError(f"model must be {what} listed by `kiwicha models list`, not {name!r}{hint}")


def fetched_folder() -> Path:
    """Return the folder that keeps fetched models."""
    return cache_dir() / "models"


def folders() -> tuple[Path, ...]:
    """Return the folders to search, in order."""
    named = os.environ.get(FOLDERS_VARIABLE, "").split(os.pathsep)
    return (*(Path(folder).expanduser() for folder in named if folder), fetched_folder())


def sha256_of(path: Path) -> str:
    """Return the sha256 of a file, hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def takes_sound(path: Path) -> bool:
    """Return whether a file is a public model whose input are features of sound."""
    known = {entry.sha256 for entry in entries() if entry.takes_sound}
    return sha256_of(path) in known


def frame_step_ms(path: Path) -> int:
    """Return `ZooModel.frame_step_ms` of a file that is a public model; 0 of any other."""
    known = {entry.sha256: entry.frame_step_ms for entry in entries()}
    return known.get(sha256_of(path), 0)


def spectrum(path: Path) -> str:
    """Return `ZooModel.spectrum` of a file that is a public model; empty of any other."""
    known = {entry.sha256: entry.spectrum for entry in entries()}
    return known.get(sha256_of(path), "")


def locate(model: ZooModel) -> Location:
    """Look for a public model on this machine."""
    rejected: list[Path] = []
    for folder in folders():
        for name in model.file_names:
            path = folder / name
            if not path.is_file():
                continue
            if sha256_of(path) == model.sha256:
                return Location(path, tuple(rejected))
            rejected.append(path)
    return Location(None, tuple(rejected))


def resolve(text: str) -> tuple[str, Path, tuple[str, ...]]:
    """Return name, file and output labels of the model that the user means.

    Parameters
    ----------
    text : str
        ``demo``, a name or alias of a public model, a name of the gallery such as
        ``resnet18@96``, or a path. A name comes before a file of the same name in the current
        folder; that one is reached as ``./name``.

    Raises
    ------
    UsageError
        If there is no such name and no such file, a gallery model is not possible, or the named
        model is not on this machine.
    """
    path, labels = demo_model()
    if text in {DEMO, path.stem}:
        return DEMO, path, labels
    if _looks_like_path(text):
        path = Path(text).expanduser()
        if not path.is_file():
            kind = "a folder" if path.is_dir() else "a device" if path.exists() else "missing"
            raise UsageError(f"model must be a readable file, not {kind} ({text})")
        return path.stem, path, labels_within(path)
    if catalogue.is_name(text):
        made = catalogue.find(text)
        return made.name, made.path(), ()
    model = find(text, "a file, a name of `kiwicha gallery` or one")
    location = locate(model)
    if location.path is None:
        raise UsageError(_missing_text(model, location.rejected))
    return model.name, location.path, model.labels or _listed_labels(model)


def labels_within(path: Path) -> tuple[str, ...]:
    """Return the labels that a model's file carries, as TensorFlow Lite's metadata: () if none.

    Files that belong to a model stand behind it as an archive; one text file of them is its labels.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if name.endswith(".txt")]
            text = archive.read(names[0]).decode("utf-8") if len(names) == 1 else ""
    except (OSError, ValueError, zipfile.BadZipFile, RuntimeError):
        return ()
    return tuple(text.splitlines())


def read_labels(path: Path) -> tuple[str, ...]:
    """Return the lines of a file of labels.

    Raises
    ------
    UsageError
        If it cannot be read as text.
    """
    try:
        return tuple(path.read_text(encoding="utf-8").splitlines())
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"labels must be a readable text file: {reason(error)} ({path})"
        ) from error


def _listed_labels(model: ZooModel) -> tuple[str, ...]:
    """Return the labels in a model's file of them, () if it is not beside the models."""
    for folder in folders() if model.labels_file else ():
        for path in (folder / model.labels_file, folder / "inputs" / model.labels_file):
            if path.is_file() and sha256_of(path) == model.labels_sha256:
                return read_labels(path)
    return ()


def _looks_like_path(text: str) -> bool:
    if os.sep in text or text.endswith((".tflite", ".onnx")):
        return True
    known = {key for entry in entries() for key in (entry.name, *entry.aliases)}
    is_name = text in known or catalogue.is_name(text)
    return bool(text) and not is_name and Path(text).exists()


def _missing_text(model: ZooModel, rejected: tuple[Path, ...]) -> str:
    others = "".join(f"; {path} has another sha256" for path in rejected)
    return (
        f"model {model.name} must be on this machine first: `kiwicha models fetch {model.name}`, "
        f"or name its folder in {FOLDERS_VARIABLE}{others}"
    )

"""What a shell proposes where a command expects a model, configurations or a board."""

from pathlib import Path

__all__ = ["boards", "configs", "models"]

_MODEL_SUFFIXES = {".tflite", ".onnx"}


def models(incomplete: str) -> list[str]:
    """Return names of models, and model files and folders, that begin as typed."""
    from kiwicha.gallery import catalogue
    from kiwicha.zoo import models as zoo

    known = [zoo.DEMO, *(model.name for model in zoo.entries())]
    # What stands before @ names an architecture; sizes are the user's.
    known += [name for name in catalogue.ARCHITECTURES if "@" not in incomplete]
    return [name for name in known if name.startswith(incomplete)] + _files(incomplete)


def _files(incomplete: str) -> list[str]:
    folder, separator, start = incomplete.rpartition("/")
    try:
        paths = sorted(Path(folder or separator or ".").iterdir())
    except OSError:
        return []
    return [
        f"{folder}{separator}{path.name}{'/' if path.is_dir() else ''}"
        for path in paths
        if path.name.startswith(start or ".") is bool(start)
        and (path.is_dir() or path.suffix in _MODEL_SUFFIXES)
    ]


def configs(incomplete: str) -> list[str]:
    """Return configurations that begin as the last one of a list with commas."""
    from kiwicha.contract.configs import ALL_CONFIGS, CONFIGS, ENGINE_CONFIGS

    before, comma, last = incomplete.rpartition(",")
    # All of them are hundreds: first those without a dash.
    known = ALL_CONFIGS if "-" in last else CONFIGS | ENGINE_CONFIGS
    return [f"{before}{comma}{name}" for name in known if name.startswith(last)]


def boards(incomplete: str) -> list[str]:
    """Return boards that begin as typed."""
    from kiwicha.boards.memories import BOARD_MEMORIES

    return [name for name in BOARD_MEMORIES if name.startswith(incomplete)]

"""Errors that users can act on: the command line prints them on one line and exits 2."""

__all__ = [
    "BoardError",
    "CapacityError",
    "KiwichaError",
    "ModelError",
    "ProgramError",
    "SimulationError",
    "ToolError",
    "UnsupportedModelError",
    "UsageError",
]


class KiwichaError(Exception):
    """Bad input or environment; the text names the place and the remedy."""


class UsageError(KiwichaError):
    """An argument, an input file or an output path is not usable."""


class ModelError(KiwichaError):
    """The file is not a well-formed TFLite model."""


class UnsupportedModelError(KiwichaError):
    """The model is well-formed and asks for something that Kiwicha does not do."""


class CapacityError(KiwichaError):
    """The model needs more memory than the configuration has."""


class ProgramError(KiwichaError):
    """The bytes are not a Program, or a Program of another version or configuration."""


class ToolError(KiwichaError):
    """An outside tool is missing or failed."""


class SimulationError(KiwichaError):
    """The simulated system stopped with an error or passed its cycle limit."""


class BoardError(KiwichaError):
    """A board does not answer or cannot be built for."""

"""What the compiler makes small first."""

import enum

__all__ = ["Goal"]


class Goal(enum.StrEnum):
    """What the compiler makes small first."""

    CYCLES = "cycles"
    """Cycles of an inference; among equals, bytes of weights."""
    SIZE = "size"
    """Bytes of weights."""

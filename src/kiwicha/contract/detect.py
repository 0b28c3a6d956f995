"""Who makes boxes of what a detector gives."""

import enum

__all__ = ["Detect"]


class Detect(enum.StrEnum):
    """Who does the last step of a detector, TFLite_Detection_PostProcess."""

    HOST = "host"
    DEVICE = "device"
    """The CPU, as part of the Program."""

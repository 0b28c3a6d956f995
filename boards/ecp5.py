"""What the ECP5 boards share."""

from litedram.core.controller import ControllerSettings

__all__ = ["controller_settings"]


def controller_settings() -> ControllerSettings:
    """Return the settings of a DRAM controller whose longest paths are shorter.

    A command leaves the queue through a register, and is not compared with the one behind it: a
    row stays open until another is wanted.
    """
    return ControllerSettings(cmd_buffer_buffered=True, with_auto_precharge=False)

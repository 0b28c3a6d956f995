"""Configurations by name, as users write them."""

import difflib

from kiwicha.contract import cfu as isa
from kiwicha.errors import UsageError

__all__ = ["CONFIG_HELP", "find_config"]

_KIB = [str(size // 1024) for size in isa.SCRATCHPAD_BYTES]
_SIZES = f"{', '.join(_KIB[:-1])} or {_KIB[-1]} KiB"
_MACS = f"{', '.join(map(str, isa.ENGINE_MACS[:-1]))} or {isa.ENGINE_MACS[-1]}"
_CHOICES = (
    f"{', '.join(isa.CONFIGS)}, {_MACS}; an engine's scratchpad is named as in 64-32k and has "
    f"{_SIZES}, {isa.DEFAULT_SCRATCHPAD_BYTES // 1024} where none is named; "
    f"-m{isa.LANES}, -r{isa.FEW_REQUANTIZER_LANES} and -raw may follow"
)
CONFIG_HELP = (
    f"{', '.join(isa.CONFIGS)}, or an engine of {_MACS} products per cycle; 64-32k has a "
    f"scratchpad of 32 KiB (of {_SIZES})."
)
"""What ``--config`` takes, for ``--help``."""


def find_config(config: str | isa.Config) -> isa.Config:
    """Return the configuration of a name; a `Config` is returned as it is.

    Parameters
    ----------
    config : str or Config
        Such as ``simd`` or ``64-32k``: a key of `isa.ALL_CONFIGS`.

    Raises
    ------
    UsageError
        If there is none of that name.
    """
    if isinstance(config, isa.Config):
        return config
    if not isinstance(config, str):
        raise UsageError(f"config must be a string such as '64', not {config!r}")
    if config in isa.ALL_CONFIGS:
        return isa.ALL_CONFIGS[config]
    known = isa.ALL_CONFIGS if "-" in config else isa.CONFIGS | isa.ENGINE_CONFIGS
    near = difflib.get_close_matches(config, known, n=1, cutoff=0.4)
    hint = f"; nearest is {near[0]!r}" if near else ""
    raise UsageError(f"config must be one of {_CHOICES}; not {config!r}{hint}")

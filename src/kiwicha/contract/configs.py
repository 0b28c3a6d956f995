"""Configurations by name, as users write them."""

import difflib

from kiwicha.contract import cfu
from kiwicha.errors import UsageError

__all__ = ["CONFIG_HELP", "find_config"]

_KIB = [str(size // 1024) for size in cfu.SCRATCHPAD_BYTES]
_SIZES = f"{', '.join(_KIB[:-1])} or {_KIB[-1]} KiB"
_MACS = f"{', '.join(map(str, cfu.ENGINE_MACS[:-1]))} or {cfu.ENGINE_MACS[-1]}"
_CHOICES = (
    f"{', '.join(cfu.CONFIGS)}, {_MACS}; an engine's scratchpad is named as in 64-32k and has "
    f"{_SIZES}, {cfu.DEFAULT_SCRATCHPAD_BYTES // 1024} where none is named; "
    f"-m{cfu.LANES}, -r{cfu.FEW_REQUANTIZER_LANES} and -raw may follow"
)
CONFIG_HELP = (
    f"{', '.join(cfu.CONFIGS)}, or an engine of {_MACS} products per cycle; 64-32k has a "
    f"scratchpad of 32 KiB (of {_SIZES})."
)
"""What ``--config`` takes, for ``--help``."""


def find_config(config: str | cfu.Config) -> cfu.Config:
    """Return the configuration of a name; a `Config` is returned as it is.

    Parameters
    ----------
    config : str or Config
        Such as ``simd`` or ``64-32k``: a key of `cfu.ALL_CONFIGS`.

    Raises
    ------
    UsageError
        If there is none of that name.
    """
    if isinstance(config, cfu.Config):
        return config
    if not isinstance(config, str):
        raise UsageError(f"config must be a string such as '64', not {config!r}")
    if config in cfu.ALL_CONFIGS:
        return cfu.ALL_CONFIGS[config]
    known = cfu.ALL_CONFIGS if "-" in config else cfu.CONFIGS | cfu.ENGINE_CONFIGS
    near = difflib.get_close_matches(config, known, n=1, cutoff=0.4)
    hint = f"; nearest is {near[0]!r}" if near else ""
    raise UsageError(f"config must be one of {_CHOICES}; not {config!r}{hint}")

"""All kernels, by number."""

import dataclasses
import importlib
import itertools
import pkgutil
from collections.abc import Iterable

from kiwicha import kernels
from kiwicha.contract.configs import Config
from kiwicha.contract.layout import Struct
from kiwicha.contract.program import Kernel, Where
from kiwicha.kernels.kernel import Declaration

__all__ = ["KERNELS", "KERNEL_PARAMS", "MODULES", "firmware_kernels", "kernels_of"]


def _find() -> dict[str, tuple[Declaration, ...]]:
    modules: dict[str, tuple[Declaration, ...]] = {}
    for item in pkgutil.iter_modules(kernels.__path__):
        if item.name != "registry":
            module = importlib.import_module(f"{kernels.__name__}.{item.name}")
            modules[item.name] = getattr(module, "KERNELS", ())
    return {name: found for name, found in modules.items() if found}


MODULES = _find()
"""What every file declares, by the name that it shares with its C file."""


def _completed() -> dict[Kernel, Declaration]:
    """Return all declarations, with what they take over from the kernels that they replace."""
    declared = {item.kernel: item for item in itertools.chain.from_iterable(MODULES.values())}
    for kernel, item in declared.items():
        if item.replaces:
            other = declared[item.replaces[0]]
            declared[kernel] = dataclasses.replace(
                item, reference=item.reference or other.reference, work=item.work or other.work
            )
    return dict(sorted(declared.items()))


KERNELS = _completed()
"""The declaration of each kernel, in the order of their numbers."""
KERNEL_PARAMS: dict[Kernel, type[Struct]] = {kernel: x.params for kernel, x in KERNELS.items()}
"""The parameter structure of each kernel."""
for _params in KERNEL_PARAMS.values():
    _params.layout()


def kernels_of(config: Config) -> list[Declaration]:
    """Return the kernels that Programs of a configuration can call."""
    has = {
        Where.CPU: True,
        Where.SIMD: config.has_simd,
        Where.ENGINE: bool(config.engine_macs),
        Where.SIGNAL: config.has_signal,
    }
    return [item for item in KERNELS.values() if has[item.kernel.where]]


def firmware_kernels(config: Config, called: Iterable[Kernel] = ()) -> list[Declaration]:
    """Return the kernels of firmware that lies in on-chip memory, which cannot hold all.

    It is the same for all Programs that call none on demand. Firmware for another one has what that
    calls, and nothing else.

    Parameters
    ----------
    config : Config
        Of the firmware.
    called : iterable of Kernel
        What its Program calls.
    """
    wanted = set(called)
    if any(KERNELS[kernel].is_on_demand for kernel in wanted):
        return [item for item in kernels_of(config) if item.kernel in wanted]
    return [item for item in kernels_of(config) if not item.is_on_demand]

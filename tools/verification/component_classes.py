"""Classes of the components in a design, by their path in it."""

from amaranth.hdl import Fragment, Module

__all__ = ["component_classes"]

_WRAPPERS = {"TransformedElaboratable", Module.__name__}
"""Origins of a fragment that say nothing about which component it is."""


def component_classes(component: object) -> dict[str, str]:
    """Return the class of each module of a design.

    Parameters
    ----------
    component : Elaboratable
        Its top; is elaborated.

    Returns
    -------
    dict of str to str
        Class by path, such as ``controller.port``; the top's path is empty. Modules that
        no class of its own makes are left out.
    """
    found: dict[str, str] = {}
    # No platform: a netlist like those that are simulated.
    _add(found, Fragment.get(component, None), ())
    return found


def _add(found: dict[str, str], fragment: Fragment, path: tuple[str, ...]) -> None:
    names = [type(origin).__name__ for origin in fragment.origins or ()]
    own = [name for name in names if name not in _WRAPPERS]
    if own:
        found[".".join(path)] = own[0]
    for inner, name, _ in fragment.subfragments:
        if name is not None:
            _add(found, inner, (*path, name))

"""Classes of the components in a design, by their path in it."""

from amaranth.hdl import Fragment, Module

__all__ = ["class_names", "component_classes"]

_WRAPPERS = {"TransformedElaboratable", Module.__name__}
"""Origins of a fragment that say nothing about which component it is."""


def component_classes(component: object) -> dict[str, type]:
    """Return the class of each module of a design.

    Parameters
    ----------
    component : Elaboratable
        Its top; is elaborated.

    Returns
    -------
    dict of str to type
        Class by path, such as ``controller.port``; the top's path is empty. Modules that
        no class of its own makes are left out.
    """
    found: dict[str, type] = {}
    # No platform: a netlist like those that are simulated.
    _add(found, Fragment.get(component, None), ())
    return found


def class_names(component: object) -> dict[str, str]:
    """Return the name of the class of each module of a design; see `component_classes`."""
    return {path: kind.__name__ for path, kind in component_classes(component).items()}


def _add(found: dict[str, type], fragment: Fragment, path: tuple[str, ...]) -> None:
    own = [type(item) for item in fragment.origins or () if type(item).__name__ not in _WRAPPERS]
    if own:
        found[".".join(path)] = own[0]
    for inner, name, _ in fragment.subfragments:
        if name is not None:
            _add(found, inner, (*path, name))

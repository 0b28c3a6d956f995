"""The reference of what programs call, from docstrings."""

from collections.abc import Mapping

__all__ = ["api_pages"]

_MODULES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    # Page: title and what it shows.
    "interpreter": {"The interpreter": ("kiwicha.interpreter.interpreter",)},
    "compiler": {
        "The compiler": ("kiwicha.compiler.driver", "kiwicha.compiler.reasons"),
    },
    "program": {"Programs": ("kiwicha.program.image", "kiwicha.program.parts")},
    "simulation": {
        "Simulation": (
            *("kiwicha.sim.verilator.program_run", "kiwicha.sim.reference.executor"),
            "kiwicha.report.run_report",
        ),
    },
    "configurations": {
        "Configurations and memories": ("kiwicha.contract.configs", "kiwicha.contract.memories"),
    },
    "custom": {
        "Custom operators": ("kiwicha.custom.registry", "kiwicha.kernels.kernel"),
    },
    "errors": {"Errors": ("kiwicha.errors",)},
}


def api_pages() -> dict[str, str]:
    """Return the pages by their place in the site."""
    return {
        f"docs/api/{name}.md": "\n".join([
            *(f"# {title}\n" for title in modules),
            *(f"::: {module}\n" for found in modules.values() for module in found),
        ])
        for name, modules in _MODULES.items()
    }

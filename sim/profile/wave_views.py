"""Views of waveforms for GTKWave and Surfer: what is interesting, grouped, with names for codes.

Everything follows from the contract and from the gateware: function ids and kinds of jobs from
`kiwicha.contract.cfu`, states from the state machines themselves.

Notes
-----
Ref: GTKWave 3.3 user's guide, appendix on save files; Surfer 0.6's book, commands and mapping
translators. Surfer reads all commands before it executes the first: none can name what an earlier
one selects, and a variable's path ends a scope at every dot (`kiwicha.sim.verilator.wave_names`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from vcd.gtkw import GTKWSave

from kiwicha.contract.configs import Config
from kiwicha.contract.engine import EngineError, JobKind
from kiwicha.gateware.states import REGISTER, states
from kiwicha.sim.reference.function_names import function_names

__all__ = ["Shown", "shown_signals", "write_views"]

_CFU = "TOP.soc.Cfu"
_FUNCTION_ID_BITS = 10

_SURFER_DIGITS = str.maketrans("0123456789abcdef", "abcdefghijklmnop")

_ZOOM = -17.0
"""2 ** 17 ps a pixel, 13 cycles."""


@dataclass(frozen=True)
class Shown:
    """A signal of a view.

    Parameters
    ----------
    group : str
        Title that it stands under.
    path : str
        In the waveforms.
    bits : int
        Width.
    names : mapping of int to str
        Names of its values; empty for a number.
    """

    group: str
    path: str
    bits: int
    names: Mapping[int, str]

    @property
    def title(self) -> str:
        """The path below the system's, as a name for files."""
        return self.path.removeprefix(f"{_CFU}.").replace(".", "_")


def shown_signals(config: Config) -> list[Shown]:
    """Return what a view shows, from above.

    Parameters
    ----------
    config : Config
        The hardware in the waveforms.
    """
    nothing: dict[int, str] = {}
    shown = [
        Shown("CPU to CFU", f"{_CFU}.{name}", bits, nothing)
        for name, bits in (("cmd_valid", 1), ("cmd_ready", 1))
    ]
    function = f"{_CFU}.cmd_payload_function_id"
    shown.append(Shown("CPU to CFU", function, _FUNCTION_ID_BITS, function_names()))
    shown += [
        Shown("CPU to CFU", f"{_CFU}.{name}", bits, nothing)
        for name, bits in (
            ("cmd_payload_inputs_0", 32),
            ("cmd_payload_inputs_1", 32),
            ("rsp_valid", 1),
            ("rsp_payload_outputs_0", 32),
        )
    ]
    if config.engine_macs:
        shown += _engine_signals()
    for path, names in states(config).items():
        bits = (len(names) - 1).bit_length()
        full = f"{_CFU}.{path}.{REGISTER}"
        shown.append(Shown("states", full, bits, dict(enumerate(names))))
    return shown


def _engine_signals() -> list[Shown]:
    engine = f"{_CFU}.cfu.engine"
    sequencer, port = f"{engine}.controller.sequencer", f"{engine}.controller.port"
    kinds = {int(kind): kind.name for kind in JobKind}
    errors = {int(error): error.name for error in EngineError}
    nothing: dict[int, str] = {}
    rows: list[tuple[str, str, int, dict[int, str]]] = [
        ("engine", f"{sequencer}.lists__is_running", 1, nothing),
        ("engine", f"{sequencer}.datapath_start", 1, nothing),
        ("engine", f"{sequencer}.jobs_done", 16, nothing),
        ("engine", f"{sequencer}.transfers_done", 16, nothing),
        ("engine", f"{sequencer}.jobs__payload__kind", 8, kinds),
        ("engine", f"{sequencer}.lists__status__error", 3, errors),
        ("what cycles are for", f"{engine}.datapath.counts__busy", 1, nothing),
        ("what cycles are for", f"{engine}.datapath.counts__waits_weights", 1, nothing),
        ("what cycles are for", f"{engine}.datapath.counts__waits_requantizer", 1, nothing),
        ("what cycles are for", f"{sequencer}.waits_transfers", 1, nothing),
        ("memory port", f"{port}.port__cmd__valid", 1, nothing),
        ("memory port", f"{port}.port__cmd__ready", 1, nothing),
        ("memory port", f"{port}.port__cmd__payload__we", 1, nothing),
        ("memory port", f"{port}.port__cmd__payload__addr", 24, nothing),
        ("memory port", f"{port}.port__rdata__valid", 1, nothing),
        ("memory port", f"{port}.port__wdata__valid", 1, nothing),
        ("memory port", f"{port}.port__wdata__ready", 1, nothing),
    ]
    return [Shown(*row) for row in rows]


def write_views(waves: Path, config: Config) -> list[Path]:
    """Write the views of a file of waveforms beside it.

    Parameters
    ----------
    waves : Path
        The waveforms, ``NAME.fst``.
    config : Config
        The hardware in them.

    Returns
    -------
    list of Path
        ``NAME.gtkw`` with filters in ``NAME.names`` for GTKWave, ``NAME.sucl`` with mappings in
        ``.surfer/mappings`` for Surfer.
    """
    shown = shown_signals(config)
    folder = waves.absolute().parent
    filters, mappings = folder / f"{waves.stem}.names", folder / ".surfer" / "mappings"
    for target in (filters, mappings):
        target.mkdir(parents=True, exist_ok=True)
    for item in shown:
        if item.names:
            (filters / f"{item.title}.txt").write_text(_filter(item), encoding="utf-8")
            (mappings / f"{item.title}.txt").write_text(_mapping(item), encoding="utf-8")
    gtkwave, surfer = waves.with_suffix(".gtkw"), waves.with_suffix(".sucl")
    _write_gtkwave(gtkwave, waves.absolute(), filters, shown)
    surfer.write_text(_surfer(shown), encoding="utf-8")
    return [gtkwave, surfer]


def _filter(item: Shown) -> str:
    """Return GTKWave's filter: values as it shows them, and names."""
    digits = -(-item.bits // 4)
    lines = []
    for value, name in sorted(item.names.items()):
        text = f"{value:0{digits}x}"
        lines += [f"{form} {name}" for form in dict.fromkeys((text, text.upper()))]
    return "\n".join(lines) + "\n"


def _mapping(item: Shown) -> str:
    head = [f"Name = {item.title}", f"Bits = {item.bits}"]
    return "\n".join([*head, *(f"{v} {name}" for v, name in sorted(item.names.items()))]) + "\n"


def _write_gtkwave(target: Path, waves: Path, filters: Path, shown: Iterable[Shown]) -> None:
    with target.open("w", encoding="utf-8") as stream:
        view = GTKWSave(stream)
        view.comment("Kiwicha")
        view.dumpfile(str(waves))
        view.timestart(0)
        view.zoom_markers(_ZOOM)
        group = ""
        for item in shown:
            if item.group != group:
                group = item.group
                view.blank(group)
            path = item.path + (f"[{item.bits - 1}:0]" if item.bits > 1 else "")
            names = str(filters / f"{item.title}.txt") if item.names else None
            view.trace(path, translate_filter_file=names)


def _surfer(shown: Iterable[Shown]) -> str:
    lines = []
    group = ""
    place = 0
    for item in shown:
        if item.group != group:
            group = item.group
            # Of several words Surfer takes none.
            lines.append(f"divider_add {group.replace(' ', '_')}")
            place += 1
        lines.append(f"variable_add {item.path}")
        if item.names:
            lines += [f"item_focus {_letters(place)}", f"item_set_format {item.title}"]
        place += 1
    return "\n".join([*lines, "item_unfocus", "zoom_fit"]) + "\n"


def _letters(place: int) -> str:
    """Return Surfer's name for an item: its place in hexadecimal, with digits a to p."""
    return f"{place:x}".translate(_SURFER_DIGITS)

"""The section on what share of real time hearing words takes."""

from typing import Any

from tools.documents.freshness import Freshness
from tools.documents.markdown import table
from tools.results.kinds import microphone_command, sound_command
from tools.sound_share import share

__all__ = ["sound_section"]

_WAITS = (
    *("config", "model", "frames from the microphone:", "inferences:"),
    *("of the time the CPU waited for sound:", "times it was too late:"),
)


def sound_section(
    files: dict[str, Any],
    microphones: dict[str, Any],
    areas: dict[str, Any],
    freshness: Freshness,
) -> str:
    """Return the shares of real time, and the cycles of each operator of a frame; or nothing.

    Parameters
    ----------
    files : dict
        What ``python -m tools.sound_share --json`` wrote, by path in the project.
    microphones : dict
        What ``python -m tools.microphone_share --json`` wrote, likewise.
    areas : dict
        What ``kiwicha area --json`` wrote, likewise.
    freshness : callable
        Says whether files are of the present hardware.
    """
    if not files:
        return ""
    found = sorted(files.items(), key=lambda item: item[1]["frame_cycles"], reverse=True)
    outcomes = [outcome for _, outcome in found]
    resources = {area["config"]: area["resources"] for area in areas.values()}
    rows = [
        (
            f"`{one['config']}`",
            one["model"],
            f"{one['frame_cycles']:,}",
            f"{one['inference_cycles']:,}",
            str(one["frames"]),
            f"{share(one):.1%}".replace("%", " %"),
            *(
                f"{resources[one['config']][name]:,}" if one["config"] in resources else ""
                for name in ("LUT", "DSP48E1")
            ),
        )
        for one in outcomes
    ]
    columns = (
        *("config", "model", "cycles of a frame:", "of an inference:", "frames for it:"),
        *("of real time:", "LUT of the CFU:", "DSP48E1:"),
    )
    operators = dict.fromkeys(name for one in outcomes for name in one["layers"])
    layers = [
        (name, *(f"{one['layers'][name]:,}" if name in one["layers"] else "" for one in outcomes))
        for name in operators
    ]
    waits = [
        (
            f"`{one['config']}`",
            one["model"],
            *(f"{one[name]:,}" for name in ("frames", "inferences")),
            f"{one['waited']:.1%}".replace("%", " %"),
            f"{one['late']:,}",
        )
        for _, one in sorted(microphones.items())
    ]
    commands = [sound_command(name, outcome) for name, outcome in found]
    commands += [microphone_command(name, one) for name, one in sorted(microphones.items())]
    lines = [
        *table(columns, rows),
        "",
        *table(("operator", *(f"`{one['config']}`:" for one in outcomes)), layers),
        "",
        *((*table(_WAITS, waits), "") if waits else ()),
        "measured with",
        "",
        "```",
        *commands,
        "```",
        "",
        freshness([*(name for name, _ in found), *sorted(microphones)]),
    ]
    return "\n".join(lines)

"""What ``kiwicha build`` reports."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kiwicha.boards.flow.place_and_route import Timing

__all__ = ["BuildReport"]


@dataclass(frozen=True)
class BuildReport:
    """What a build made.

    Parameters
    ----------
    board, config, part, toolchain : str
        What was built.
    speed_grade : int or None
        Speed grade that the timing is of, if it is not the part's.
    seed : int or None
        Of the placer, where it can be chosen and something was placed.
    seeds : int or None
        How many of them were to be tried at most.
    sys_clk_hz : int
        Frequency that was asked for.
    resources : mapping
        What the design occupies, as synthesised.
    capacity : mapping
        What the FPGA has.
    modules : mapping
        ``resources`` by module.
    timing : Timing or None
        None if nothing was placed, or by openXC7, which does not tell.
    files : mapping
        Contents of what the bitstream is made of, by name.
    bitstream : bytes or None
        None if it was not made.
    versions : mapping
        Tools by name.
    inputs : mapping
        Hashes of what was built, see `kiwicha.boards.flow.fingerprint`.
    seconds : float
        Time that the tools took when they ran, which may have been earlier.
    """

    board: str
    config: str
    part: str
    toolchain: str
    speed_grade: int | None
    seed: int | None
    seeds: int | None
    sys_clk_hz: int
    resources: Mapping[str, float]
    capacity: Mapping[str, float]
    modules: Mapping[str, Mapping[str, float]]
    timing: Timing | None
    files: Mapping[str, bytes]
    bitstream: bytes | None
    versions: Mapping[str, str]
    inputs: Mapping[str, str]
    seconds: float

    @property
    def overflowing(self) -> list[str]:
        """Resources of which the design needs more than there are."""
        return [name for name, limit in self.capacity.items() if self.resources[name] > limit]

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object of ``kiwicha build --json``."""
        timing = None
        if self.timing is not None:
            timing = {
                "fmax_mhz": round(self.timing.fmax_mhz, 2),
                "target_mhz": self.timing.target_mhz,
                "critical_path": [
                    {"kind": step.kind, "delay_ns": round(step.delay_ns, 3), "cell": step.cell}
                    for step in self.timing.path
                ],
            }
        return {
            "board": self.board,
            "config": self.config,
            "part": self.part,
            "toolchain": self.toolchain,
            "speed_grade": self.speed_grade,
            "seed": self.seed,
            "seeds": self.seeds,
            "sys_clk_hz": self.sys_clk_hz,
            "resources": dict(self.resources),
            "capacity": dict(self.capacity),
            "modules": {name: dict(counts) for name, counts in self.modules.items()},
            "timing": timing,
            "has_bitstream": self.bitstream is not None,
            "versions": dict(self.versions),
            "inputs": dict(self.inputs),
            "build_seconds": round(self.seconds),
        }

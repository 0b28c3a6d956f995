"""Sorts of cycles and bytes: their names on the page, and the one meaning of each colour.

Colours are those of Okabe and Ito, which people with any kind of colour vision can tell apart. What
is neither weights, activations nor the CPU's is drawn in the colours of the page's text.
"""

__all__ = ["CAUSES", "CAUSE_COLOURS", "MEASURES", "TENSOR_COLOUR", "TRAFFIC", "TRAFFIC_COLOURS"]

CAUSES = {
    "arithmetic": "arithmetic",
    "requantizer": "requantizer",
    "weights": "memory: weights",
    "transfers": "memory: activations",
    "overhead": "starting and ending",
    "cpu": "CPU",
    "unknown": "not split",
}
"""Sorts of cycles as stored, and their names on the page."""
TRAFFIC = {
    "weights": "weights",
    "loads": "activations read",
    "stores": "activations written",
    "cpu_reads": "read by the CPU",
    "cpu_writes": "written by the CPU",
}
"""Sorts of bytes, likewise."""
MEASURES = {
    "cycles": "cycles, predicted",
    "lut": "LUTs, estimated",
    "dsp": "DSPs, estimated",
    "bram": "block RAMs of 36 Kbit, estimated",
}
"""Objectives of studies, likewise; on ECP5 a block RAM has 18 Kbit, as the study tells."""

_COLOURS = {
    "arithmetic": "#0072B2",
    "requantizer": "#E69F00",
    "weights": "#009E73",
    "transfers": "#56B4E9",
    "overhead": "#8C8C8C",
    "cpu": "#D55E00",
    "unknown": "#CC79A7",
}
CAUSE_COLOURS = {name: _COLOURS[cause] for cause, name in CAUSES.items()}
"""What a colour means everywhere on the page, by the names of `CAUSES`."""
TENSOR_COLOUR = _COLOURS["transfers"]
"""Of activations, in maps of memories."""
TRAFFIC_COLOURS = {
    TRAFFIC["weights"]: _COLOURS["weights"],
    TRAFFIC["loads"]: _COLOURS["transfers"],
    TRAFFIC["stores"]: "#B4DCF5",
    TRAFFIC["cpu_reads"]: _COLOURS["cpu"],
    TRAFFIC["cpu_writes"]: "#F2B58C",
}
"""Bytes have the colours of the cycles that they cost; what is written is paler than what is read.
"""

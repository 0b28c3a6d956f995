"""Maps of memories: which tensor lies where and when, and what that says."""

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["memory"]


def memory(found: Mapping[str, Any], layers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what the page shows of a memory: size, rectangles, and a sentence about them.

    Parameters
    ----------
    found : mapping
        ``bytes`` and ``tensors`` as they were read.
    layers : sequence of mapping
        With ``label`` and ``cycles``, in the order in which they run.
    """
    shown = [tensor for tensor in found["tensors"] if tensor["end"] > tensor["start"]]
    names = _short([str(tensor["name"]) for tensor in shown])
    tensors = [
        {**tensor, "short": short, "top": tensor["offset"] + max(tensor["bytes"], 1)}
        for tensor, short in zip(shown, names, strict=True)
    ]
    size = found["bytes"]
    capacity = {"bytes": size, "text": f"capacity: {size:,} bytes"}
    return {"capacity": capacity, "tensors": tensors, "text": _text(size, tensors, layers)}


def _short(names: Sequence[str]) -> list[str]:
    """Return the ends of names: as few parts of their paths as tell them apart."""
    whole = set(names)
    found = {}
    for name in whole:
        parts = name.split("/")
        ends = ["/".join(parts[-count:]) for count in range(1, len(parts) + 1)]
        alone = (
            end
            for end in ends
            if not any(other != name and f"/{other}".endswith(f"/{end}") for other in whole)
        )
        found[name] = next(alone, name)
    return [found[name] for name in names]


def _text(
    size: int, tensors: Sequence[Mapping[str, Any]], layers: Sequence[Mapping[str, Any]]
) -> str:
    """Return how full the memory is at most, when, and by what; and how full half of the time."""
    if not tensors:
        return f"None of its {size:,} bytes are in use."
    moments = sorted({tensor[edge] for tensor in tensors for edge in ("start", "end")})
    live = [
        [tensor for tensor in tensors if tensor["start"] <= moment < tensor["end"]]
        for moment in moments
    ]
    used = [sum(tensor["bytes"] for tensor in there) for there in live]
    worst = max(range(len(moments)), key=lambda number: used[number])
    largest = sorted(live[worst], key=lambda tensor: -tensor["bytes"])
    named = list(dict.fromkeys(f"{tensor['short']} ({tensor['bytes']:,})" for tensor in largest))
    share = f" ({100 * used[worst] / size:.0f} %)" if size else ""
    during = _during(moments[worst], layers)
    text = f"At most {used[worst]:,} of {size:,} bytes{share} hold tensors, first {during}: "
    text += ", ".join(named[:3]) + (" and others" if len(named) > 3 else "") + "."
    half = _half(moments, used)
    if half < used[worst]:
        return f"{text} Half of the time it is {half:,} or fewer."
    return f"{text} It is as full most of the time."


def _during(cycle: int, layers: Sequence[Mapping[str, Any]]) -> str:
    end = 0
    for layer in layers:
        end += layer["cycles"]
        if cycle < end:
            return f"while layer {layer['label']} is computed"
    return "at the end"


def _half(moments: Sequence[int], used: Sequence[int]) -> int:
    """Return the number of bytes that are not exceeded in half of the time."""
    spans = sorted(
        (size, after - before)
        for size, before, after in zip(used, moments, moments[1:], strict=False)
    )
    left = (moments[-1] - moments[0]) / 2
    for size, cycles in spans:
        left -= cycles
        if left <= 0:
            return size
    return used[0]

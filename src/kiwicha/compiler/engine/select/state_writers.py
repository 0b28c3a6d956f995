"""What writes states in the list that has joined them: it needs no list of its own."""

from collections.abc import Mapping

from kiwicha.compiler.lower.network import Layer, Network
from kiwicha.compiler.tflite.graph import State
from kiwicha.contract.program import Kernel

__all__ = ["joined_states"]


def joined_states(network: Network) -> Mapping[int, int]:
    """Return layers that may write a state as soon as it is joined, and the joined tensors.

    By position, where a state is bytes of a tensor of which the state of before is a part, from its
    own first byte on or behind it. So each byte is read before it is overwritten, in the order in
    which a list goes through the rows. Nothing else may read the state of before, or lie there.

    Parameters
    ----------
    network : Network
        The model.
    """
    writers: dict[int, list[int]] = {}
    for position, layer in enumerate(network.layers):
        for call in layer.calls:
            writers.setdefault(call.tensors["output"], []).append(position)
    found = {}
    for state in network.graph.states:
        positions = writers.get(state.after, [])
        joined = _joined(network, state) if len(positions) == 1 and not state.is_own else None
        if joined is not None:
            found[positions[0]] = joined
    return found


def _joined(network: Network, state: State) -> int | None:
    """Return the tensor of which a state is cut off, if that can happen at once."""
    calls = [call for layer in network.layers for call in layer.calls]
    (cut,) = (call for call in calls if call.tensors["output"] == state.after)
    joined = cut.tensors.get("input")
    within = {part for part, (whole, _) in network.parts.items() if whole == state.before}
    is_apart = within == {state.after} and state.before not in network.outputs
    if joined is None or joined in network.shared or not (is_apart and _is_one(cut)):
        return None
    first, _ = cut.ranges.get("input", (0, 0))
    for call in calls:
        if state.before not in (t for name, t in call.tensors.items() if name != "output"):
            continue
        is_all = _is_one(call) and call.ranges.get("input", (0, 0))[0] == 0
        if call.tensors["output"] != joined or not is_all:
            return None
        if call.ranges.get("output", (0, 0))[0] > first:
            return None
    return joined


def _is_one(call: Layer) -> bool:
    """Whether a call copies bytes that lie together, in their order."""
    return call.kernel is Kernel.COPY and set(call.params.shape) == {1}

"""SOFTMAX and LOG_SOFTMAX in the engine's terms: a pixel is a row, of its channels."""

from collections.abc import Iterable, Iterator

import numpy as np

from kiwicha.compiler.engine.ir.limits import Limit, limit
from kiwicha.compiler.engine.ir.refusals import BrokenLimitError
from kiwicha.compiler.engine.ir.selection import Candidate, Decision, Refusal
from kiwicha.compiler.engine.ir.softmax_operation import SoftmaxOperation
from kiwicha.compiler.engine.ir.window import Image, Window
from kiwicha.compiler.engine.schedule.estimates.operation_costs import operation_cycles
from kiwicha.compiler.engine.select.softmax.pairs import pair_operation
from kiwicha.compiler.lower.network import Layer, Network
from kiwicha.contract.configs import Config
from kiwicha.contract.engine import MAX_U16
from kiwicha.contract.program import Kernel
from kiwicha.program.weight_streams import Parameters

__all__ = ["SOFTMAX_KERNELS", "SOFTMAX_LIMITS", "softmax_forms", "without_slow_softmax"]

SOFTMAX_KERNELS = frozenset({Kernel.LOG_SOFTMAX, Kernel.SOFTMAX})
"""Kernels of layers that take SOFTMAX jobs."""


@limit("LOG_SOFTMAX", "SOFTMAX")
def softmax_jobs(config: Config) -> str | None:
    """The engine has SOFTMAX jobs: those of 128 and 256, and those whose names end in -softmax."""
    if config.has_softmax:
        return None
    return f"takes SOFTMAX jobs, which {config.name} has not; {config.softmax_name} has them"


SOFTMAX_LIMITS: tuple[Limit[Config], ...] = (softmax_jobs,)
"""What an engine must have for SOFTMAX jobs."""


def softmax_forms(network: Network, position: int) -> Decision:
    """Return the forms of a SOFTMAX or LOG_SOFTMAX.

    Pairs of a SOFTMAX become a convolution and a table. Others, and what of pairs cannot, take
    SOFTMAX jobs: with the rows and columns of the tensor, or with a row for each pixel.

    Parameters
    ----------
    network : Network
        The model.
    position : int
        Position of its layer.
    """
    layer = network.layers[position]
    candidates: list[Candidate] = []
    refusals: list[Refusal] = []
    if "pairs" in layer.constants:
        form = "as a convolution and a table"
        try:
            candidates.append(Candidate(form, pair_operation(layer, position)))
        except BrokenLimitError as error:
            refusals.append(Refusal(form, error.why))
    candidates += (
        Candidate(form, _operation(layer, position, image))
        for form, image in _images(network, layer)
    )
    return Decision(tuple(candidates), tuple(refusals))


def without_slow_softmax(
    candidates: Iterable[Candidate], config: Config, cpu_cycles: float
) -> tuple[list[Candidate], list[Refusal]]:
    """Return candidates without SOFTMAX jobs that an engine has not, or that the CPU is faster at.

    Parameters
    ----------
    candidates : iterable of Candidate
        Of one layer.
    config : Config
        With an engine.
    cpu_cycles : float
        What the layer takes on the CPU.
    """
    left: list[Candidate] = []
    refusals: list[Refusal] = []
    for candidate in candidates:
        if not isinstance(candidate.operation, SoftmaxOperation):
            left.append(candidate)
            continue
        why = softmax_jobs.check(config)
        cycles = operation_cycles(candidate.operation, config)
        if why is None and cpu_cycles <= cycles:
            why = f"takes {cpu_cycles:,.0f} cycles there, and {cycles:,.0f} in SOFTMAX jobs"
        if why is None:
            left.append(candidate)
        elif not refusals:
            refusals.append(Refusal("", why))
    return left, refusals


def _images(network: Network, layer: Layer) -> Iterator[tuple[str, Image]]:
    image = Image.of_shape(network.tensors[layer.tensors["output"]].shape)
    if image.columns <= MAX_U16:
        yield "", image
    if image.columns > 1:
        yield "pixel by pixel", Image(image.rows * image.columns, 1, image.channels)


def _operation(layer: Layer, position: int, image: Image) -> SoftmaxOperation:
    distances = layer.constants.get("distances")
    return SoftmaxOperation(
        position=position,
        inputs=(layer.tensors["input"],),
        output=layer.tensors["output"],
        window=Window.of_pixels(image.rows, image.columns, image.channels),
        output_channels=image.channels,
        clamp=(-128, 127),
        parameters=Parameters(*(np.zeros(1, np.int32) for _ in range(3))),
        output_zero_point=_as_int8(layer.params.output_offset),
        exponentials=layer.constants["exponentials"].astype(np.int32),
        distances=None if distances is None else distances.astype(np.int32),
    )


def _as_int8(zero_point: int) -> int:
    """Return a zero point as a descriptor has it: that of a byte without a sign can be 255."""
    return (zero_point + 128) % 256 - 128

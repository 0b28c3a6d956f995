"""Lists that take longer than their layers on the CPU: of operations that may be small."""

from collections import Counter
from collections.abc import Callable, Iterable

from kiwicha.compiler.engine.cost.cycles import predict_list
from kiwicha.compiler.engine.ir.element_operations import FloatConversion
from kiwicha.compiler.engine.ir.engine_list import EngineList
from kiwicha.compiler.engine.ir.operations import Operation
from kiwicha.compiler.engine.ir.refusals import Troubles
from kiwicha.compiler.engine.select.recurrent import RECURRENT_KERNELS
from kiwicha.compiler.engine.select.shorts.elements import SHORT_ELEMENT_KERNELS
from kiwicha.compiler.engine.select.softmax.softmax import SOFTMAX_KERNELS
from kiwicha.compiler.lower.network import Network
from kiwicha.compiler.optimize.byte_tables import PAIR_KERNELS
from kiwicha.contract.configs import Config
from kiwicha.contract.program import Kernel

__all__ = ["small_list_troubles"]


def small_list_troubles(
    network: Network,
    lists: Iterable[EngineList],
    config: Config,
    cpu_cycles: Callable[[int], float],
) -> Troubles:
    """Return layers of some kinds that are alone in their lists and faster on the CPU.

    Parameters
    ----------
    network : Network
        The model.
    lists : iterable of EngineList
        All lists.
    config : Config
        What they will run on.
    cpu_cycles : callable
        Gives what a layer takes on the CPU, by its position.
    """
    refusals: dict[int, str] = {}
    for found in lists:
        operations = found.region.operations
        several = Counter(item.position for item in operations)
        if not all(_can_be_small(network, item, several) for item in operations):
            continue
        cycles, _ = predict_list(
            found.jobs,
            found.engine_transfers,
            config.engine_macs,
            config.requantizer_cycles,
            config.memory,
        )
        cycles += config.memory.list_cpu_cycles
        on_cpu = sum(cpu_cycles(position) for position in found.region.positions)
        if on_cpu <= cycles:
            why = f"takes {on_cpu:,.0f} cycles there, and {cycles:,} in a list of its own"
            refusals |= {item.position: why for item in operations}
    return Troubles(refusals)


def _can_be_small(network: Network, operation: Operation, several: Counter[int]) -> bool:
    """Whether an operation is of a kind that is often of a few elements only.

    Conversions, SOFTMAX, LOG_SOFTMAX, LSTMs and layers of int16 number by number, and layers of two
    tensors and images of other sizes that take several operations.
    """
    kernel = network.layers[operation.position].kernel
    if kernel in {*PAIR_KERNELS, Kernel.RESIZE_BILINEAR}:
        return several[operation.position] > 1
    kinds = {*SOFTMAX_KERNELS, *RECURRENT_KERNELS, *SHORT_ELEMENT_KERNELS}
    return kernel in kinds or isinstance(operation, FloatConversion)

"""Products of two computed matrices in the engine's terms: a move, and convolutions behind it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kiwicha.compiler.engine.ir.limits import Limit, exceeded, limit, require, verify
from kiwicha.compiler.engine.ir.operations import OperationSequence, Piece, internal_tensor
from kiwicha.compiler.engine.ir.product_operations import (
    ComputedConvolution,
    MatrixProductOperation,
)
from kiwicha.compiler.engine.ir.refusals import BrokenLimitError
from kiwicha.compiler.engine.ir.selection import Candidate, Decision, Refusal
from kiwicha.compiler.engine.ir.window import Window
from kiwicha.compiler.engine.schedule.estimates.operation_costs import (
    move_cycles,
    operation_cycles,
)
from kiwicha.compiler.engine.select.products.streams import LIST_TENSOR, Matrices, stream_move
from kiwicha.compiler.lower.network import Network
from kiwicha.compiler.optimize.ranges import is_narrow
from kiwicha.contract.configs import Config
from kiwicha.contract.engine import GROUP_WORDS, INPUT_LANES, outputs_of
from kiwicha.contract.program import Kernel
from kiwicha.kernels.matrix_product import MatrixProduct, matrices
from kiwicha.program.weight_streams import Parameters

__all__ = ["PRODUCT_LIMITS", "is_product", "product_decision"]

_OPERATORS = ("BATCH_MATMUL", "FULLY_CONNECTED")
_LISTS = 2
"""Starts of the engine that a product takes: its list, and the one behind it."""


@limit(*_OPERATORS, most=GROUP_WORDS * INPUT_LANES)
def product_depth(p: MatrixProduct) -> str | None:
    """Rows of two computed matrices have up to {most} elements."""
    return exceeded(p.depth, GROUP_WORDS * INPUT_LANES, "elements of a row")


@limit(*_OPERATORS)
def product_batches(p: MatrixProduct) -> str | None:
    """Of two computed matrices the first one is another one for each batch."""
    numbers = matrices(p, p.input_steps)
    is_in_order = bool((numbers == np.arange(len(numbers))).all())
    return None if is_in_order else "multiplies the same matrix in several batches"


PRODUCT_LIMITS: tuple[Limit[MatrixProduct], ...] = (product_depth, product_batches)
"""What must hold for products of two computed matrices."""


@dataclass(frozen=True)
class _Product:
    """A layer, and what it multiplies by."""

    params: MatrixProduct
    position: int
    source: int
    output: int
    numbers: tuple[int, ...]
    parameters: Parameters
    is_wide: bool

    @property
    def rows(self) -> int:
        """Rows of all batches."""
        return len(self.numbers) * self.params.rows

    def convolution(self, matrix: int) -> ComputedConvolution:
        """Return the operation that multiplies by one of the matrices."""
        p = self.params
        return ComputedConvolution(
            position=self.position,
            inputs=(self.source,),
            output=self.output,
            # Rows of one pixel can be cut into stripes; a job takes them for one row.
            window=Window.of_pixels(self.rows, 1, p.depth),
            output_channels=p.columns,
            clamp=(p.activation_min, p.activation_max),
            parameters=self.parameters,
            output_zero_point=p.output_offset,
            input_zero_point=-p.input_offset,
            weights=np.zeros((p.columns, 1, 1, p.depth), np.int16),
            weight_zero_point=-p.other_offset,
            is_wide=self.is_wide,
            matrix=matrix,
        )


def is_product(network: Network, position: int) -> bool:
    """Whether a layer multiplies two computed matrices."""
    layer = network.layers[position]
    if layer.kernel is not Kernel.MATRIX_PRODUCT:
        return False
    tensors = (network.tensors[layer.tensors[name]] for name in ("input", "other"))
    return not any(tensor.is_constant for tensor in tensors)


def product_decision(
    network: Network, position: int, config: Config, cpu_cycles: Callable[[int], float] | None
) -> Decision:
    """Return what is decided for a layer for which `is_product` holds.

    Parameters
    ----------
    network : Network
        The model.
    position : int
        Position of the layer.
    config : Config
        With an engine.
    cpu_cycles : callable, optional
        Gives what a layer takes on the CPU, by its position.
    """
    layer = network.layers[position]
    p: MatrixProduct = layer.params
    try:
        require(PRODUCT_LIMITS, p)
        product = _product(network, position)
        convolutions = {number: product.convolution(number) for number in product.numbers}
        verify(convolutions[0])
    except BrokenLimitError as error:
        return Decision((), (Refusal("", error.why),))
    move = stream_move(
        position,
        layer.tensors["other"],
        Matrices(len(convolutions), p.columns, p.depth, -p.other_offset),
        product.parameters,
        outputs_of(config.engine_macs),
    )
    if cpu_cycles is not None:
        taken = move_cycles(move) + operation_cycles(convolutions[0], config)
        taken += _LISTS * (config.memory.list_cpu_cycles + config.memory.list_start_cycles)
        on_cpu = cpu_cycles(position)
        if on_cpu <= taken:
            why = f"takes {on_cpu:,.0f} cycles there, and some {taken:,.0f} in a list of its own"
            return Decision((), (Refusal("", why),))
    multiplied = MatrixProductOperation(
        position=position,
        inputs=(product.source,),
        output=product.output,
        window=Window.of_pixels(product.rows, 1, p.depth),
        output_channels=p.columns,
        clamp=(p.activation_min, p.activation_max),
        pieces=tuple(
            Piece(range(batch * p.rows, (batch + 1) * p.rows), convolutions[number])
            for batch, number in enumerate(product.numbers)
        ),
        list_tensor=internal_tensor(position, LIST_TENSOR),
    )
    return Decision((Candidate("", OperationSequence.of([move, multiplied])),))


def _product(network: Network, position: int) -> _Product:
    """Return a layer in these terms."""
    layer = network.layers[position]
    p: MatrixProduct = layer.params
    bias = layer.constants.get("bias")
    count = p.columns
    parameters = Parameters(
        np.zeros(count, np.int32) if bias is None else bias.astype(np.int32),
        np.full(count, p.multiplier, np.int32),
        np.full(count, p.shift, np.int32),
    )
    return _Product(
        params=p,
        position=position,
        source=layer.tensors["input"],
        output=layer.tensors["output"],
        numbers=tuple(matrices(p, p.other_steps).tolist()),
        parameters=parameters,
        is_wide=not is_narrow(_sums(p, parameters.bias), parameters.shift),
    )


def _sums(
    p: MatrixProduct, bias: np.typing.NDArray[np.int32]
) -> tuple[np.typing.NDArray[np.int64], np.typing.NDArray[np.int64]]:
    """Return the least and the largest sum of each row of the second matrix."""
    ends = [np.array([-128, 127]) + offset for offset in (p.input_offset, p.other_offset)]
    products = p.depth * np.outer(*ends)
    sums = bias.astype(np.int64)
    return sums + min(products.min(), 0), sums + max(products.max(), 0)

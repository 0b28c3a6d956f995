"""Products of matrices in the engine's terms: convolutions, whose weights may be computed.

Computed matrices are moved to the order of weights before. A constant matrix for all batches is no
product, but the weights of a FULLY_CONNECTED.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kiwicha.compiler.engine.ir.limits import Limit, exceeded, limit, require, verify
from kiwicha.compiler.engine.ir.operations import (
    JobOperation,
    OperationSequence,
    Piece,
    internal_tensor,
)
from kiwicha.compiler.engine.ir.product_operations import (
    ComputedConvolution,
    ComputedProductOperation,
    ProductOperation,
)
from kiwicha.compiler.engine.ir.refusals import BrokenLimitError
from kiwicha.compiler.engine.ir.selection import Candidate, Decision, Refusal
from kiwicha.compiler.engine.ir.window import Window
from kiwicha.compiler.engine.ir.window_operations import Convolution
from kiwicha.compiler.engine.schedule.estimates.operation_costs import (
    move_cycles,
    operation_cycles,
)
from kiwicha.compiler.engine.select.convolutions.packed_products import packed_if_faster
from kiwicha.compiler.engine.select.convolutions.weighted import WeightedLayer, convolution
from kiwicha.compiler.engine.select.products.streams import LIST_TENSOR, Matrices, stream_move
from kiwicha.compiler.lower.network import Network
from kiwicha.compiler.optimize.ranges import SumRange, is_narrow
from kiwicha.compiler.tflite.tensor import Tensor
from kiwicha.contract.configs import Config
from kiwicha.contract.engine import GROUP_WORDS, INPUT_LANES, outputs_of
from kiwicha.contract.program import Kernel
from kiwicha.kernels.matrix_product import MatrixProduct, matrices
from kiwicha.program.weight_streams import Parameters

__all__ = ["PRODUCT_LIMITS", "is_product", "product_decision"]

_OPERATORS = ("BATCH_MATMUL", "FULLY_CONNECTED")
_LISTS = 2
"""Starts of the engine that a product of computed matrices takes: its list, and one behind it."""


@dataclass(frozen=True, eq=False)
class _Product:
    """A layer, and what it multiplies.

    Parameters
    ----------
    network : Network
        The model.
    position : int
        Position of the layer.
    """

    network: Network
    position: int

    @property
    def params(self) -> MatrixProduct:
        """Its parameters."""
        found: MatrixProduct = self.network.layers[self.position].params
        return found

    def tensor(self, name: str) -> Tensor:
        """Return one of its tensors."""
        return self.network.tensors[self.network.layers[self.position].tensors[name]]

    @cached_property
    def numbers(self) -> list[int]:
        """The number of the matrix that each batch multiplies by."""
        found: list[int] = matrices(self.params, self.params.other_steps).tolist()
        return found

    @property
    def window(self) -> Window:
        """Geometry of all batches: rows of one pixel can be cut into stripes."""
        return Window.of_pixels(len(self.numbers) * self.params.rows, 1, self.params.depth)

    @property
    def clamp(self) -> tuple[int, int]:
        """Smallest and largest output."""
        return self.params.activation_min, self.params.activation_max

    @cached_property
    def parameters(self) -> Parameters:
        """Bias, multiplier and shift of each row of a matrix."""
        p = self.params
        bias = self.network.layers[self.position].constants.get("bias")
        return Parameters(
            np.zeros(p.columns, np.int32) if bias is None else bias.astype(np.int32),
            np.full(p.columns, p.multiplier, np.int32),
            np.full(p.columns, p.shift, np.int32),
        )

    @property
    def sums(self) -> SumRange:
        """The least and the largest sum for each row of a computed matrix."""
        p = self.params
        ends = np.array([-128, 127])
        products = p.depth * np.outer(ends + p.input_offset, ends + p.other_offset)
        bias = self.parameters.bias.astype(np.int64)
        return bias + min(products.min(), 0), bias + max(products.max(), 0)


@limit(*_OPERATORS)
def computed_rows(item: _Product) -> str | None:
    """Of two matrices the first one is computed."""
    is_constant = item.tensor("input").is_constant
    return "multiplies a constant by a computed matrix" if is_constant else None


@limit(*_OPERATORS)
def matrices_of_batches(item: _Product) -> str | None:
    """Of two matrices the first one is another one for each batch."""
    numbers = matrices(item.params, item.params.input_steps)
    is_in_order = bool((numbers == np.arange(len(numbers))).all())
    return None if is_in_order else "multiplies one matrix by several"


@limit(*_OPERATORS, most=GROUP_WORDS * INPUT_LANES)
def product_depth(item: _Product) -> str | None:
    """Rows of two matrices have up to {most} elements, but for a constant one for all batches."""
    return exceeded(item.params.depth, GROUP_WORDS * INPUT_LANES, "elements of a row")


PRODUCT_LIMITS: tuple[Limit[_Product], ...] = (computed_rows, matrices_of_batches, product_depth)
"""What must hold for products of two matrices."""


def is_product(network: Network, position: int) -> bool:
    """Whether a layer multiplies two matrices."""
    return network.layers[position].kernel is Kernel.MATRIX_PRODUCT


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
    product = _Product(network, position)
    try:
        require(PRODUCT_LIMITS, product)
        if product.tensor("other").is_constant:
            return Decision((Candidate("", _with_constants(product, config)),))
        return _computed(product, config, cpu_cycles)
    except BrokenLimitError as error:
        return Decision((), (Refusal("", error.why),))


def _pieces(product: _Product, made: Callable[[int], JobOperation]) -> tuple[Piece, ...]:
    """Return the pieces of a product, given what multiplies by each matrix."""
    operations = {number: made(number) for number in product.numbers}
    rows = product.params.rows
    return tuple(
        Piece(range(batch * rows, (batch + 1) * rows), operations[number])
        for batch, number in enumerate(product.numbers)
    )


def _with_constants(product: _Product, config: Config) -> ProductOperation:
    """Return the products with constant matrices, a different one for each batch."""
    p = product.params
    tensors = product.network.layers[product.position].tensors
    shape = (-1, p.columns, 1, 1, p.depth)
    weights = product.tensor("other").int8s().reshape(shape).astype(np.int16) + p.other_offset
    layer = WeightedLayer(
        position=product.position,
        input=tensors["input"],
        output=tensors["output"],
        window=product.window,
        parameters=product.parameters,
        input_zero_point=-p.input_offset,
        output_zero_point=p.output_offset,
        clamp=product.clamp,
        weight_zero_point=-p.other_offset,
    )
    return ProductOperation(
        position=product.position,
        inputs=(layer.input,),
        output=layer.output,
        window=product.window,
        output_channels=p.columns,
        clamp=product.clamp,
        pieces=_pieces(
            product, lambda number: packed_if_faster(convolution(layer, weights[number]), config)
        ),
    )


def _computed(
    product: _Product, config: Config, cpu_cycles: Callable[[int], float] | None
) -> Decision:
    """Return what is decided for products with computed matrices."""
    p, position = product.params, product.position
    tensors = product.network.layers[position].tensors
    pieces = _pieces(product, lambda number: _convolution(product, number))
    first = pieces[0].operation
    assert isinstance(first, Convolution)
    verify(first)
    move = stream_move(
        position,
        tensors["other"],
        Matrices(len(set(product.numbers)), p.columns, p.depth, -p.other_offset),
        product.parameters,
        outputs_of(config.engine_macs),
    )
    if cpu_cycles is not None:
        taken = move_cycles(move) + operation_cycles(first, config)
        taken += _LISTS * (config.memory.list_cpu_cycles + config.memory.list_start_cycles)
        on_cpu = cpu_cycles(position)
        if on_cpu <= taken:
            why = f"takes {on_cpu:,.0f} cycles there, and some {taken:,.0f} in a list of its own"
            return Decision((), (Refusal("", why),))
    multiplied = ComputedProductOperation(
        position=position,
        inputs=(tensors["input"],),
        output=tensors["output"],
        window=product.window,
        output_channels=p.columns,
        clamp=product.clamp,
        pieces=pieces,
        list_tensor=internal_tensor(position, LIST_TENSOR),
    )
    return Decision((Candidate("", OperationSequence.of([move, multiplied])),))


def _convolution(product: _Product, matrix: int) -> ComputedConvolution:
    """Return the operation that multiplies by one of the computed matrices."""
    p = product.params
    tensors = product.network.layers[product.position].tensors
    return ComputedConvolution(
        position=product.position,
        inputs=(tensors["input"],),
        output=tensors["output"],
        window=product.window,
        output_channels=p.columns,
        clamp=product.clamp,
        parameters=product.parameters,
        output_zero_point=p.output_offset,
        input_zero_point=-p.input_offset,
        weights=np.zeros((p.columns, 1, 1, p.depth), np.int16),
        weight_zero_point=-p.other_offset,
        is_wide=not is_narrow(product.sums, product.parameters.shift),
        matrix=matrix,
    )

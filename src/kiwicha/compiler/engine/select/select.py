"""Which layers the engine can compute, and in which forms: the fastest first."""

import dataclasses
import itertools
import math
from collections.abc import Callable

from kiwicha.compiler.engine.ir.element_operations import ElementOperation
from kiwicha.compiler.engine.ir.move_operations import MoveOperation
from kiwicha.compiler.engine.ir.operations import (
    ComputeOperation,
    DividedOperation,
    JobOperation,
)
from kiwicha.compiler.engine.ir.selection import Candidate, Decision, Refusal, Selection
from kiwicha.compiler.engine.ir.softmax_operation import SoftmaxOperation
from kiwicha.compiler.engine.ir.window_operations import Convolution
from kiwicha.compiler.engine.schedule.estimates.operation_costs import sequence_cycles
from kiwicha.compiler.engine.schedule.move_estimate import move_cycles_alone
from kiwicha.compiler.engine.select.convolutions.arrangements import arranged
from kiwicha.compiler.engine.select.convolutions.channel_blocks import block_candidates
from kiwicha.compiler.engine.select.convolutions.chunks import (
    in_chunks,
    is_long,
    with_parts_of_sums,
)
from kiwicha.compiler.engine.select.convolutions.packed_products import packed_if_faster
from kiwicha.compiler.engine.select.convolutions.wide_groups import split_by_width
from kiwicha.compiler.engine.select.elements.constant_sums import constant_sum_candidates
from kiwicha.compiler.engine.select.legalize import (
    is_weighted,
    legalize,
    oriented,
    weighted_layer,
)
from kiwicha.compiler.engine.select.moves.moves import is_move
from kiwicha.compiler.engine.select.moves.picks import with_picks
from kiwicha.compiler.engine.select.products.products import is_product, product_decision
from kiwicha.compiler.engine.select.recurrent import RECURRENT_KERNELS, recurrent_decision
from kiwicha.compiler.engine.select.shorts.elements import (
    SHORT_ELEMENT_KERNELS,
    short_element_decision,
)
from kiwicha.compiler.engine.select.shorts.layers import SHORT_KERNELS, short_decision
from kiwicha.compiler.engine.select.softmax.softmax import without_slow_softmax
from kiwicha.compiler.lower.network import Network
from kiwicha.compiler.optimize.byte_tables import PAIR_KERNELS
from kiwicha.contract.configs import Config
from kiwicha.contract.program import Kernel

__all__ = ["select"]

OTHER_ROWS = 1.05
"""By what a form of a move counts as slower whose rows are not those of neighbours."""
SEVERAL_PASSES = 1.25
"""By what a form of a pool counts as slower that has something between its passes."""


def select(
    network: Network,
    config: Config,
    *,
    has_tables: bool = True,
    cpu_cycles: Callable[[int], float] | None = None,
) -> Selection:
    """Return for each layer the forms in which the engine can compute it, and why not in others.

    Parameters
    ----------
    network : Network
        The model.
    config : Config
        With an engine.
    has_tables : bool
        The engine does element-wise jobs.
    cpu_cycles : callable, optional
        Gives what a layer takes on the CPU, by its position: what needs a job for each block of
        channels must be faster. Nothing is done in blocks without it.
    """
    found = Selection(
        tuple(
            _decision(network, position, config, has_tables, cpu_cycles)
            for position in range(len(network.layers))
        )
    )
    found.verify()
    return found


def _decision(
    network: Network,
    position: int,
    config: Config,
    has_tables: bool,
    cpu_cycles: Callable[[int], float] | None,
) -> Decision:
    """Return what is decided for one layer."""
    if is_product(network, position):
        return product_decision(network, position, config, cpu_cycles)
    if network.layers[position].kernel in SHORT_KERNELS:
        return short_decision(network, position, config)
    if network.layers[position].kernel in SHORT_ELEMENT_KERNELS:
        return short_element_decision(network, position, config)
    if network.layers[position].kernel in RECURRENT_KERNELS:
        return recurrent_decision(network, position, config)
    legal = legalize(network, position)
    candidates, refusals = list(legal.candidates), list(legal.refusals)
    if any(isinstance(c.operation, SoftmaxOperation) for c in candidates):
        on_cpu = math.inf if cpu_cycles is None else cpu_cycles(position)
        candidates, why_not = without_slow_softmax(candidates, config, on_cpu)
        refusals += why_not
    if is_move(network.layers[position]):
        candidates = _by_cycles(candidates, config)
        if candidates and not network.layers[position].is_shared:
            candidates = _with_picks(candidates, config)
    elif not has_tables and any(_has_elements(c) for c in candidates):
        refusals.append(Refusal("", "is element-wise, and element-wise jobs are switched off"))
        candidates = []
    else:
        sums = (constant_sum_candidates(network, position, c.operation, config) for c in candidates)
        candidates = [*itertools.chain.from_iterable(sums), *candidates]
        candidates = [part for whole in candidates for part in _widths(whole, config)]
        if network.layers[position].kernel in PAIR_KERNELS:
            candidates.sort(key=lambda candidate: sequence_cycles(candidate.operation, config))
        if network.layers[position].kernel is Kernel.MAX_POOL:
            candidates.sort(key=lambda candidate: _pool_cycles(candidate, config))
    if cpu_cycles is not None and is_weighted(network, position):
        found = (candidate.operation for candidate in candidates)
        layer = oriented(network, position)
        blocks, why_not = block_candidates(
            layer,
            weighted_layer(layer, position),
            config,
            next((item for item in found if isinstance(item, ComputeOperation)), None),
            cpu_cycles(position),
        )
        candidates = [*blocks, *candidates]
        refusals += why_not
    return Decision(tuple(candidates), tuple(refusals))


def _pool_cycles(candidate: Candidate, config: Config) -> float:
    """Return about what a form of a pool takes: in several passes it must be faster by much."""
    cycles = sequence_cycles(candidate.operation, config)
    return cycles * (1.0 if len(candidate.operation.steps) == 1 else SEVERAL_PASSES)


def _by_cycles(candidates: list[Candidate], config: Config) -> list[Candidate]:
    """Return forms of a move, the fastest first.

    The first two have rows as neighbours have them, and can work in stripes with these: others
    must be faster by more. What takes several operations comes last.
    """
    several = [c for c in candidates if not isinstance(c.operation, MoveOperation)]
    candidates = [c for c in candidates if c not in several]
    if len(candidates) < 2:
        return [*candidates, *several]
    cycles = [move_cycles_alone(c.operation, config) for c in candidates]
    weighed = [n * (1.0 if number < 2 else OTHER_ROWS) for number, n in enumerate(cycles)]
    order = sorted(range(len(cycles)), key=weighed.__getitem__)
    return [*(candidates[number] for number in order), *several]


def _with_picks(candidates: list[Candidate], config: Config) -> list[Candidate]:
    """Return forms of a move, before them one with convolutions where these are faster."""
    picks = with_picks(candidates[0].operation, config)
    if picks is candidates[0].operation:
        return candidates
    return [Candidate("as convolutions", picks), *candidates]


def _has_elements(candidate: Candidate) -> bool:
    return any(isinstance(step, ElementOperation) for step in candidate.operation.steps)


def _widths(whole: Candidate, config: Config) -> list[Candidate]:
    """Return a candidate with packed products, and before it in parts if some of it is wide."""
    operation = whole.operation
    if isinstance(operation, DividedOperation):
        pieces = (
            dataclasses.replace(piece, operation=packed_if_faster(piece.operation, config))
            for piece in operation.pieces
        )
        parts = tuple(part for piece in pieces for part in in_chunks(piece))
        return [Candidate(whole.form, dataclasses.replace(operation, pieces=parts))]
    if not isinstance(operation, JobOperation):
        return [whole]
    operation = packed_if_faster(operation, config)
    if is_long(operation):
        return [Candidate(whole.form or "in parts of its sums", with_parts_of_sums(operation))]
    candidates = [Candidate(whole.form, operation)]
    split = split_by_width(operation, config)
    if split is not None:
        candidates.insert(0, Candidate("with wide sums in some jobs only", split))
    elif isinstance(operation, Convolution):
        candidates = [*arranged(operation, config), *candidates]
    return candidates

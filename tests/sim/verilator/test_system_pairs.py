"""Layers of two tensors of any shapes, and PRELU, on the simulated system."""

import pytest

from kiwicha.compiler import compile_model
from kiwicha.contract.program import Where
from kiwicha.sim.verilator.program_run import run_program
from tests.support.choices import at_night
from tests.support.models.pair_layers import Shape, pair
from tests.support.models.random_broadcasts import network
from tests.support.oracle import oracle

pytestmark = pytest.mark.verilator


def compare(case: oracle.Case) -> set[Where]:
    """Compare what the system computes with the interpreter; return where layers ran."""
    (answer,) = oracle.ask([case])
    assert answer.outputs is not None, answer.error
    program = compile_model(case.model, "64")
    result = run_program(program, [array.tobytes() for array in case.inputs])
    assert result.outputs == tuple(output.tobytes() for output in answer.outputs)
    return {layer.where for layer in program.layers}


@pytest.mark.parametrize(
    ("operator", "first", "second", "constant"),
    [
        # Moves whose source stays where it is.
        ("ADD", (1, 9, 11, 1), (1, 9, 11, 48), None),
        ("SQUARED_DIFFERENCE", (1, 9, 1, 24), (1, 9, 11, 24), None),
        ("PRELU", (1, 9, 11, 24), (1, 1, 24), 1),
        *map(
            at_night,
            [
                ("MUL", (1, 1, 11, 5), (1, 9, 11, 5), None),
                ("MAXIMUM", (1, 9, 11, 5), (1, 9, 11, 1), None),
                ("PRELU", (1, 9, 11, 24), (1, 11, 1), 1),
            ],
        ),
    ],
)
def test_two_tensors(operator: str, first: Shape, second: Shape, constant: int | None) -> None:
    assert compare(pair(operator, first, second, constant)) == {Where.ENGINE}


@pytest.mark.parametrize("seed", [*range(2), *map(at_night, range(2, 40))])
def test_networks(seed: int) -> None:
    assert Where.ENGINE in compare(network(seed))

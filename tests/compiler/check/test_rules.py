"""Every support rule is broken once; the whole text of the refusal is compared."""

import re
from collections.abc import Callable

import pytest

from kiwicha.compiler import compile_model, read, support_rules, supported_operators, violations
from kiwicha.compiler.tflite.signal_operators import SIGNAL_OPERATORS
from kiwicha.custom import MODEL_PREFIX
from kiwicha.errors import UnsupportedModelError
from tests.support.broken.images import BROKEN_IMAGES
from tests.support.broken.index_moves import BROKEN_INDEX_MOVES
from tests.support.broken.integers import BROKEN_INTEGERS
from tests.support.broken.matrix_products import BROKEN_PRODUCTS
from tests.support.broken.moves import BROKEN_MOVES
from tests.support.broken.pairs import BROKEN_PAIRS
from tests.support.broken.recurrent import BROKEN_RECURRENT
from tests.support.broken.scales import BROKEN_SCALES
from tests.support.broken.shapes import BROKEN_SHAPES
from tests.support.broken.shorts import BROKEN_SHORTS
from tests.support.broken.signals import BROKEN_SIGNALS
from tests.support.broken.tables import BROKEN_TABLES
from tests.support.broken.tensors import BROKEN_TENSORS
from tests.support.broken.unsigned import BROKEN_UNSIGNED
from tests.support.broken.variables import BROKEN_VARIABLES
from tests.support.models.detectors import DETECTION, detector
from tests.support.models.one_operator import (
    constant_output,
    pair,
    two_outputs,
    two_subgraphs,
    unary,
)

RULES: list[tuple[Callable[[], bytes], str]] = [
    (
        two_subgraphs,
        "model: number of subgraphs must be 1, not 2: no CALL_ONCE executes subgraph 1",
    ),
    (constant_output, "model (w): model output must be computed, not be a constant"),
    (
        lambda: unary("FLOOR", {}, {}),
        "operator 0 FLOOR: operator must be one of those that docs/supported.md lists",
    ),
    (
        lambda: unary("CUSTOM:Nobody", {}, {}),
        (
            "operator 0 CUSTOM:Nobody: custom operator must be one of an installed package (none); "
            "see docs/custom-operators.md"
        ),
    ),
    (two_outputs, "operator 0 RESHAPE: number of outputs must be 1, not 2"),
    (
        lambda: unary("ADD", {}, {}),
        "operator 0 ADD: inputs 0 to 1 must be present, not only 1 of them",
    ),
    (
        lambda: pair("SOFTMAX", {}, {}, {}, beta=1.0),
        "operator 0 SOFTMAX: number of inputs must be at most 1, not 2",
    ),
    *BROKEN_TENSORS,
    *BROKEN_SHAPES,
    *BROKEN_SCALES,
    *BROKEN_IMAGES,
    *BROKEN_PAIRS,
    *BROKEN_PRODUCTS,
    *BROKEN_MOVES,
    *BROKEN_INDEX_MOVES,
    *BROKEN_INTEGERS,
    *BROKEN_UNSIGNED,
    (
        lambda: detector(0, max_classes_per_detection=2).model,
        f"operator 2 {DETECTION}: max_classes_per_detection must be 1, not 2",
    ),
    *BROKEN_TABLES,
    *BROKEN_VARIABLES,
    *BROKEN_RECURRENT,
    *BROKEN_SHORTS,
    *BROKEN_SIGNALS,
]


@pytest.mark.parametrize(("build", "message"), RULES, ids=[text[:60] for _, text in RULES])
def test_refuses(build: Callable[[], bytes], message: str) -> None:
    with pytest.raises(UnsupportedModelError) as refusal:
        compile_model(build(), "simd")
    assert "; ".join(map(str, refusal.value.violations)) == message


def test_each_rule_is_broken_above() -> None:
    broken = {v.rule for build, _ in RULES for v in violations(read(build()))}
    untested = {text for text, _ in support_rules()} - broken
    assert not untested


def test_rules_are_sentences() -> None:
    for text, operators in support_rules():
        assert re.fullmatch(r"[A-Z].*\.", text)
        signals = {MODEL_PREFIX + name for name in SIGNAL_OPERATORS}
        assert set(operators) <= {*supported_operators(), DETECTION, *signals}

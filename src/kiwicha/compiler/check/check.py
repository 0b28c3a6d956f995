"""Which models are supported: every rule is checked, and everything that breaks one is reported."""

from collections.abc import Iterator

from kiwicha.compiler.check.custom import CUSTOM_RULE, custom_problems
from kiwicha.compiler.check.image_moves import IMAGE_MOVE_RULES
from kiwicha.compiler.check.images import IMAGE_SHAPE_RULES
from kiwicha.compiler.check.index_moves import INDEX_MOVE_RULES
from kiwicha.compiler.check.integers import INTEGER_RULES
from kiwicha.compiler.check.matrix_products import PRODUCT_SCALE_RULES, PRODUCT_SHAPE_RULES
from kiwicha.compiler.check.model import MODEL_RULES, is_a_known_operator
from kiwicha.compiler.check.moves import MOVE_RULES
from kiwicha.compiler.check.pairs import PAIR_SCALE_RULES
from kiwicha.compiler.check.recurrent import (
    RECURRENT_OPERAND_RULES,
    RECURRENT_SCALE_RULES,
    RECURRENT_SHAPE_RULES,
)
from kiwicha.compiler.check.remedies import Finding, remedies
from kiwicha.compiler.check.rules import Problem, Rule, rule_text
from kiwicha.compiler.check.scales import SCALE_RULES
from kiwicha.compiler.check.shapes import SHAPE_RULES
from kiwicha.compiler.check.shorts import (
    SHORT_OPERAND_RULES,
    SHORT_SCALE_RULES,
    SHORT_SHAPE_RULES,
)
from kiwicha.compiler.check.signal import SIGNAL_RULE, signal_problems
from kiwicha.compiler.check.tensors import COUNT_RULES, OPERAND_RULES, TENSOR_RULES
from kiwicha.compiler.check.unary import UNARY_SCALE_RULES, UNARY_SHAPE_RULES
from kiwicha.compiler.check.variables import VARIABLE_RULES
from kiwicha.compiler.check.wide_types import WIDE_OPERAND_RULES, WIDE_SCALE_RULES
from kiwicha.compiler.tflite.detectors import DETECTION_RULE
from kiwicha.compiler.tflite.detectors import NAME as DETECTION
from kiwicha.compiler.tflite.graph import Graph, Operator
from kiwicha.compiler.tflite.integer_operators import computes_integers
from kiwicha.compiler.tflite.operators import BYTE_TABLE, OPERATORS
from kiwicha.compiler.tflite.signal_operators import SIGNAL_OPERATORS, is_signal
from kiwicha.compiler.tflite.tensor import Tensor
from kiwicha.custom import MODEL_PREFIX
from kiwicha.errors import UnsupportedModelError, Violation

__all__ = ["check", "support_rules", "supported_operators", "violations"]

_SCALE_RULES = (
    *SCALE_RULES,
    *UNARY_SCALE_RULES,
    *PAIR_SCALE_RULES,
    *PRODUCT_SCALE_RULES,
    *RECURRENT_SCALE_RULES,
    *WIDE_SCALE_RULES,
    *SHORT_SCALE_RULES,
)
OPERATOR_RULE_GROUPS = (
    COUNT_RULES,
    (*OPERAND_RULES, *RECURRENT_OPERAND_RULES, *WIDE_OPERAND_RULES, *SHORT_OPERAND_RULES),
    (
        *SHAPE_RULES,
        *PRODUCT_SHAPE_RULES,
        *UNARY_SHAPE_RULES,
        *IMAGE_SHAPE_RULES,
        *MOVE_RULES,
        *IMAGE_MOVE_RULES,
        *INDEX_MOVE_RULES,
        *INTEGER_RULES,
        *VARIABLE_RULES,
        *RECURRENT_SHAPE_RULES,
        *SHORT_SHAPE_RULES,
    ),
    _SCALE_RULES,
)
"""Rules of a group are checked only for operators that break no rule of the groups before."""


def check(graph: Graph) -> None:
    """Refuse a model that is not supported.

    Raises
    ------
    UnsupportedModelError
        With every violation, and what to do about them.
    """
    findings = _findings(graph)
    if findings:
        listed = [violation for violation, _ in findings]
        raise UnsupportedModelError(listed, remedies(graph, findings))


def violations(graph: Graph) -> tuple[Violation, ...]:
    """Return everything a model asks for that is not supported, by operator."""
    return tuple(violation for violation, _ in _findings(graph))


def support_rules() -> list[tuple[str, tuple[str, ...]]]:
    """Return every rule's text and the operators it is for; () means the whole model."""
    rules: list[tuple[str, tuple[str, ...]]] = [(rule_text(check), ()) for check in MODEL_RULES]
    rules.append((rule_text(is_a_known_operator), ()))
    rules += [(CUSTOM_RULE, ()), (DETECTION_RULE, (DETECTION,))]
    rules.append((SIGNAL_RULE, tuple(MODEL_PREFIX + name for name in SIGNAL_OPERATORS)))
    rules += [(item.text, _of_tflite(item)) for group in OPERATOR_RULE_GROUPS for item in group]
    return [(text, operators) for text, operators in rules if operators != (BYTE_TABLE,)]


def _of_tflite(item: Rule) -> tuple[str, ...]:
    return tuple(name for name in item.operators if name != BYTE_TABLE)


def supported_operators() -> tuple[str, ...]:
    """Return the names of all supported operators."""
    return tuple(name for name in OPERATORS if name != BYTE_TABLE)


def _findings(graph: Graph) -> list[Finding]:
    findings: list[Finding] = []
    reported: set[tuple[str, int]] = set()

    def add(operator: Operator | None, text: str, problem: Problem) -> None:
        # A tensor is named once, by the first operator that has it.
        tensor: Tensor | None = problem.tensor
        if tensor is not None:
            if (text, tensor.index) in reported:
                return
            reported.add((text, tensor.index))
        violation = Violation(
            None if operator is None else operator.index,
            "model" if operator is None else operator.name,
            "" if tensor is None else tensor.name,
            text,
            problem.text,
        )
        findings.append((violation, problem))

    for model_rule in MODEL_RULES:
        for problem in model_rule(graph):
            add(None, rule_text(model_rule), problem)
    for operator in graph.operators:
        if graph.is_done(operator):
            continue
        for text, problem in _operator_problems(graph, operator):
            add(operator, text, problem)
    for what, indices in (("model input", graph.inputs), ("model output", graph.outputs)):
        for index in indices:
            for text, tensor_check in TENSOR_RULES.items():
                for problem in tensor_check(what, graph.tensors[index]):
                    add(None, text, problem)
    return findings


def _operator_problems(graph: Graph, operator: Operator) -> Iterator[tuple[str, Problem]]:
    if is_signal(operator):
        yield from ((SIGNAL_RULE, problem) for problem in signal_problems(graph, operator))
        return
    if operator.name.startswith(MODEL_PREFIX):
        rule = DETECTION_RULE if operator.name == DETECTION else CUSTOM_RULE
        yield from ((rule, problem) for problem in custom_problems(graph, operator))
        return
    for problem in is_a_known_operator(operator):
        yield rule_text(is_a_known_operator), problem
    for group in OPERATOR_RULE_GROUPS:
        if group is _SCALE_RULES and computes_integers(graph, operator):
            return
        found = [
            (item.text, problem)
            for item in group
            if operator.name in item.operators
            for problem in item.check(graph, operator)
        ]
        yield from found
        if found:
            return

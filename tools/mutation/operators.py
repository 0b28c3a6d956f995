"""Faults that are put into Python sources, numerics and gateware alike."""

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

__all__ = ["Mutant", "mutants"]

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_OPERATIONS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
}
_MOST_LETTERS = 100
_SILENT = ("__all__",)
"""Assignments that do nothing when the program runs."""


_Path = tuple[tuple[str, int | None], ...]
"""Fields and indices from the module down to a node."""


@dataclass(frozen=True)
class Mutant:
    """A module's source with one fault.

    Parameters
    ----------
    number : int
        Among those of the module.
    line : int
        Where it is.
    text : str
        Of this line.
    change : str
        What was there, and what is there now.
    place : int
        Among those with the same text and change, from 0 on.
    whole : str
        Source of the module without it.
    path : tuple
        The place in its tree.
    replacement : ast.AST or None
        What is put there; None takes out what is there.
    """

    number: int
    line: int
    text: str
    change: str
    place: int
    whole: str = field(repr=False)
    path: _Path = field(repr=False)
    replacement: ast.AST | None = field(repr=False)

    @property
    def key(self) -> tuple[str, str, int]:
        """What it is, wherever its line is."""
        return self.text, self.change, self.place

    @property
    def source(self) -> str:
        """Of the whole module, with the fault."""
        tree = ast.parse(self.whole)
        _put(tree, self.path, self.replacement)
        return ast.unparse(ast.fix_missing_locations(tree))


def mutants(source: str) -> list[Mutant]:
    """Return every fault that is known how to put into a module.

    Comparisons and operations become their neighbours, numbers one more or less, conditions their
    opposites, and statements, assertions and elements of lists of statements are left out.
    Annotations, docstrings, ports, messages of errors and checks of types are left alone.

    Parameters
    ----------
    source : str
        Python.
    """
    tree, lines = ast.parse(source), source.splitlines()
    places: Counter[tuple[str, str]] = Counter()
    found = []
    for number, (path, replacement) in enumerate(_changes(tree)):
        before = _at(tree, path)
        line = getattr(before, "lineno", 0)
        text = lines[line - 1].strip() if line else ""
        change = f"{_short(before)} -> {_short(replacement)}"
        place = places[text, change]
        places[text, change] += 1
        found.append(Mutant(number, line, text, change, place, source, path, replacement))
    return found


def _at(tree: ast.AST, path: _Path) -> ast.AST:
    """Return a node."""
    node = tree
    for name, place in path:
        child = getattr(node, name)
        node = child if place is None else child[place]
    return node


def _put(tree: ast.AST, path: _Path, replacement: ast.AST | None) -> None:
    """Replace a node, or take it out of its list."""
    node, (name, place) = _at(tree, path[:-1]), path[-1]
    if place is None:
        setattr(node, name, replacement)
    elif replacement is None:
        del getattr(node, name)[place]
    else:
        getattr(node, name)[place] = replacement


def _short(node: ast.AST | None) -> str:
    if node is None:
        return "nothing"
    lines = ast.unparse(node).splitlines()
    is_short = len(lines) == 1 and len(lines[0]) <= _MOST_LETTERS
    return lines[0] if is_short else f"{lines[0][:_MOST_LETTERS]} ..."


def _changes(tree: ast.AST, path: _Path = ()) -> Iterator[tuple[_Path, ast.AST | None]]:
    """Give the place of each fault and what is put there."""
    for name, value in ast.iter_fields(tree):
        if name in {"annotation", "returns", "decorator_list"}:
            continue
        children = list(enumerate(value)) if isinstance(value, list) else [(None, value)]
        for index, child in children:
            if isinstance(child, ast.AST) and not _is_left_alone(child):
                place = (*path, (name, index))
                yield from ((place, other) for other in _others(child, name))
                yield from _changes(child, place)


def _is_left_alone(node: ast.AST) -> bool:
    if isinstance(node, ast.Raise | ast.Import | ast.ImportFrom | ast.JoinedStr):
        return True
    if isinstance(node, ast.Expr):
        # Ports of other widths are found where they are connected.
        is_ports = ast.unparse(node.value).startswith("super().__init__")
        return is_ports or isinstance(node.value, ast.Constant)
    if isinstance(node, ast.Assert):
        # These tell a checker of types what is known.
        text = ast.unparse(node.test)
        return text.startswith("isinstance(") or text.endswith(" is not None")
    if isinstance(node, ast.Assign):
        return any(isinstance(name, ast.Name) and name.id in _SILENT for name in node.targets)
    return isinstance(node, ast.Call) and ast.unparse(node.func) in {"isinstance", "TypeVar"}


def _others(node: ast.AST, name: str) -> Iterator[ast.AST | None]:
    """Give what can stand instead of a node."""
    if isinstance(node, ast.expr):
        yield from _other_expressions(node)
        if name == "elts" and ast.unparse(getattr(node, "func", node)).endswith(".eq"):
            # One of the statements of a list.
            yield None
    elif isinstance(node, ast.If | ast.While):
        other = copy.deepcopy(node)
        other.test = ast.UnaryOp(ast.Not(), other.test)
        yield other
    elif isinstance(node, ast.Expr | ast.AugAssign | ast.Assert) and name in {"body", "orelse"}:
        yield ast.Pass()


def _other_expressions(node: ast.expr) -> Iterator[ast.AST]:
    if isinstance(node, ast.Compare):
        for number, operator in enumerate(node.ops):
            if type(operator) in _COMPARISONS:
                other = copy.deepcopy(node)
                other.ops[number] = _COMPARISONS[type(operator)]()
                yield other
    elif isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        yield ast.BinOp(node.left, _OPERATIONS[type(node.op)](), node.right)
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.Invert | ast.USub):
        yield node.operand
    elif isinstance(node, ast.IfExp):
        yield ast.IfExp(node.test, node.orelse, node.body)
    elif isinstance(node, ast.Constant):
        yield from _other_constants(node.value)


def _other_constants(value: object) -> Iterator[ast.AST]:
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, int):
        yield ast.Constant(value + 1)
        if value > 0:
            yield ast.Constant(value - 1)

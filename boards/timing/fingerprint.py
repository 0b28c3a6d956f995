"""Hashes of what a timing estimate depends on, besides the tools' versions."""

import ast
from pathlib import Path

from kiwicha import cache
from kiwicha.boards.family import Family
from kiwicha.boards.flow.fingerprint import core_fingerprint
from kiwicha.boards.timing.estimate import TOP
from kiwicha.contract.configs import Config

__all__ = ["timing_fingerprint"]


def timing_fingerprint(config: Config) -> dict[str, str]:
    """Return hashes of what the estimate of a CFU depends on.

    Parameters
    ----------
    config : Config
        What it has.

    Returns
    -------
    dict
        Those of `core_fingerprint`, and ``delays``: of the code that has the delays and adds them
        up, without comments and docstrings.
    """
    files = sorted(Path(__file__).parent.glob("*.py"))
    code = [_without_texts(path.read_text(encoding="utf-8")) for path in files]
    return {**core_fingerprint(config, TOP, Family.XC7), "delays": cache.digest(sorted(code))}


def _without_texts(source: str) -> str:
    """Return a module as its syntax tree, without statements that are texts alone."""
    return ast.dump(_Bare().visit(ast.parse(source)))


class _Bare(ast.NodeTransformer):
    """Takes docstrings out of a syntax tree."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        return None if isinstance(node.value, ast.Constant) else node

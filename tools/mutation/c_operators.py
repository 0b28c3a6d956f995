"""Faults that are put into C sources."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["CFault", "c_faults"]

_TOKEN = re.compile(
    r"(?P<name>[A-Za-z_]\w*)|(?P<number>0[xX][0-9a-fA-F]+|\d+)(?P<suffix>[uUlL]*)(?![\w.])"
    r"|(?P<operator><<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||->|\+\+|--|[-+*/&|^%]=?|[<>])"
)
_OTHERS = {
    "<": ("<=",),
    "<=": ("<",),
    ">": (">=",),
    ">=": (">",),
    "==": ("!=",),
    "!=": ("==",),
    "&&": ("||",),
    "||": ("&&",),
    "<<": (">>",),
    ">>": ("<<",),
    "+": ("-",),
    "-": ("+",),
    "*": ("+",),
    "/": ("*",),
    "%": ("/",),
    "&": ("|",),
    "|": ("&",),
    "^": ("|",),
    "+=": ("-=",),
    "-=": ("+=",),
    "&=": ("|=",),
    "|=": ("&=",),
    "<<=": (">>=",),
    ">>=": ("<<=",),
}
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_FUNCTION = re.compile(r"(\w+)\([^;{}]*\)\s*\{")
_ARGUMENTS = "NULL"
"""In lines that look at arguments of a call."""
_CHECKS = re.compile(r"check|require")
_STATEMENT = re.compile(
    r"^ +[^=\n]*[^=!<>+\-*/%&|^\n] = [^;{}]*;$|^ +\w+\([^;{}]*\);$", re.MULTILINE
)
_DECLARATION = re.compile(r"^ +(?:const |static |struct |enum |\w+_t |bool |u?int |float |double )")


@dataclass(frozen=True)
class CFault:
    """A C file with one fault.

    Parameters
    ----------
    number : int
        Among those of the file.
    line : int
        Where it is.
    change : str
        What was there, and what is there now.
    text : str
        Of the line, without a fault.
    source : str
        Of the whole file.
    """

    number: int
    line: int
    change: str
    text: str
    source: str


def c_faults(source: str, *, of_checks: bool = False) -> list[CFault]:
    """Return every fault that is known how to put into the functions of a C file.

    Comparisons and operations become their neighbours, numbers one more or less, and statements are
    left out. Lines that look at arguments of calls are left alone: Programs always give them.

    Parameters
    ----------
    source : str
        C.
    of_checks : bool
        In functions that check parameters; else in all others.
    """
    blank = _COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), source)
    found: list[CFault] = []
    for start, end, text in _changes(blank, of_checks):
        made = source[:start] + text + source[end:]
        line = source.count("\n", 0, start) + 1
        before = " ".join(source[start:end].split())
        change = f"{before} -> {text or 'nothing'}"
        if text and before in _OTHERS:
            around = source[max(start - 20, 0) : end + 20].split("\n")
            change += f" in {min((part for part in around if before in part), key=len).strip()}"
        found.append(CFault(len(found), line, change, _line_of(source, start).strip(), made))
    return found


def _changes(source: str, of_checks: bool) -> Iterator[tuple[int, int, str]]:
    """Give the places of faults, and what is put there."""
    for begin, end in _bodies(source, of_checks):
        for match in _TOKEN.finditer(source, begin, end):
            if _ARGUMENTS in _line_of(source, match.start()):
                continue
            for text in _others(match):
                yield match.start(), match.end(), text
        for match in _STATEMENT.finditer(source, begin, end):
            if not _DECLARATION.match(match[0]):
                first = match.start() + len(match[0]) - len(match[0].lstrip())
                yield first, match.end(), ""


def _line_of(source: str, place: int) -> str:
    end = source.find("\n", place)
    return source[source.rfind("\n", 0, place) + 1 : end]


def _others(match: re.Match[str]) -> Iterator[str]:
    if match["operator"]:
        yield from _OTHERS.get(match["operator"], ())
    elif match["number"]:
        value = int(match["number"], 0)
        yield f"{value + 1}{match['suffix']}"
        if value > 0:
            yield f"{value - 1}{match['suffix']}"


def _bodies(source: str, of_checks: bool) -> Iterator[tuple[int, int]]:
    """Give where bodies of functions begin and end: of those that check, or of others."""
    place = 0
    while match := _FUNCTION.search(source, place):
        depth, end = 1, match.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(source[end], 0)
            end += 1
        if bool(_CHECKS.search(match[1])) == of_checks:
            yield match.end(), end
        place = end

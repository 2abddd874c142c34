# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pattern: Python source in which `...` stands for anything (rules 1, 2 and 4)."""

from __future__ import annotations

import ast
import typing as t
import warnings

from .errors import PatchError, quoted


def is_wildcard(node: object) -> bool:
    """`...` where an expression stands."""
    return isinstance(node, ast.Constant) and node.value is Ellipsis


def is_wildcard_statement(node: object) -> bool:
    """`...` where a statement stands."""
    return isinstance(node, ast.Expr) and is_wildcard(node.value)


class Pattern(t.NamedTuple):
    """Either one expression, or a run of statements that neither begins nor ends with `...`."""

    source: str
    expression: ast.expr | None
    statements: list[ast.stmt]

    def __str__(self) -> str:
        return quoted(self.source)


def dedent(text: str) -> str:
    """Take the first line's indentation off all lines; unlike textwrap, touch nothing else."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    first = next((line for line in lines if line.strip()), "")
    indent = first[: len(first) - len(first.lstrip(" \t"))]
    if not indent:
        return "\n".join(lines)
    return "\n".join([line[len(indent) :] if line.startswith(indent) else line for line in lines])


def _hint(message: str) -> str:
    if "positional argument follows keyword" in message:
        return "; write `...` before the keywords: `f(..., k=1)`"
    if "ssign to" in message and "llipsis" in message:
        return "; `...` cannot be assigned to, so name the target"
    return ""


def parse_pattern(source: str, where: str) -> Pattern:
    """`where` begins every message: it says which pattern of the recipe this is."""
    text = dedent(source).strip("\n")
    if not text.strip():
        raise PatchError(f"{where}: the pattern is empty")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        message = getattr(error, "msg", None) or str(error)
        line = f", line {error.lineno} of the pattern" if isinstance(error, SyntaxError) and error.lineno else ""
        raise PatchError(
            f"{where}: the pattern {quoted(text)} is not Python: {message}{line}{_hint(message)}"
        ) from error
    if not body:
        raise PatchError(f"{where}: the pattern {quoted(text)} holds only a comment; comments are never matched")
    statements = body
    # At either end of a run `...` is the run of no statements: anything longer would match many times.
    while statements and is_wildcard_statement(statements[0]):
        statements = statements[1:]
    while statements and is_wildcard_statement(statements[-1]):
        statements = statements[:-1]
    if not statements:
        raise PatchError(f"{where}: the pattern is only `...` and would match everything")
    if len(body) == 1 and isinstance(body[0], ast.Expr):
        return Pattern(text, body[0].value, [])
    return Pattern(text, None, statements)

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The text of an `insert`, in the indentation and with the line ends of its place."""

from __future__ import annotations

import ast
import io
import re
import tokenize
import typing as t
import warnings

from .errors import PatchError, quoted
from .pattern import dedent

_INDENT = re.compile(r"[ \t]*")


class Insertion:
    """Dedented source and its statements."""

    def __init__(self, text: str, where: str) -> None:
        text = dedent(text)
        self.text = text[:-1] if text.endswith("\n") else text
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.tree = ast.parse(self.text)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            message = getattr(error, "msg", None) or str(error)
            line = error.lineno if isinstance(error, SyntaxError) and error.lineno else 1
            raise PatchError(
                f"{where}: `insert` is not Python: {message}, in its line {line}: "
                f"{quoted((self.text.splitlines() or [''])[min(line, len(self.text.splitlines()) or 1) - 1])}"
            ) from error

    @property
    def statements(self) -> list[ast.stmt]:
        return self.tree.body

    @property
    def empty(self) -> bool:
        return not self.text.strip()

    @property
    def line_count(self) -> int:
        return self.text.count("\n") + 1

    def placed(self, base: str, unit: str) -> str:
        """Every line behind `base`, inner levels in the file's own `unit`; strings keep their bytes."""
        layout = _Layout(self.text, self.tree)
        lines = self.text.split("\n")
        return "\n".join([layout.line(number, line, base, unit) for number, line in enumerate(lines, 1)])

    def continued(self, base: str) -> str:
        """For a place inside a line: the first line as it is, the others behind `base`."""
        inside = _Layout(self.text, self.tree).inside_strings
        lines = self.text.split("\n")
        return "\n".join(
            [lines[0]]
            + [
                base + line if line.strip() and number not in inside else line
                for number, line in enumerate(lines[1:], 2)
            ]
        )


class _Layout:
    """Which lines begin a logical line and how deep, which lie inside a string."""

    def __init__(self, text: str, tree: ast.Module) -> None:
        self.depths: dict[int, tuple[int, str]] = {}
        self.inside_strings: set[int] = set()
        self.unit = ""
        self._read_tokens(text)
        self._docstrings = _docstring_lines(text, tree, self.depths)
        self.unit = self.unit or "    "

    def _read_tokens(self, text: str) -> None:
        stack: list[str] = []
        fresh = True
        templates: list[int] = []
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            name = tokenize.tok_name[token.type]
            if name == "INDENT":
                self.unit = self.unit or token.string[len("".join(stack[-1:])) :]
                stack.append(token.string)
            elif name == "DEDENT":
                stack.pop()
            elif name == "NEWLINE":
                fresh = True
            elif name not in ("NL", "COMMENT", "ENDMARKER"):
                if fresh:
                    self.depths[token.start[0]] = (len(stack), stack[-1] if stack else "")
                fresh = False
                if name in ("FSTRING_START", "TSTRING_START"):
                    templates.append(token.start[0])
                elif name in ("FSTRING_END", "TSTRING_END"):
                    self.inside_strings.update(range(templates.pop() + 1, token.end[0] + 1))
                elif name == "STRING":
                    self.inside_strings.update(range(token.start[0] + 1, token.end[0] + 1))

    def line(self, number: int, line: str, base: str, unit: str) -> str:
        if number in self._docstrings:
            depth, indent = self._docstrings[number]
            return base + unit * depth + line[len(indent) :] if line.strip() else line
        if number in self.inside_strings:
            return line
        if not line.strip():
            return ""
        if number in self.depths:
            depth, indent = self.depths[number]
            return base + unit * depth + line[len(indent) :]
        blank = _INDENT.match(line)
        return base + self._converted(blank.group() if blank else "", unit) + line.lstrip(" \t")

    def _converted(self, blank: str, unit: str) -> str:
        """Lines inside brackets and comments: whole levels in the file's unit, the rest as it is."""
        if unit == self.unit:
            return blank
        levels = 0
        while blank.startswith(self.unit):
            blank = blank[len(self.unit) :]
            levels += 1
        return unit * levels + blank


def _docstring_lines(text: str, tree: ast.Module, depths: dict[int, tuple[int, str]]) -> dict[int, tuple[int, str]]:
    """Continuation lines of docstrings, which move with their code: inspect.cleandoc does not see it."""
    lines = text.split("\n")
    result: dict[int, tuple[int, str]] = {}
    for node in ast.walk(tree):
        string = docstring_of(node)
        if string is None or string.lineno not in depths:
            continue
        depth, indent = depths[string.lineno]
        numbers = range(string.lineno + 1, (string.end_lineno or string.lineno) + 1)
        inner = [lines[number - 1] for number in numbers]
        joined = lines[string.lineno - 1 : string.end_lineno]
        if all(line.startswith(indent) or not line.strip() for line in inner) and not any(
            line.endswith("\\") for line in joined
        ):
            result.update(dict.fromkeys(numbers, (depth, indent)))
    return result


def docstring_of(node: ast.AST) -> ast.expr | None:
    """The docstring of a function or class, as a node."""
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return None
    return string_statement(node.body[0])


def string_statement(statement: t.Any) -> ast.expr | None:
    """The string of a statement that is one."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return statement.value if isinstance(statement.value.value, str) else None
    return None

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Scopes: which statements and expressions belong to `in` (rules 2 and 3)."""

from __future__ import annotations

import ast
import difflib
import typing as t

from .errors import PatchError, lines_text

Definition = t.Union[ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef]
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
# Nodes between a statement and its inner statements; ast.match_case exists since Python 3.10.
CLAUSES: tuple[type[ast.AST], ...] = tuple(
    [cls for cls in (ast.ExceptHandler, getattr(ast, "match_case", None)) if cls is not None]
)
# f-strings, and t-strings since 3.14: their text parts are no expressions of their own.
TEMPLATES: tuple[type[ast.AST], ...] = tuple(
    [cls for cls in (ast.JoinedStr, getattr(ast, "TemplateStr", None)) if cls is not None]
)


class Block(t.NamedTuple):
    """One list of statements: `getattr(owner, field)`."""

    owner: ast.AST
    field: str
    body: list[ast.stmt]


class Place(t.NamedTuple):
    """A statement in its block."""

    block: Block
    position: int


class Scope:
    """What a pattern is looked for in. `nested`: the bodies of inner functions and classes, too."""

    def __init__(self, owner: ast.Module | Definition, name: str | None, nested: bool = False) -> None:
        self.owner = owner
        self.name = name
        self.nested = nested
        self.blocks = list(_blocks(owner, nested))
        self._expressions: dict[type[ast.AST], list[tuple[ast.expr, Place]]] | None = None

    def __str__(self) -> str:
        if self.nested:
            return "the whole file"
        return self.name or "the module level"

    @property
    def body(self) -> Block:
        return Block(self.owner, "body", self.owner.body)

    def expressions(self, kind: type[ast.AST]) -> list[tuple[ast.expr, Place]]:
        """Every expression of one type with its innermost statement, in no particular order."""
        if self._expressions is None:
            self._expressions = {}
            for block in self.blocks:
                for index, statement in enumerate(block.body):
                    _collect(statement, Place(block, index), self._expressions)
        return self._expressions.get(kind, [])


def _blocks(owner: ast.AST, nested: bool) -> t.Iterator[Block]:
    pending = [owner]
    while pending:
        node = pending.pop()
        inner: list[ast.AST] = []
        for field in node._fields:
            value = getattr(node, field, None)
            if not isinstance(value, list) or not value:
                continue
            if isinstance(value[0], ast.stmt):
                yield Block(node, field, value)
                inner.extend([child for child in value if nested or not isinstance(child, DEFINITIONS)])
            elif isinstance(value[0], CLAUSES):
                inner.extend(value)
        pending.extend(reversed(inner))


def _collect(statement: ast.stmt, place: Place, found: dict[type[ast.AST], list[tuple[ast.expr, Place]]]) -> None:
    """The expressions of one statement, but not those of the statements inside it."""
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        in_template = isinstance(node, TEMPLATES)
        # A node's fields are in its __dict__, together with its position: this is the engine's hottest loop.
        for child in vars(node).values():
            if isinstance(child, ast.AST):
                children = [child]
            elif isinstance(child, list):
                children = child
            else:
                continue
            for item in children:
                if isinstance(item, ast.expr):
                    pending.append(item)
                    # The text parts of an f-string and the string of its format are no expressions of their own.
                    if not in_template and not (isinstance(node, ast.FormattedValue) and item is node.format_spec):
                        found.setdefault(type(item), []).append((item, place))
                elif isinstance(item, ast.AST) and not isinstance(item, (ast.stmt, ast.expr_context)):
                    pending.append(item)


def definitions(owner: ast.AST) -> list[Definition]:
    """The functions and classes that stand directly in a scope, in blocks too."""
    return [
        statement
        for block in _blocks(owner, nested=False)
        for statement in block.body
        if isinstance(statement, DEFINITIONS)
    ]


def all_names(tree: ast.Module) -> list[tuple[str, int]]:
    """Every dotted scope of a file with its line."""
    result: list[tuple[str, int]] = []
    pending: list[tuple[str, ast.AST]] = [("", tree)]
    while pending:
        prefix, owner = pending.pop()
        for definition in definitions(owner):
            name = prefix + definition.name
            result.append((name, definition.lineno))
            pending.append((name + ".", definition))
    return result


def find_scope(tree: ast.Module, name: str | None, path: str, where: str) -> Scope:
    """`A.b.c`; `A.b#2` is the second definition of b in A, in the order of the file."""
    if name is None:
        return Scope(tree, None)
    owner: ast.Module | Definition = tree
    done: list[str] = []
    for part in name.split("."):
        wanted, _hash, number = part.partition("#")
        found = sorted([item for item in definitions(owner) if item.name == wanted], key=lambda item: item.lineno)
        done.append(part)
        here = ".".join(done)
        if not found:
            raise PatchError(f"{path}: {where}: there is no scope {here} in this file{_near(tree, name)}")
        lines = [item.lineno for item in found]
        if number:
            if not number.isdigit() or not 1 <= int(number) <= len(found):
                raise PatchError(f"{path}: {where}: scope {here}: {wanted} is defined in {lines_text(lines)} only")
            found = [found[int(number) - 1]]
        if len(found) > 1:
            raise PatchError(
                f"{path}:{lines[0]}: {where}: scope {here} is defined {len(found)} times, in {lines_text(lines)}; "
                f"say which one: {here}#1 is the one in line {lines[0]}"
            )
        owner = found[0]
    return Scope(owner, name)


def _near(tree: ast.Module, name: str) -> str:
    names = all_names(tree)
    last = name.rpartition(".")[2].partition("#")[0]
    same = [item for item in names if item[0].rpartition(".")[2] == last]
    close = difflib.get_close_matches(name, [item[0] for item in names], 3, 0.5)
    chosen = (same + [item for item in names if item[0] in close and item not in same])[:3]
    if not chosen:
        return ""
    return "; nearest: " + ", ".join([f"{found} (line {line})" for found, line in chosen])

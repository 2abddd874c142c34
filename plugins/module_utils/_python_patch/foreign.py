# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a recipe inserts and what already stands in the file without a record of ours."""

from __future__ import annotations

import ast
import re
import typing as t

from .edit import Planner, Splice
from .errors import PatchError, quoted
from .proof import equal
from .recipe import Edit
from .scope import DEFINITIONS, Scope
from .source import Source

# Statements that a file may well hold twice; they count only where they stand beside the place.
_COMMON = (ast.Pass, ast.Break, ast.Continue, ast.Return, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal)
_PLAIN = re.compile(rb"[\w.-]+\Z")


ALREADY = "what the edit inserts stands here already"


class Found(t.NamedTuple):
    line: int
    why: str


def refuse_foreign(planner: Planner, splices: t.Sequence[Splice], way_back: str, store: str) -> None:
    """Raise where something that an edit inserts is there already: the tree was patched by hand."""
    for splice in splices:
        found = _already(planner, splice)
        if found is not None:
            raise _refusal(planner.source, splice.edit, found, way_back, store)


def refuse_before_planning(planner: Planner, edits: t.Sequence[Edit], way_back: str, store: str) -> None:
    """The same for edits that cannot be located: a replaced pattern is gone once it was replaced by hand."""
    for edit in edits:
        if edit.kind != "replace" or not edit.insertion.statements:
            continue
        scope = planner.scope(edit.scope, edit.where)
        line = _run_of(edit.insertion.statements, scope)
        if line is not None:
            raise _refusal(planner.source, edit, Found(line, ALREADY), way_back, store)


def _refusal(source: Source, edit: Edit, found: Found, way_back: str, store: str) -> PatchError:
    return PatchError(
        f"{source.path}:{found.line}: {edit.where}: {found.why}: {quoted(source.line_text(found.line), 80)}, "
        f"but {store} has no record of a patch of this file. It was patched by hand or by another tool. "
        f"Give back the pristine file first ({way_back}), then run again"
    )


def _already(planner: Planner, splice: Splice) -> Found | None:
    if splice.replaced is not None:
        return None
    statements = splice.statements
    scope = planner.scope(splice.edit.scope, splice.edit.where)
    if statements:
        line = _beside(splice)
        if line is None and not all(isinstance(item, _COMMON) for item in statements):
            line = _run_of(statements, scope)
        if line is not None:
            return Found(line, ALREADY)
    replaced = splice.block.body[splice.first : splice.last]
    for statement in statements:
        found = _same_name(statement, splice, replaced) or _same_call(planner, statement, scope, replaced)
        if found is not None:
            return found
    return None


def _beside(splice: Splice) -> int | None:
    """The inserted run right above or below its place."""
    size = len(splice.statements)
    if splice.first != splice.last:
        return None
    for first in (splice.first - size, splice.first):
        if first >= 0:
            run = splice.block.body[first : first + size]
            if _same_run(splice.statements, run):
                return run[0].lineno
    return None


def _run_of(statements: list[ast.stmt], scope: Scope) -> int | None:
    for block in scope.blocks:
        for first, statement in enumerate(block.body):
            if type(statement) is type(statements[0]) and _same_run(
                statements, block.body[first : first + len(statements)]
            ):
                return statement.lineno
    return None


def _same_run(wanted: list[ast.stmt], found: list[ast.stmt]) -> bool:
    return len(wanted) == len(found) and all(equal(*pair) for pair in zip(wanted, found))


def _same_name(statement: ast.stmt, splice: Splice, replaced: list[ast.stmt]) -> Found | None:
    """A field of a class, or a function or class, that its scope defines already."""
    body = [item for item in splice.block.body if not any(item is gone for gone in replaced)]
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        if not isinstance(splice.block.owner, ast.ClassDef):
            return None
        name = statement.target.id
        for item in body:
            if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name) and item.target.id == name:
                return Found(item.lineno, f"the field {name} stands here already")
    if isinstance(statement, DEFINITIONS) and not statement.decorator_list:
        for item in body:
            if isinstance(item, DEFINITIONS) and item.name == statement.name:
                return Found(item.lineno, f"{statement.name} is defined here already")
    return None


def _same_call(planner: Planner, statement: ast.stmt, scope: Scope, replaced: list[ast.stmt]) -> Found | None:
    """The same call with the same first string: an option of argparse, a registration by name."""
    wanted = _named_call(statement)
    if wanted is None:
        return None
    name, function = wanted
    encoded = name.encode("utf-8")
    if _PLAIN.match(encoded) and encoded not in planner.source.data:
        return None
    # An option (--flag) can be registered once in a program, so the whole file counts.
    places = [scope]
    if name.startswith("-"):
        places.append(Scope(planner.source.tree, None, nested=True))
    for place in places:
        for item in (item for block in place.blocks for item in block.body):
            found = _named_call(item)
            if found is None or any(item is gone for gone in replaced):
                continue
            if found[0] == name and equal(function, found[1]):
                return Found(item.lineno, f"a call with {name!r} stands here already")
    return None


def _named_call(statement: ast.stmt) -> tuple[str, ast.expr] | None:
    """(first argument, function) of a statement that is a call with a string in front."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) and statement.value.args:
        first = statement.value.args[0]
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            return first.value, statement.value.func
    return None

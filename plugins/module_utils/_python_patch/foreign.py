# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a recipe inserts and what stands in the file already, without a record of ours."""

from __future__ import annotations

import ast
import re
import typing as t

from .edit import Planner, Splice
from .errors import PatchError, quoted
from .proof import equal
from .recipe import Edit
from .scope import DEFINITIONS, Scope

# A statement with fewer nodes (x = 1, self.n += 1, return x) may well stand in one scope twice.
DISTINCTIVE_NODES = 9
ALREADY = "what the edit inserts stands here already"
_PLAIN = re.compile(rb"[\w.-]+\Z")


class Found(t.NamedTuple):
    line: int
    why: str


def refuse_foreign(planner: Planner, splice: Splice, way_back: str, store: str) -> None:
    """Raise where something that a located edit inserts is there already: the tree was patched by hand."""
    if splice.replaced is not None:
        return
    line = _beside(splice) if splice.first == splice.last else None
    found = Found(line, ALREADY) if line is not None else None
    if found is None:
        gone = splice.block.body[splice.first : splice.last]
        scope = planner.scope(splice.edit.scope, splice.edit.where)
        found = _in_scope(planner, splice.edit, scope, splice.block.owner, gone)
    if found is not None:
        raise _refusal(planner, splice.edit, found, way_back, store)


def refuse_unlocated(planner: Planner, edit: Edit, way_back: str, store: str) -> None:
    """The same for an edit whose pattern is not found (once): a patch by hand may be the reason."""
    scope = planner.scope(edit.scope, edit.where)
    found = _in_scope(planner, edit, scope, scope.owner, [], unlocated=True)
    if found is not None:
        raise _refusal(planner, edit, found, way_back, store)


def collision(one: Splice, other: Splice) -> bool:
    """Whether two patch sets insert the same thing in one scope."""
    if one.edit.scope != other.edit.scope:
        return False
    for statement in one.statements:
        for item in other.statements:
            call, other_call = _named_call(statement), _named_call(item)
            if call is not None and other_call is not None:
                if call[0] == other_call[0] and equal(call[1], other_call[1]):
                    return True
            elif _name(statement) is not None and _name(statement) == _name(item):
                return True
    return False


def _refusal(planner: Planner, edit: Edit, found: Found, way_back: str, store: str) -> PatchError:
    source = planner.source
    return PatchError(
        f"{source.path}:{found.line}: {edit.where}: {found.why}: {quoted(source.line_text(found.line), 80)}, "
        f"but {store} has no record of a patch of this file. It was patched by hand or by another tool. "
        f"Give back the pristine file first ({way_back}), then run again"
    )


def _in_scope(
    planner: Planner, edit: Edit, scope: Scope, owner: ast.AST, gone: list[ast.stmt], *, unlocated: bool = False
) -> Found | None:
    statements = edit.insertion.statements
    wanted = statements and (edit.kind != "replace" or unlocated) and _is_distinctive(statements)
    if wanted and all(name in planner.source.data for name in _names(statements)):
        line = _run_of(statements, scope)
        if line is not None:
            return Found(line, ALREADY)
    for statement in statements:
        found = _same_name(statement, owner, gone) or _same_call(planner, statement, scope, gone)
        if found is not None:
            return found
    return None


def _names(statements: list[ast.stmt]) -> set[bytes]:
    """Identifiers that stand in any source that holds these statements: a quick way to know that it does not."""
    names: set[object] = set()
    for node in (node for statement in statements for node in ast.walk(statement)):
        names.update([getattr(node, field, None) for field in ("id", "attr", "arg", "name")])
    return {name.encode() for name in names if isinstance(name, str) and name.isidentifier() and name.isascii()}


def _is_distinctive(statements: list[ast.stmt]) -> bool:
    count = 0
    for statement in statements:
        for _node in ast.walk(statement):
            count += 1
            if count >= DISTINCTIVE_NODES:
                return True
    return False


def _beside(splice: Splice) -> int | None:
    """The inserted run right above or below its place."""
    size = len(splice.statements)
    for first in (splice.first - size, splice.first):
        run = splice.block.body[first : first + size] if first >= 0 else []
        if run and _same_run(splice.statements, run):
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


def _name(statement: ast.stmt) -> str | None:
    """What a statement defines once in its scope: a field, or a function or class without decorators."""
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        return statement.target.id
    if isinstance(statement, DEFINITIONS) and not statement.decorator_list:
        return statement.name
    return None


def _same_name(statement: ast.stmt, owner: ast.AST, gone: list[ast.stmt]) -> Found | None:
    """A field of a class, or a function or class, that its scope defines already."""
    name = _name(statement)
    is_field = isinstance(statement, ast.AnnAssign)
    if name is None or (is_field and not isinstance(owner, ast.ClassDef)):
        return None
    for item in getattr(owner, "body", []):
        if isinstance(item, ast.stmt) and _name(item) == name and not any(item is other for other in gone):
            what = f"the field {name} stands here already" if is_field else f"{name} is defined here already"
            return Found(item.lineno, what)
    return None


def _same_call(planner: Planner, statement: ast.stmt, scope: Scope, gone: list[ast.stmt]) -> Found | None:
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
            if found is None or any(item is other for other in gone):
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

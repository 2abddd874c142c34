# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find what a pattern names, exactly once, or say what stands there instead."""

from __future__ import annotations

import ast
import difflib
import typing as t

from .errors import PatchError, lines_text, quoted
from .match import matches, run_matches
from .pattern import Pattern, is_wildcard_statement
from .scope import Block, Scope, all_names, find_scope
from .source import Source


class Match(t.NamedTuple):
    """A run of statements `block.body[first:last + 1]`; `expression` where the pattern is one."""

    block: Block
    first: int
    last: int
    expression: ast.expr | None

    @property
    def statements(self) -> list[ast.stmt]:
        return self.block.body[self.first : self.last + 1]

    @property
    def line(self) -> int:
        return (self.expression or self.block.body[self.first]).lineno

    @property
    def order(self) -> tuple[int, int, int]:
        node = self.expression or self.block.body[self.first]
        return node.lineno, node.col_offset, self.last


def find_matches(scope: Scope, pattern: Pattern) -> list[Match]:
    """Every match in the order of the file."""
    if pattern.expression is not None:
        wanted = pattern.expression
        found = [
            Match(place.block, place.position, place.position, expression)
            for expression, place in scope.expressions(type(wanted))
            if matches(wanted, expression)
        ]
    else:
        found = [match for block in scope.blocks for match in _runs(block, pattern.statements)]
    return sorted(found, key=lambda match: match.order)


def _runs(block: Block, wanted: list[ast.stmt]) -> t.Iterator[Match]:
    body = block.body
    longest = None if any(is_wildcard_statement(item) for item in wanted) else len(wanted)
    for first, statement in enumerate(body):
        if type(statement) is not type(wanted[0]) or not matches(wanted[0], statement):
            continue
        ends = range(first, len(body)) if longest is None else range(first + longest - 1, first + longest)
        for last in ends:
            if last < len(body) and run_matches(wanted, body[first : last + 1], is_wildcard_statement):
                yield Match(block, first, last, None)


def locate(source: Source, scope: Scope, pattern: Pattern, where: str) -> Match:
    """The one match, else an error that is enough to repair the recipe."""
    found = find_matches(scope, pattern)
    if len(found) == 1:
        return found[0]
    if found:
        lines = [match.line for match in found]
        shown = "; ".join([f"line {line}: {quoted(source.line_text(line), 80)}" for line in sorted(set(lines))[:3]])
        raise PatchError(
            f"{source.path}:{lines[0]}: {where}: the pattern {pattern} matches {len(found)} times in {scope}, in "
            f"{lines_text(lines)}, and must match exactly once. Make the pattern more exact, "
            f"or name a smaller scope in `in`. Found {shown}"
        )
    line = f":{scope.owner.lineno}" if not isinstance(scope.owner, ast.Module) else ""
    raise PatchError(
        f"{source.path}{line}: {where}: the pattern {pattern} matches nothing in {scope}{_scope_lines(scope)}"
        f"{_exact_call(scope, pattern)}{_elsewhere(source, scope, pattern)}{_nearest(source, scope, pattern)}"
    )


def _scope_lines(scope: Scope) -> str:
    if isinstance(scope.owner, ast.Module):
        return ""
    return f" (lines {scope.owner.lineno}-{scope.owner.end_lineno})"


def _exact_call(scope: Scope, pattern: Pattern) -> str:
    """The most common slip: a call written without `...` asks for exactly these arguments."""
    call = pattern.expression
    if not isinstance(call, ast.Call):
        return ""
    opened = ast.Call(func=call.func, args=[*call.args, ast.Constant(value=...)], keywords=call.keywords)
    lines = [match.line for match in find_matches(scope, pattern._replace(expression=opened))]
    return f". With `...` for further arguments it matches in {lines_text(lines)}" if lines else ""


def _elsewhere(source: Source, scope: Scope, pattern: Pattern) -> str:
    """Where it does match, in other scopes of the file: most often `in` is wrong."""
    if scope.nested:
        return ""
    found = find_matches(Scope(source.tree, None, nested=True), pattern)
    if not found:
        return ""
    lines = [match.line for match in found]
    name = enclosing_scope(source.tree, found[0])
    there = f"in: {name}" if name else "no `in`"
    return f". It matches in {lines_text(lines)} (there: {there})"


def enclosing_scope(tree: ast.Module, match: Match) -> str | None:
    """The innermost dotted scope whose blocks hold the match."""
    best: str | None = None
    for name, _line in all_names(tree):
        try:
            scope = find_scope(tree, name, "", "")
        except PatchError:
            continue
        if any(block.body is match.block.body for block in scope.blocks):
            best = name
    return best


def _nearest(source: Source, scope: Scope, pattern: Pattern, limit: int = 100) -> str:
    """Up to three nodes of the pattern's own type whose source looks most like it."""
    wanted = " ".join(pattern.source.split())
    nodes: list[t.Any]
    if pattern.expression is not None:
        nodes = [expression for expression, _place in scope.expressions(type(pattern.expression))]
    else:
        kind = type(pattern.statements[0])
        nodes = [statement for block in scope.blocks for statement in block.body if type(statement) is kind]
    rough: list[tuple[float, int, str]] = []
    matcher = difflib.SequenceMatcher(b=wanted, autojunk=False)
    for node in nodes:
        start, end = source.span(node)
        text = " ".join(
            source.data[start : min(end, start + len(wanted) + 4 * limit)].decode(source.encoding, "replace").split()
        )
        matcher.set_seq1(text[: len(wanted)])
        if matcher.real_quick_ratio() > 0.4:
            rough.append((matcher.quick_ratio(), node.lineno, text))
    scored: list[tuple[float, int, str]] = []
    for _ratio, line, text in sorted(rough, key=lambda item: (-item[0], item[1]))[:30]:
        matcher.set_seq1(text[: len(wanted)])
        scored.append((matcher.ratio(), line, text))
    best = [item for item in sorted(scored, key=lambda item: (-item[0], item[1])) if item[0] > 0.4][:3]
    if not best:
        return ""
    return ". Nearest: " + "; ".join([f"line {line}: {quoted(text, 100)}" for _ratio, line, text in best])

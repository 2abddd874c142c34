# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From an edit to the bytes it puts, on the original file (rules 11 and 12)."""

from __future__ import annotations

import ast
import typing as t

from .errors import PatchError
from .insertion import string_statement
from .locate import Match, locate
from .place import Spot, block_indent, check_block, module_end, statement_end, statement_start, unit_of
from .recipe import Edit
from .scope import Block, Scope, find_scope
from .source import Source


class Splice(t.NamedTuple):
    """`data[start:end]` becomes `text`. In the tree, `block.body[first:last]` becomes `statements`,
    or the node `replaced` becomes `expression` (None: it goes away)."""

    start: int
    end: int
    text: bytes
    edit: Edit
    block: Block
    first: int
    last: int
    statements: list[ast.stmt]
    replaced: ast.expr | None = None
    expression: ast.expr | None = None
    opening: int = 0  # bytes in front of the first inserted line: the line end that the file lacks


class Planner:
    """Locates edits on one source; scopes are found once."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._scopes: dict[str | None, Scope] = {}

    def scope(self, name: str | None, where: str) -> Scope:
        if name not in self._scopes:
            self._scopes[name] = find_scope(self.source.tree, name, self.source.path, where)
        return self._scopes[name]

    def splice(self, edit: Edit) -> Splice:
        scope = self.scope(edit.scope, edit.where)
        if edit.pattern is None:
            return self._at(scope, edit)
        match = locate(self.source, scope, edit.pattern, edit.where)
        if edit.kind == "replace":
            return self._replace(match, edit)
        if edit.kind == "after":
            spot = statement_end(self.source, match.block, match.last, edit.where)
            return self._insert(spot, match.block, match.last + 1, edit)
        spot = statement_start(self.source, match.block, match.first, edit.where)
        return self._insert(spot, match.block, match.first, edit)

    def _at(self, scope: Scope, edit: Edit) -> Splice:
        block = scope.body
        if not block.body:
            return self._insert(module_end(self.source), block, 0, edit)
        check_block(self.source, block, edit.where)
        if edit.at == "end":
            last = len(block.body) - 1
            return self._insert(statement_end(self.source, block, last, edit.where), block, last + 1, edit)
        index = 1 if string_statement(block.body[0]) is not None else 0
        if isinstance(block.owner, ast.Module) and not all(map(_is_future, edit.insertion.statements)):
            while index < len(block.body) and _is_future(block.body[index]):
                index += 1
        if index:
            return self._insert(statement_end(self.source, block, index - 1, edit.where), block, index, edit)
        return self._insert(statement_start(self.source, block, 0, edit.where), block, 0, edit)

    def _insert(self, spot: Spot, block: Block, index: int, edit: Edit) -> Splice:
        source = self.source
        indent = block_indent(source, block)
        newline = source.newline_at(spot.newline_from).decode("ascii")
        text = edit.insertion.placed(indent, unit_of(source, block)).replace("\n", newline)
        text = newline + text if spot.opens_line else text + newline
        opening = len(newline) if spot.opens_line else 0
        data = self._encoded(text, edit)
        statements = edit.insertion.statements
        return Splice(spot.offset, spot.offset, data, edit, block, index, index, statements, opening=opening)

    def _replace(self, match: Match, edit: Edit) -> Splice:
        source = self.source
        node = match.expression
        first, last = match.statements[0], match.statements[-1]
        if node is not None and source.span(node) != source.span(first):
            return self._replace_expression(match, node, edit)
        start, end = source.statement_span(first)[0], source.span(last)[1]
        if source.data[start : start + 4] == b"elif" and isinstance(first, ast.If):
            raise PatchError(
                f"{source.path}:{first.lineno}: {edit.where}: an elif cannot be replaced by itself; "
                "replace the whole if, or statements inside the branch"
            )
        text = ""
        if not edit.insertion.empty:
            indent = block_indent(source, match.block)
            newline = source.newline_at(end).decode("ascii")
            placed = edit.insertion.placed(indent, unit_of(source, match.block))
            text = placed[len(indent) :].replace("\n", newline)
        data = self._encoded(text, edit)
        return Splice(start, end, data, edit, match.block, match.first, match.last + 1, edit.insertion.statements)

    def _replace_expression(self, match: Match, node: ast.expr, edit: Edit) -> Splice:
        source = self.source
        start, end = source.span(node)
        inserted = edit.insertion.statements
        if not edit.insertion.empty and not (len(inserted) == 1 and isinstance(inserted[0], ast.Expr)):
            raise PatchError(
                f"{source.path}:{node.lineno}: {edit.where}: the pattern is an expression inside a statement, "
                "so `insert` must be one expression"
            )
        expression = inserted[0].value if inserted and isinstance(inserted[0], ast.Expr) else None
        line = source.before_on_line(source.span(match.statements[0])[0])
        indent = line[: len(line) - len(line.lstrip(b" \t\f"))].decode("ascii")
        text = edit.insertion.continued(indent).replace("\n", source.newline_at(end).decode("ascii"))
        data = self._encoded(text, edit)
        return Splice(start, end, data, edit, match.block, match.first, match.first, [], node, expression)

    def _encoded(self, text: str, edit: Edit) -> bytes:
        encoding = self.source.encoding.replace("-sig", "")
        try:
            return text.encode(encoding)
        except UnicodeEncodeError as error:
            raise PatchError(
                f"{self.source.path}: {edit.where}: `insert` holds {text[error.start]!r}, "
                f"which the file's encoding {encoding} does not have"
            ) from error


def _is_future(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__" and statement.level == 0


def ordered(source: Source, splices: t.Sequence[Splice]) -> list[Splice]:
    """In the order of the file, those at one place from the inside out, then as given; refuses overlaps."""
    result = sorted(splices, key=lambda splice: (splice.start, splice.end, -_depth(source, splice)))
    for before, after in zip(result, result[1:]):
        if after.start < before.end:
            raise _overlap(source, after, before)
    # The end of a replaced block lies behind its bytes, at the start of the next line.
    for replaced in [splice for splice in result if splice.last > splice.first]:
        for other in result:
            if _is_inside(source, other.block, replaced):
                raise _overlap(source, other, replaced)
    return result


def _depth(source: Source, splice: Splice) -> int:
    """Of blocks that end at one place, the inner one is indented deeper."""
    return len(block_indent(source, splice.block).expandtabs()) if splice.start == splice.end else 0


def _is_inside(source: Source, block: Block, replaced: Splice) -> bool:
    if not block.body or block.body is replaced.block.body:
        return False
    return replaced.start <= source.span(block.body[0])[0] < replaced.end


def _overlap(source: Source, edit: Splice, replaced: Splice) -> PatchError:
    return PatchError(
        f"{source.path}:{source.line_of(edit.start)}: {edit.edit.where} overlaps {replaced.edit.where}, "
        f"which replaces lines {source.line_of(replaced.start)} to {source.line_of(replaced.end - 1)}"
    )


def spliced(data: bytes, splices: t.Sequence[Splice]) -> bytes:
    parts: list[bytes] = []
    position = 0
    for splice in splices:
        parts.extend((data[position : splice.start], splice.text))
        position = splice.end
    parts.append(data[position:])
    return b"".join(parts)

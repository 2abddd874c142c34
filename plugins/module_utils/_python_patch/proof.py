# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Proofs that a planned result is the original plus the edits, and nothing else."""

from __future__ import annotations

import ast
import copy
import inspect
import typing as t
import warnings

from .edit import Splice
from .errors import PatchError, lines_text, quoted, times
from .insertion import docstring_of
from .locate import find_matches
from .match import same_constant
from .recipe import Expectation
from .scope import DEFINITIONS, find_scope
from .source import PYTHON, Source

_SKIPPED = frozenset({"ctx", "type_ignores"})


def prove(before: Source, data: bytes, splices: t.Sequence[Splice]) -> Source:
    """The parsed result, once every proof holds; `splices` are in the order of the file."""
    path = before.path
    if undone(data, splices, before.data) != before.data:
        raise PatchError(f"{path}: proof failed: undoing the edits does not give back the original bytes")
    try:
        after = Source(data, path)
    except PatchError as error:
        raise _refused(before, splices, f"the result does not parse in {PYTHON}: {_reason(error)}") from error
    if after.encoding != before.encoding:
        raise _refused(before, splices, "an inserted comment would change the file's encoding")
    if Comparison(before, after, splices).run() is not None:
        hint = "; an inserted expression may need parentheses" if any(splice.replaced for splice in splices) else ""
        raise _refused(
            before,
            splices,
            "proof failed: without what the edits insert and replace, the syntax tree of the result is not that of the "
            f"original{hint}",
        )
    _compile(after, before, splices)
    return after


def _refused(before: Source, splices: t.Sequence[Splice], reason: str) -> PatchError:
    """Every edit with its line in the original: the cause need not lie where the result breaks."""
    line = before.line_of(splices[0].start) if splices else 1
    places = "; ".join([f"{splice.edit.where} at line {before.line_of(splice.start)}" for splice in splices])
    edits = f". Edits, with lines of the original: {places}" if splices else ""
    return PatchError(f"{before.path}:{line}: {reason}{edits}. Nothing was changed")


def _reason(error: BaseException) -> str:
    """What Python says, and where in the result."""
    cause = error.__cause__ or error
    if not isinstance(cause, SyntaxError) or not cause.lineno:
        return str(cause)
    text = (cause.text or "").strip()
    return f"{cause.msg}, line {cause.lineno} of the result" + (f": {quoted(text, 80)}" if text else "")


def undone(data: bytes, splices: t.Sequence[Splice], original: bytes) -> bytes:
    """The result with each inserted text taken out and each replaced text put back."""
    parts: list[bytes] = []
    position = shift = 0
    for splice in splices:
        start = splice.start + shift
        end = start + len(splice.text)
        if data[start:end] != splice.text:
            return b""
        parts.extend((data[position:start], original[splice.start : splice.end]))
        position = end
        shift += len(splice.text) - (splice.end - splice.start)
    parts.append(data[position:])
    return b"".join(parts)


class Comparison:
    """Walks both trees at once. Statements whose bytes are equal are equal and not walked into:
    a statement's tree depends on its own text only."""

    def __init__(self, before: Source, after: Source, splices: t.Sequence[Splice], by_bytes: bool = True) -> None:
        self.before = before
        self.after = after
        self.by_bytes = by_bytes
        self.lists: dict[tuple[int, str], list[Splice]] = {}
        self.expressions: dict[int, ast.expr | None] = {}
        self.touched = [(splice.start, splice.end) for splice in splices]
        for splice in splices:
            if splice.replaced is not None:
                self.expressions[id(splice.replaced)] = splice.expression
            else:
                self.lists.setdefault((id(splice.block.owner), splice.block.field), []).append(splice)

    def run(self) -> int | None:
        """None where the trees agree, else a line of the original near the difference, or 0."""
        return self._node(self.before.tree, self.after.tree, 0)

    def _node(self, one: ast.AST, other: ast.AST, line: int) -> int | None:
        if id(one) in self.expressions:
            wanted = self.expressions[id(one)]
            return None if wanted is not None and equal(wanted, other) else line
        if type(one) is not type(other):
            return line
        line = getattr(one, "lineno", line)
        if self.by_bytes and isinstance(one, ast.stmt) and self._same_bytes(one, t.cast(ast.stmt, other)):
            return None
        for name in one._fields:
            if name in _SKIPPED:
                continue
            found = self._field(one, other, name, line)
            if found is not None:
                return found
        return None

    def _same_bytes(self, one: ast.stmt, other: ast.stmt) -> bool:
        start, end = self.before.statement_span(one)
        start2, end2 = self.after.statement_span(other)
        return self.before.data[start:end] == self.after.data[start2:end2] and not any(
            first <= end and last >= start for first, last in self.touched
        )

    def _field(self, one: ast.AST, other: ast.AST, name: str, line: int) -> int | None:
        value, found = getattr(one, name, None), getattr(other, name, None)
        if isinstance(value, list):
            return self._list(one, name, value, found, line)
        if isinstance(value, ast.AST):
            if self._removed(value):
                return None if found is None else line
            return self._node(value, found, line) if isinstance(found, ast.AST) else line
        return None if same_constant(value, found) else line

    def _list(self, one: ast.AST, name: str, value: list[t.Any], found: t.Any, line: int) -> int | None:
        """Both lists side by side: inserted statements against the recipe's, all others against the original's."""
        if not isinstance(found, list):
            return line
        expected: list[tuple[bool, t.Any]] = []
        position = 0
        for splice in self.lists.get((id(one), name), []):
            expected.extend([(True, item) for item in value[position : splice.first]])
            expected.extend([(False, item) for item in splice.statements])
            position = splice.last
        expected.extend([(True, item) for item in value[position:]])
        # A list may hold None of its own (no default of a keyword-only parameter, ** in a dict).
        expected = [pair for pair in expected if not (pair[0] and self._removed(pair[1]))]
        if len(expected) != len(found):
            return line
        for (original, item), node in zip(expected, found):
            result = self._item(original, item, node, line)
            if result is not None:
                return result
        return None

    def _removed(self, item: t.Any) -> bool:
        return id(item) in self.expressions and self.expressions[id(item)] is None

    def _item(self, original: bool, item: t.Any, node: t.Any, line: int) -> int | None:
        if not isinstance(item, ast.AST):
            return None if same_constant(item, node) else line
        if not isinstance(node, ast.AST):
            return line
        if original:
            return self._node(item, node, line)
        return None if equal(item, node) else line


def equal(one: ast.AST, other: ast.AST) -> bool:
    """The same tree, apart from positions and from the indentation inside docstrings."""
    if type(one) is not type(other):
        return False
    docstring = docstring_of(one)
    for name in one._fields:
        if name in _SKIPPED:
            continue
        value, found = getattr(one, name, None), getattr(other, name, None)
        if isinstance(value, list):
            if not isinstance(found, list) or len(value) != len(found):
                return False
            pairs = list(zip(value, found))
        else:
            pairs = [(value, found)]
        if name == "body" and docstring is not None:
            other_docstring = docstring_of(other)
            if other_docstring is None or not _same_docstring(docstring, other_docstring):
                return False
            pairs = pairs[1:]
        if not all(_equal_item(*pair) for pair in pairs):
            return False
    return True


def _equal_item(one: t.Any, other: t.Any) -> bool:
    if isinstance(one, ast.AST):
        return isinstance(other, ast.AST) and equal(one, other)
    return same_constant(one, other)


def _same_docstring(one: t.Any, other: t.Any) -> bool:
    return one.value == other.value or inspect.cleandoc(one.value) == inspect.cleandoc(other.value)


def _compile(after: Source, before: Source, splices: t.Sequence[Splice]) -> None:
    """What parses may still not compile (return outside a function, a late __future__ import).

    Bodies of definitions without an edit compile as they did, so they are left out: this costs
    a fraction of compiling the whole file.
    """
    spans: list[tuple[int, int]] = []
    shift = 0
    for splice in splices:
        start = splice.start + shift
        spans.append((start, start + len(splice.text)))
        shift += len(splice.text) - (splice.end - splice.start)
    tree = ast.Module(body=_pruned(after, after.tree.body, spans), type_ignores=[])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(tree, after.path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise _refused(before, splices, f"the result does not compile in {PYTHON}: {_reason(error)}") from error


def _pruned(source: Source, body: list[ast.stmt], spans: t.Sequence[tuple[int, int]]) -> list[ast.stmt]:
    result: list[ast.stmt] = []
    for statement in body:
        if isinstance(statement, DEFINITIONS):
            start, end = source.statement_span(statement)
            edited = any(first <= end and last >= start for first, last in spans)
            clone = copy.copy(statement)
            if not edited:
                clone.body = [ast.copy_location(ast.Pass(), statement.body[0])]
            elif isinstance(statement, ast.ClassDef):
                clone.body = _pruned(source, statement.body, spans)
            statement = clone
        result.append(statement)
    return result


def check_expectations(after: Source, expectations: t.Sequence[Expectation]) -> None:
    for expectation in expectations:
        scope = find_scope(after.tree, expectation.scope, after.path, expectation.where)
        found = [match.line for match in find_matches(scope, expectation.pattern)]
        if len(found) != expectation.times:
            lines = f", in {lines_text(found)} of the result" if found else ""
            raise PatchError(
                f"{after.path}: {expectation.where}: the pattern {expectation.pattern} must match "
                f"{times(expectation.times)} in {scope} of the result and matches {times(len(found))}{lines}. "
                "Nothing was changed"
            )

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random edits of any Python file, and a judge of their result that shares no code with the engine.

A pattern is the file's own statement or expression as ast.unparse writes it. What an edit inserts carries a mark, so
that the judge finds it in the tree of the result, takes it out, and compares what is left with the original's tree.
"""

from __future__ import annotations

import ast
import collections
import copy
import random
import re
import typing as t
import warnings

MARK = "_inferops_mark_"
Definition = t.Union[ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef]
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
BODIES = ("body", "orelse", "finalbody", "handlers", "cases")
INSERTED = (
    "{mark} = {number}",
    "{mark} = (\n    {number},\n)  # a comment\n# another one",
    "if {mark}:\n    {mark}(\n        '''one\n  two''', [\n            {number},\n        ]\n    )\nelse:\n    pass",
    'def {mark}(a):\n    """Doc.\n\n    More.\n    """\n    return a',
    "{mark} = '''one\n  two\n'''",
)
KINDS = ("after",) * 6 + ("before",) * 5 + ("start", "end") * 2 + ("statement",) * 3 + ("expression",) * 4


class Place(t.NamedTuple):
    scope: str | None
    statements: list[ast.stmt]
    index: int

    @property
    def statement(self) -> ast.stmt:
        return self.statements[self.index]


def places(tree: ast.Module) -> dict[str | None, list[Place]]:
    """Every statement by its scope; where a name is defined several times, `name#2` is the second."""
    found: dict[str | None, list[Place]] = {}
    pending: list[tuple[str | None, ast.Module | Definition]] = [(None, tree)]
    while pending:
        name, owner = pending.pop()
        found[name] = [Place(name, block, index) for block in blocks(owner) for index in range(len(block))]
        inner = sorted(definitions(owner), key=lambda item: item.lineno)
        totals = collections.Counter(item.name for item in inner)
        seen: collections.Counter[str] = collections.Counter()
        for item in inner:
            seen[item.name] += 1
            suffix = f"#{seen[item.name]}" if totals[item.name] > 1 else ""
            pending.append((f"{name}.{item.name}{suffix}" if name else item.name + suffix, item))
    return found


def blocks(owner: ast.AST) -> t.Iterator[list[ast.stmt]]:
    """Lists of statements of a scope, in its if, try and with too, but not in the definitions inside it."""
    for field in BODIES:
        value = getattr(owner, field, None)
        if not isinstance(value, list) or not value:
            continue
        if isinstance(value[0], ast.stmt):
            yield value
        for item in value:
            if not isinstance(item, DEFINITIONS):
                yield from blocks(item)


def definitions(owner: ast.AST) -> list[Definition]:
    return [item for block in blocks(owner) for item in block if isinstance(item, DEFINITIONS)]


class Generator:
    """Draws edits of one file."""

    def __init__(self, tree: ast.Module, chance: random.Random) -> None:
        self.scopes = places(tree)
        self.chance = chance

    def edits(self, count: int) -> list[dict[str, t.Any]]:
        """Up to `count` edits; fewer where ast.unparse cannot write a place."""
        drawn = (self._edit(number) for number in range(1, count + 1))
        return [edit for edit in drawn if edit is not None]

    def _edit(self, number: int) -> dict[str, t.Any] | None:
        scope = self.chance.choice(list(self.scopes))
        kind = self.chance.choice(KINDS)
        found = self.scopes[scope]
        if not found and kind != "start":
            kind = "end"
        edit: dict[str, t.Any] = {"in": scope} if scope else {}
        if kind in ("start", "end"):
            return {**edit, "at": kind, "insert": self._insert(number)}
        place = self.chance.choice(found)
        if kind == "statement" and has_docstring(place.statement):
            # It moves with its code, by intent: its text is not the original's.
            kind = "after"
        try:
            if kind == "statement":
                return {**edit, "replace": ast.unparse(place.statement), "insert": wrapped_statement(place, number)}
            if kind == "expression":
                return {**edit, **self._expression(place.statement, number)}
            return {**edit, kind: self._pattern(place), "insert": self._insert(number)}
        except (ValueError, RecursionError, IndexError):
            # An f-string that only the quotes of the file can write; no expression in the statement.
            return None

    def _insert(self, number: int) -> str:
        return self.chance.choice(INSERTED).format(mark=f"{MARK}{number}", number=number)

    def _pattern(self, place: Place) -> str:
        """The statement itself, its header over any body, or together with the next one."""
        form = self.chance.randrange(4)
        if form == 0 and hasattr(place.statement, "body"):
            return ast.unparse(ast.fix_missing_locations(header_of(place.statement)))
        if form == 1 and place.index + 1 < len(place.statements):
            return "\n".join(ast.unparse(item) for item in place.statements[place.index : place.index + 2])
        return ast.unparse(place.statement)

    def _expression(self, statement: ast.stmt, number: int) -> dict[str, str]:
        text = ast.unparse(self.chance.choice(list(expressions(statement))))
        return {"replace": text, "insert": f"{MARK}{number}({text})"}


def has_docstring(statement: ast.stmt) -> bool:
    inner = [node for node in ast.walk(statement) if isinstance(node, DEFINITIONS)]
    return any(ast.get_docstring(node) is not None for node in inner)


def header_of(statement: ast.stmt) -> ast.stmt:
    """The statement with `...` in place of each of its bodies."""
    header = copy.deepcopy(statement)
    for node in [header, *getattr(header, "handlers", []), *getattr(header, "cases", [])]:
        for field in ("body", "orelse", "finalbody"):
            value = getattr(node, field, None)
            if isinstance(value, list) and value:
                setattr(node, field, [ast.Expr(ast.Constant(...))])
    return header


def wrapped_statement(place: Place, number: int) -> str:
    """The statement below an `if` that the judge takes away again."""
    return ast.unparse(ast.If(test=ast.Name(f"{MARK}{number}"), body=[place.statement], orelse=[]))


def expressions(node: ast.AST) -> t.Iterator[ast.expr]:
    """What a call can be put around: values, of the statement itself only, in f-strings too."""
    if isinstance(node, ast.JoinedStr):
        # Its parts of text, and the string of a format, are no expressions of their own.
        inner: list[ast.AST] = [part.value for part in node.values if isinstance(part, ast.FormattedValue)]
    else:
        inner = list(ast.iter_child_nodes(node))
    for child in inner:
        if isinstance(child, ast.expr):
            loaded = isinstance(getattr(child, "ctx", ast.Load()), ast.Load)
            sliced = any(isinstance(item, ast.Slice) for item in getattr(child, "elts", [child]))
            if loaded and not sliced and not isinstance(child, ast.Starred):
                yield child
            yield from expressions(child)
        elif not isinstance(child, (ast.stmt, ast.pattern, ast.ExceptHandler, ast.match_case)):
            yield from expressions(child)


class Unmark(ast.NodeTransformer):
    """The tree without what carries a mark."""

    def __init__(self) -> None:
        self.count = 0

    def visit(self, node: ast.AST) -> t.Any:
        if isinstance(node, ast.Assign) and _is_mark(node.targets[0]):
            self.count += 1
            return None
        if isinstance(node, ast.FunctionDef) and node.name.startswith(MARK):
            self.count += 1
            return None
        if isinstance(node, ast.If) and _is_mark(node.test):
            self.count += 1
            return None if node.orelse else [self.visit(item) for item in node.body]
        if isinstance(node, ast.Call) and _is_mark(node.func):
            self.count += 1
            return self.visit(node.args[0])
        return self.generic_visit(node)


def _is_mark(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id.startswith(MARK)


def judge(before: bytes, after: bytes, edits: t.Sequence[dict[str, t.Any]], lines: t.Sequence[t.Any]) -> str | None:
    """What is wrong with a result, None where nothing is."""
    remover = Unmark()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        original, result = ast.parse(before), ast.parse(after)
    left = remover.visit(result)
    if remover.count != len(edits):
        return f"{remover.count} marks in the result of {len(edits)} edits"
    if ast.dump(left) != ast.dump(original):
        return "the tree without the marks is not the original's"
    before, after = (data.removeprefix(b"\xef\xbb\xbf") for data in (before, after))
    numbers = [range(item["first_line"], item["last_line"] + 1) for item in lines]
    text = after.splitlines(keepends=True)
    for edit, own in zip(edits, numbers):
        mark = re.search(MARK + r"\d+", edit["insert"])
        if mark is None or mark[0].encode() not in b"".join(text[own.start - 1 : own.stop - 1]):
            return f"the reported lines {own.start} to {own.stop - 1} do not hold {mark and mark[0]}"
    if not any("replace" in edit for edit in edits):
        kept = b"".join(line for number, line in enumerate(text, 1) if not any(number in own for own in numbers))
        # A file that lacks its final line end gets one when something follows.
        if kept != before and kept.removesuffix(b"\n").removesuffix(b"\r") != before:
            return "the bytes without the reported lines are not the original's"
    return None

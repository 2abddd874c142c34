# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Places between statements that can take a statement without changing other bytes (rule 11)."""

from __future__ import annotations

import ast
import typing as t

from .errors import PatchError
from .scope import Block
from .source import BLANK, NEWLINE, Source


class Spot(t.NamedTuple):
    """Where text goes. `opens_line`: the line before has no line end, so the text begins with one."""

    offset: int
    opens_line: bool
    newline_from: int


def statement_start(source: Source, block: Block, index: int, where: str) -> Spot:
    """The start of the line on which a statement begins."""
    statement = block.body[index]
    start = source.statement_span(statement)[0]
    _refuse_elif(source, statement, start, where)
    check_block(source, block, where)
    before = source.before_on_line(start)
    if before.strip(BLANK):
        raise PatchError(
            f"{source.path}:{source.line_of(start)}: {where}: the statement stands behind a `;`, "
            "and nothing can be put before it without changing that line"
        )
    offset = start - len(before)
    return Spot(offset, False, offset)


def statement_end(source: Source, block: Block, index: int, where: str) -> Spot:
    """The start of the line below a statement and its trailing comment."""
    statement = block.body[index]
    start, end = source.statement_span(statement)
    _refuse_elif(source, statement, start, where)
    check_block(source, block, where)
    position = _logical_line_end(source.data, end)
    if position is None:
        raise PatchError(
            f"{source.path}:{source.line_of(end)}: {where}: another statement follows behind a `;`, "
            "and nothing can be put between them without changing that line"
        )
    opens_line = position == len(source.data) and source.data[position - 1 : position] not in (b"\n", b"\r")
    return Spot(position, opens_line, end)


def module_end(source: Source) -> Spot:
    """The end of a file without statements."""
    size = len(source.data)
    return Spot(size, size > source.starts[0] and not source.data.endswith((b"\n", b"\r")), 0)


def _logical_line_end(data: bytes, position: int) -> int | None:
    """Behind the line end that closes a statement; None where another statement follows on its line."""
    while position < len(data):
        byte = data[position : position + 1]
        newline = NEWLINE.match(data, position)
        if newline is not None:
            return newline.end()
        if byte == b"#":
            newline = NEWLINE.search(data, position)
            return newline.end() if newline is not None else len(data)
        continued = NEWLINE.match(data, position + 1) if byte == b"\\" else None
        if continued is not None:
            position = continued.end()
        elif byte in (b" ", b"\t", b"\f", b";"):
            position += 1
        else:
            return None
    return position


def _refuse_elif(source: Source, statement: ast.stmt, start: int, where: str) -> None:
    if isinstance(statement, ast.If) and source.data[start : start + 4] == b"elif":
        raise PatchError(
            f"{source.path}:{statement.lineno}: {where}: the statement is an elif, a branch of the if above, "
            "and no statement can stand beside it; anchor on the whole if, or on a statement inside the branch"
        )


def check_block(source: Source, block: Block, where: str) -> None:
    """Refuse the suite of `if x: y`, also where a backslash moves y to a line of its own."""
    if isinstance(block.owner, ast.Module):
        return
    first = block.body[0]
    start = source.statement_span(first)[0]
    before = source.before_on_line(start)
    if isinstance(first, ast.If) and source.data[start : start + 4] == b"elif":
        return
    line_start = start - len(before)
    if before.strip(BLANK) or _continues(source.data, line_start):
        raise PatchError(
            f"{source.path}:{first.lineno}: {where}: the body stands on the line of its header "
            "(a one-line suite) and cannot take another statement without changing that line"
        )


def _continues(data: bytes, line_start: int) -> bool:
    """Whether a backslash joins a line to the one above; one at the end of a comment joins nothing."""
    above = data[:line_start]
    for newline in (b"\r\n", b"\n", b"\r"):
        if above.endswith(newline):
            above = above[: -len(newline)]
            break
    if not above.endswith(b"\\"):
        return False
    text = NEWLINE.split(above[-4096:])[-1]
    # A # inside a string of the header reads as a comment here; the proof then refuses what is wrong.
    return b"#" not in text


def block_indent(source: Source, block: Block) -> str:
    """The indentation of the lines of a block."""
    for statement in block.body:
        before = source.before_on_line(source.statement_span(statement)[0])
        if not before.strip(BLANK):
            return before.rpartition(b"\f")[2].decode("ascii")
    if block.body and not isinstance(block.owner, ast.Module):
        line = source.before_on_line(source.statement_span(block.body[0])[0])
        return line[: len(line) - len(line.lstrip(BLANK))].rpartition(b"\f")[2].decode("ascii")
    return ""


def unit_of(source: Source, block: Block) -> str:
    """One level of indentation: that of the block itself, else of the file's first indented block."""
    own = _unit_between(source, block)
    if own:
        return own
    pending: list[ast.AST] = list(source.tree.body)
    while pending:
        node = pending.pop(0)
        for field in node._fields:
            value = getattr(node, field, None)
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                unit = _unit_between(source, Block(node, field, value))
                if unit:
                    return unit
                pending.extend(value)
    return "    "


def _unit_between(source: Source, block: Block) -> str:
    owner = block.owner
    if not isinstance(owner, (ast.stmt, ast.ExceptHandler)):
        return ""
    inner = block_indent(source, block)
    line = source.before_on_line(source.span(owner)[0]).rpartition(b"\f")[2]
    outer = line[: len(line) - len(line.lstrip(BLANK))].decode("ascii")
    return inner[len(outer) :] if inner.startswith(outer) else ""

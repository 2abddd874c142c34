# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One Python file: its bytes, its syntax tree, and the way from a node to its bytes."""

from __future__ import annotations

import ast
import bisect
import io
import itertools
import re
import sys
import tokenize
import warnings

from .errors import PatchError

# The tokenizer's line ends. Form feeds, vertical tabs and Unicode separators end no line.
NEWLINE = re.compile(rb"\r\n|\r|\n")
BLANK = b" \t\f"
PYTHON = f"Python {sys.version.split()[0]}"
BOM = b"\xef\xbb\xbf"


def parse(data: bytes, path: str) -> ast.Module:
    """The tree of `data` as this interpreter would import it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(data, filename=path)
    except SyntaxError as error:
        where = f"{path}:{error.lineno}" if error.lineno else path
        text = (error.text or "").strip()
        shown = f": {text[:80]}" if text else ""
        raise PatchError(f"{where}: the file does not parse in {PYTHON}: {error.msg}{shown}") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise PatchError(f"{path}: the file does not parse in {PYTHON}: {error}") from error


def encoding_of(data: bytes, path: str) -> str:
    """PEP 263: the encoding that a byte order mark or a comment in the first two lines declares."""
    lines = NEWLINE.split(data[:4096], maxsplit=2)[:2]
    try:
        return tokenize.detect_encoding(io.BytesIO(b"\n".join(lines) + b"\n").readline)[0]
    except SyntaxError as error:
        raise PatchError(f"{path}:1: {error.msg}") from error


def _line_starts(data: bytes) -> list[int]:
    """Offset of each line's first byte, behind the byte order mark; one more where the last line is ended."""
    starts = [0, *itertools.accumulate(map(len, data.splitlines(keepends=True)))]
    if len(starts) > 1 and not data.endswith((b"\n", b"\r")):
        del starts[-1]
    starts[0] = len(BOM) if data.startswith(BOM) else 0
    return starts


class Source:
    """Bytes and tree of one file. Offsets are byte offsets into `data`; lines count from 1."""

    def __init__(self, data: bytes, path: str) -> None:
        self.data = data
        self.path = path
        self.tree = parse(data, path)
        self.encoding = encoding_of(data, path)
        self.starts = _line_starts(data)
        self._text_lines = self._lines_of_text()

    def _lines_of_text(self) -> list[str] | None:
        """None where columns of the tree (UTF-8 bytes) are the file's own bytes."""
        if self.encoding in ("utf-8", "utf-8-sig"):
            return None
        text = self.data.decode(self.encoding)
        if self.data.isascii() and text.isascii() and text.encode("ascii") == self.data:
            return None
        lines = re.split(r"\r\n|\r|\n", text)
        if len(lines) != len(self.starts) or text.encode(self.encoding) != self.data:
            raise PatchError(f"{self.path}:1: its encoding {self.encoding} cannot be edited byte by byte")
        return lines

    def offset(self, line: int, column: int) -> int:
        """The byte at a line and a column as the tree counts them."""
        if self._text_lines is None:
            return self.starts[line - 1] + column
        before = self._text_lines[line - 1].encode("utf-8")[:column].decode("utf-8")
        offset = self.starts[line - 1] + len(before.encode(self.encoding))
        line_bytes = self.data[self.starts[line - 1] : offset]
        if line_bytes.decode(self.encoding, "replace") != before:
            raise PatchError(f"{self.path}:{line}: its encoding {self.encoding} cannot be edited byte by byte")
        return offset

    def span(self, node: ast.expr | ast.stmt | ast.ExceptHandler) -> tuple[int, int]:
        """First byte and the byte behind the last one of a node, without decorators."""
        assert node.end_lineno is not None and node.end_col_offset is not None  # noqa: S101  # parsed trees have both
        return self.offset(node.lineno, node.col_offset), self.offset(node.end_lineno, node.end_col_offset)

    def statement_span(self, statement: ast.stmt) -> tuple[int, int]:
        """The span of a statement with its decorators."""
        start, end = self.span(statement)
        decorators = getattr(statement, "decorator_list", None)
        if decorators:
            # An expression may stand below its @, in parentheses; the @ is the first thing on its line.
            for line in range(decorators[0].lineno, 0, -1):
                first = self.starts[line - 1]
                text = self.data[first : self.starts[line] if line < len(self.starts) else None]
                if text.lstrip(BLANK).startswith(b"@"):
                    return first + len(text) - len(text.lstrip(BLANK)), end
        return start, end

    def line_of(self, offset: int) -> int:
        return bisect.bisect_right(self.starts, offset) or 1

    def before_on_line(self, offset: int) -> bytes:
        """What stands left of a byte on its line."""
        return self.data[self.starts[self.line_of(offset) - 1] : offset]

    def newline_at(self, offset: int) -> bytes:
        """The line end nearest to a place: of its own line, of the one before, else of the file."""
        match = NEWLINE.search(self.data, offset)
        if match is None:
            found = NEWLINE.findall(self.data)
            return found[-1] if found else b"\n"
        return match.group()

    def text(self) -> str:
        return self.data.decode(self.encoding)

    def line_text(self, line: int) -> str:
        """A line for a message."""
        end = self.starts[line] if line < len(self.starts) else len(self.data)
        return self.data[self.starts[line - 1] : end].decode(self.encoding, "replace").strip()

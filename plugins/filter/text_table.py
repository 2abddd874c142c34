# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of text as a table that a person reads in a terminal."""

from __future__ import annotations

DOCUMENTATION = r"""
name: text_table
author:
  - inferops contributors (@inferops)
version_added: 0.1.0
short_description: Lay rows of text out as a table
description:
  - Columns are as wide as they need to be. The last one is wrapped where the table would be wider than O(width);
    a word that is longer than its column stays whole, so that a path or a command can be copied.
positional: _input
options:
  _input:
    description: The rows, each a list of cells. A cell that holds line breaks takes several lines.
    type: list
    elements: list
    required: true
  title:
    description: Stands above the table.
    type: str
    default: ""
  width:
    description: The columns of the terminal that the table may take.
    type: int
    default: 110
"""

EXAMPLES = r"""
- name: Say where the server answers
  inferops.blackwell.report:
    text: "{{ rows | inferops.blackwell.text_table(title='SGLang') }}"
  vars:
    rows:
      - [host, "{{ inventory_hostname }}"]
      - [url, "{{ server_result.url }}"]
"""

RETURN = r"""
_value:
  description: The lines of the table.
  type: list
  elements: str
"""

import textwrap  # noqa: E402
import typing as t  # noqa: E402
from collections.abc import Sequence  # noqa: E402

from ansible.errors import AnsibleFilterError  # noqa: E402

_SMALLEST_LAST_COLUMN = 20


def text_table(rows: t.Any, title: str = "", width: int = 110) -> list[str]:
    """Rows of equally many cells -> lines. Raises AnsibleFilterError for rows of different lengths."""
    if isinstance(rows, str) or not isinstance(rows, Sequence) or any(isinstance(row, str) for row in rows):
        raise AnsibleFilterError(f"text_table needs a list of rows, each a list of cells, got {rows!r}")
    table = [[str(cell) for cell in row] for row in rows]
    if not table:
        return [title] if title else []
    lengths = {len(row) for row in table}
    if len(lengths) > 1 or 0 in lengths:
        raise AnsibleFilterError(f"text_table needs rows of the same number of cells, got {sorted(lengths)}")
    widths = [max(_longest(cell) for cell in column) for column in zip(*table)]
    # Between two columns stand three characters, at both ends two.
    room = int(width) - sum(widths[:-1]) - 3 * (len(widths) - 1) - 4
    last = max(room, _SMALLEST_LAST_COLUMN)
    cells = [[*(cell.split("\n") for cell in row[:-1]), _wrapped(row[-1], last)] for row in table]
    widths[-1] = max(len(line) for row in cells for line in row[-1])
    rule = "+" + "+".join("-" * (one + 2) for one in widths) + "+"
    body = [_line(parts, widths) for row in cells for parts in _lines_of(row)]
    return [*([title] if title else []), rule, *body, rule]


def _longest(cell: str) -> int:
    return max(len(line) for line in cell.split("\n"))


def _wrapped(cell: str, width: int) -> list[str]:
    wrapped: list[str] = []
    for line in cell.split("\n"):
        wrapped += textwrap.wrap(line, width, break_long_words=False, break_on_hyphens=False) or [""]
    return wrapped


def _lines_of(row: list[list[str]]) -> t.Iterator[list[str]]:
    height = max(len(cell) for cell in row)
    for number in range(height):
        yield [cell[number] if number < len(cell) else "" for cell in row]


def _line(parts: list[str], widths: list[int]) -> str:
    return "| " + " | ".join(part.ljust(width) for part, width in zip(parts, widths)) + " |"


class FilterModule:
    """Filters of this file, for Ansible's loader."""

    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        return {"text_table": text_table}

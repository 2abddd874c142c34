# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one exception of the engine, and the words that all its messages share."""

from __future__ import annotations

import typing as t


class PatchError(Exception):
    """Something that stops a run. The message says what, where, why and what to do.

    `status` is set where the cause is the state of the tree (`drifted`, `missing`, `interrupted`);
    `files` then has the state of each file, in the shape that the module returns.
    """

    def __init__(self, message: str, *, status: str | None = None, files: list[dict[str, t.Any]] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.files = files


def quoted(source: str, limit: int = 100) -> str:
    """A pattern or a line of source as it stands in a message: one line, shortened."""
    lines = [line for line in source.strip().splitlines() if line.strip()]
    text = " | ".join([line.rstrip() for line in lines])
    text = "".join([char if char.isprintable() else repr(char)[1:-1] for char in text])
    if len(text) > limit:
        text = text[: limit - 1] + "…"
    return "`" + text + "`"


def times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def lines_text(lines: t.Sequence[int]) -> str:
    """[3, 7, 9] -> `lines 3, 7 and 9`."""
    if len(lines) == 1:
        return f"line {lines[0]}"
    shown = [str(line) for line in lines[:10]]
    if len(lines) > 10:
        return "lines " + ", ".join(shown) + f" and {len(lines) - 10} more"
    return "lines " + ", ".join(shown[:-1]) + " and " + shown[-1]

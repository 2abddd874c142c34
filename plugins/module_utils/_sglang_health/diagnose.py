# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From the text of a log to a reason with its evidence."""

from __future__ import annotations

import typing as t

from ansible_collections.inferops.blackwell.plugins.module_utils._sglang_health.cause import Cause
from ansible_collections.inferops.blackwell.plugins.module_utils._sglang_health.causes import CAUSES, DOOM

_LINE_WIDTH = 500
_EVIDENCE_LINES = 12
# SGLang says this of every model file whose optional packages are missing, in each healthy start.
_HARMLESS = "Ignore import error when loading"

# The trace that our own questions leave.
_OUR_OWN = '"GET /health HTTP/1.1"'


class Finding(t.NamedTuple):
    """A verdict for people (`what`, `evidence`, `remedy`) and programs (`cause`)."""

    cause: str
    what: str
    evidence: str
    remedy: str


def explain(text: str) -> Finding | None:
    """The most special known reason in the log of a server that is lost."""
    return _first(text, CAUSES)


def decisive(text: str) -> Finding | None:
    """A reason that ends the waiting although the process may still live."""
    return _first(text, (cause for cause in CAUSES if cause.decisive))


def doomed(text: str) -> bool:
    """SGLang itself says that one of its processes is lost."""
    return DOOM.search(text) is not None


def last_lines(text: str, count: int = _EVIDENCE_LINES) -> str:
    """What the log ends with, for a reason that nobody knew."""
    lines = [line for line in text.split("\n") if line.strip() and _OUR_OWN not in line]
    return "\n".join(line[:_LINE_WIDTH] for line in lines[-count:])


def _first(text: str, causes: t.Iterable[Cause]) -> Finding | None:
    text = "\n".join(line for line in text.split("\n") if _HARMLESS not in line)
    for cause in causes:
        matches = list(cause.pattern.finditer(text))
        if matches:
            # The last one: where a log holds an earlier run too, this run's words stand further down.
            return _finding(cause, matches[-1])
    return None


def _finding(cause: Cause, match: t.Match[str]) -> Finding:
    words = {name: value or "" for name, value in match.groupdict().items()}
    return Finding(
        cause.id,
        cause.what.format_map(words),
        last_lines(_whole_lines(match)),
        cause.remedy.format_map(words),
    )


def _whole_lines(match: t.Match[str]) -> str:
    text = match.string
    first = text.rfind("\n", 0, match.start()) + 1
    last = text.find("\n", match.end())
    return text[first : last if last >= 0 else len(text)]

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recipes that a careless hand writes; none of them may reach a disk."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

SERVER_ARGS = "sglang/srt/server_args.py"
WORKER = "sglang/srt/speculative/eagle_worker_v2.py"
OTHER_CALL = '"--speculative-accept-threshold-acc"'
NEW_CALL = 'parser.add_argument("--another-flag", type=int)'


class Recipe(NamedTuple):
    blamed: str
    files: list[dict[str, Any]]


def edit(path: str, scope: str, **edit: str) -> dict[str, Any]:
    return {"path": path, "edits": [{"in": scope, **edit}]}


FIELD = edit(SERVER_ARGS, "ServerArgs", at="end", insert="another_flag: int = 0")
BROKEN = {
    # The incident: a call put among the arguments of another.
    "inside another call": Recipe(
        SERVER_ARGS,
        [edit(SERVER_ARGS, "ServerArgs.add_cli_args", replace=OTHER_CALL, insert=f"{OTHER_CALL}\n{NEW_CALL}")],
    ),
    # The first file would be fine, the second does not compile.
    "second file": Recipe(WORKER, [FIELD, edit(WORKER, "EAGLEWorkerV2", at="end", insert="def broken(self:")]),
    # The first file would be fine, in the second there is no such place.
    "no such place": Recipe(
        WORKER, [FIELD, edit(WORKER, "EAGLEWorkerV2", after="self.no_such_call(...)", insert="self.ready = True")]
    ),
}


def names_a_line(message: str) -> bool:
    """Whether a message points at a line of a file: `file.py:476`, `line 476`, `lines 583-878`."""
    return re.search(r"\.py:\d+|\blines? \d+", message) is not None

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a starting server is doing, from its log."""

from __future__ import annotations

import re
import typing as t

IMPORTING = "importing"
STARTING = "starting"
DISTRIBUTED = "connecting the ranks"
READY = "ready to answer"

# Wording of SGLang 0.5.3 to 0.5.23. `n` and `of` are taken from progress bars.
_PHASES: tuple[tuple[str, t.Pattern[str]], ...] = tuple(
    (name, re.compile(pattern))
    for name, pattern in (
        ("starting the schedulers", r"server_args=ServerArgs\("),
        (DISTRIBUTED, r"Init torch distributed begin"),
        ("ranks connected", r"Init torch distributed ends"),
        ("loading weights", r"[Ll]oading (?:\w+ checkpoint )?shards: .*\| (?P<n>\d+)/(?P<of>\d+)"),
        ("loading weights", r"Load weight begin"),
        ("weights loaded", r"Load weight end"),
        ("memory pool", r"KV Cache is allocated|Memory pool end"),
        ("compiling kernels", r"JIT: |Loading JIT ops|[Cc]ompiling .*kernel|DeepGEMM.*(?:warm|compil)"),
        ("capturing graphs", r"Capturing batches .*\| (?P<n>\d+)/(?P<of>\d+)"),
        ("capturing graphs", r"Capture (?:\w+ )*(?:cuda|cpu) graph begin"),
        ("graphs captured", r"Capture (?:\w+ )*(?:cuda|cpu) graph end"),
        ("warming up", r"Uvicorn running on|Application startup complete"),
        (READY, r"The server is fired up and ready to roll"),
    )
)


def phase_of(text: str) -> str | None:
    """The phase that the last telling line of `text` names, or None."""
    for line in reversed(text.split("\n")):
        for name, pattern in _PHASES:
            match = pattern.search(line)
            if match:
                return name + _count(match)
    return None


def _count(match: t.Match[str]) -> str:
    words = match.groupdict()
    return f" {words['n']}/{words['of']}" if words.get("n") else ""

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a log says to a person: terminal control removed, progress bars reduced to their last state, secrets masked."""

from __future__ import annotations

import os
import re
import typing as t

# CSI (colours, cursor), OSC (titles, links) and two-character escapes of ECMA-48.
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_URL_SECRET = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://(?P<user>[^\s/:@]*):(?P<password>[^\s/@]+)@")
_SECRET_NAME = re.compile(r"PASSWORD|PASSWD|SECRET|TOKEN|CREDENTIAL|API_?KEY|PRIVATE_?KEY", re.IGNORECASE)
# Masking a very short value would mask half of the output and tell the secret by the holes.
_SHORTEST_SECRET = 6
# Enough for the last lines of a traceback; a log of gigabytes is never read whole.
_TAIL_BYTES = 65536


def lines_of(text: str) -> list[str]:
    """The non-empty lines of `text` as a terminal would show them in the end.

    A carriage return starts the line anew: only what was written last counts.
    """
    lines = []
    for raw in _ESCAPE.sub("", text).split("\n"):
        states = [state for state in raw.split("\r") if state.strip()]
        if states:
            lines.append(_CONTROL.sub("", states[-1].replace("\t", " ")).rstrip())
    return lines


def tail(path: str, start: int, count: int) -> list[str]:
    """At most `count` last lines of the file, none of them from before byte `start`."""
    try:
        with open(path, "rb") as log:
            size = log.seek(0, os.SEEK_END)
            first = max(start, size - _TAIL_BYTES)
            log.seek(first)
            data = log.read(size - first)
    except OSError:
        return []
    if first > start:
        data = data.partition(b"\n")[2]
    return lines_of(data.decode("utf-8", "replace"))[-count:]


def secrets_in(argv: t.Iterable[str], environment: t.Mapping[str, str]) -> set[str]:
    """Passwords inside URLs, and the values of variables whose name says that they are secret."""
    found = {match["password"] for text in [*argv, *environment.values()] for match in _URL_SECRET.finditer(text)}
    found.update(value for name, value in environment.items() if _SECRET_NAME.search(name))
    return {secret for secret in found if len(secret) >= _SHORTEST_SECRET}

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The log of this run of the server: a file, or what the journal has of a unit.

An earlier run's words must not condemn this one. The caller's byte offset decides; without it, the time at which the
process started and the time stamps of SGLang's own lines do.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
import typing as t
from pathlib import Path

from ansible_collections.inferops.blackwell.plugins.module_utils._watched_command.lines import lines_of

# Enough for a start with eight ranks; of a longer log the end counts.
_LONGEST_BYTES = 1 << 20
_STAMP = re.compile(rb"^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)", re.MULTILINE)
# SGLang's stamps have no fractions.
_STAMP_SLACK_SECONDS = 1.5
# As SGLang prints its arguments (`ServerArgs(... api_key='...'`); what is quoted from a log is shown to people.
_SECRET = re.compile(
    r"""(?P<name>\b\w*(?:api_key|password|token|secret)=)(?P<quote>['"])(?:\\.|(?!(?P=quote)).)*(?P=quote)"""
)


class Text(t.NamedTuple):
    """`certain`: all of it was written by this run. `size` grows whenever something was written."""

    text: str
    certain: bool
    size: int
    problem: str = ""


class Log(t.Protocol):
    def read(self, started: float | None) -> Text:
        """What this run wrote, if it started at `started` (seconds since the epoch)."""

    def describe(self) -> str:
        """How a person reads it."""


class NoLog:
    """The caller named none."""

    def read(self, started: float | None) -> Text:
        return Text("", True, 0)

    def describe(self) -> str:
        return "(no log was named)"


class FileLog:
    def __init__(self, path: str, offset: int | None) -> None:
        self._path = Path(path)
        self._offset = offset

    def describe(self) -> str:
        return str(self._path)

    def read(self, started: float | None) -> Text:
        try:
            with self._path.open("rb") as handle:
                size = handle.seek(0, os.SEEK_END)
                written_at = os.fstat(handle.fileno()).st_mtime
                # A log that is shorter than the offset was rotated or written anew since.
                first = self._offset if self._offset is not None and self._offset <= size else 0
                handle.seek(max(first, size - _LONGEST_BYTES))
                data = handle.read(_LONGEST_BYTES)
        except FileNotFoundError:
            return Text("", True, 0)
        except OSError as error:
            return Text("", True, 0, f"the log {self._path} cannot be read: {error.strerror}")
        certain = self._offset is not None
        if not certain:
            data, certain = _of_this_run(data, written_at, started)
        return Text(_clean(data), certain, size)


class UnitLog:
    """systemd's journal of one unit, since the process started."""

    def __init__(self, unit: str, since: float | None) -> None:
        self._unit = unit
        self._since = since

    def describe(self) -> str:
        return f"journalctl -u {self._unit}"

    def read(self, started: float | None) -> Text:
        since = self._since if self._since is not None else started
        argv = ["journalctl", "--unit", self._unit, "--no-pager", "--output", "cat", "--lines", "5000", "--quiet"]
        if since is not None:
            argv += ["--since", f"@{since - 1:.0f}"]
        try:
            done = subprocess.run(argv, capture_output=True, timeout=20, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            return Text("", True, 0, f"the journal cannot be read: {error}")
        if done.returncode:
            return Text("", True, 0, f"the journal cannot be read: {done.stderr.decode('utf-8', 'replace').strip()}")
        return Text(_clean(done.stdout[-_LONGEST_BYTES:]), since is not None, len(done.stdout))


def _clean(data: bytes) -> str:
    text = "\n".join(lines_of(data.decode("utf-8", "replace")))
    return _SECRET.sub(r"\g<name>'***'", text)


def _of_this_run(data: bytes, written_at: float, started: float | None) -> tuple[bytes, bool]:
    """The part that can be this run's, and whether it surely is."""
    if started is None:
        return data, False
    if written_at < started - _STAMP_SLACK_SECONDS:
        return b"", True
    end_of_earlier = 0
    for match in _STAMP.finditer(data):
        if _epoch(match[1]) >= started - _STAMP_SLACK_SECONDS:
            return data[match.start() :], True
        end_of_earlier = match.end()
    return data[end_of_earlier:].partition(b"\n")[2] if end_of_earlier else data, False


def _epoch(stamp: bytes) -> float:
    """SGLang writes local time."""
    return time.mktime(time.strptime(stamp.decode(), "%Y-%m-%d %H:%M:%S"))

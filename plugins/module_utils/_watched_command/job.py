# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The private directory through which the supervising process and the module's runs talk.

`lock` is held by the supervisor as long as it lives, `state.json` is what it found, the
modification time of `watched` says when somebody last looked, `stop` asks it to end.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import stat
import tempfile
import typing as t
from pathlib import Path

_GONE = "it was ended, because nobody watched it for too long or its job directory was removed"


class JobError(Exception):
    """The job directory cannot be used; the text is for people."""


class Job:
    """One started command."""

    def __init__(self, directory: str) -> None:
        self.directory = directory

    @classmethod
    def create(cls) -> Job:
        """A new directory that only we may enter (mkdtemp: mode 0700)."""
        job = cls(tempfile.mkdtemp(prefix="inferops-watched-"))
        job.watch()
        return job

    @classmethod
    def open(cls, directory: str) -> Job:
        """A directory that an earlier run made. In a world-writable place a foreign one proves nothing: refused."""
        try:
            found = os.lstat(directory)
        except OSError as error:
            raise JobError(f"{_GONE} ({directory}: {error.strerror})") from error
        private = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077
        if not private:
            raise JobError(f"the job directory {directory} is not a private directory of this account")
        return cls(directory)

    def path(self, name: str) -> Path:
        return Path(self.directory, name)

    def watch(self) -> None:
        """Say that somebody is looking."""
        try:
            with open(self.path("watched"), "ab"):
                os.utime(self.path("watched"))
        except FileNotFoundError as error:
            raise JobError(f"{_GONE} ({self.directory})") from error

    def watched_at(self) -> int:
        """Changes whenever somebody looked; compare it only with itself, since clocks jump."""
        with contextlib.suppress(OSError):
            return self.path("watched").stat().st_mtime_ns
        return 0

    def ask_to_stop(self) -> None:
        with open(self.path("stop"), "ab"):
            pass

    def asked_to_stop(self) -> bool:
        # A directory that somebody removed can never be polled again: nobody watches.
        return self.path("stop").exists() or not Path(self.directory).is_dir()

    def lock(self) -> t.IO[bytes]:
        """Taken before the supervisor is forked, which inherits it: there is no moment without."""
        handle = open(self.path("lock"), "ab")  # noqa: SIM115
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return handle

    def supervised(self) -> bool:
        try:
            with open(self.path("lock"), "ab") as handle:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
        return False

    def write(self, state: dict[str, t.Any]) -> None:
        """Whole or not at all: a reader never sees half of it."""
        temporary = self.path("state.json.new")
        with open(temporary, "w", encoding="utf-8") as handle:
            json.dump(state, handle)
        temporary.replace(self.path("state.json"))

    def read(self) -> dict[str, t.Any]:
        try:
            with open(self.path("state.json"), encoding="utf-8") as handle:
                return t.cast("dict[str, t.Any]", json.load(handle))
        except FileNotFoundError:
            return {}

    def remove(self) -> None:
        shutil.rmtree(self.directory, ignore_errors=True)

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the server's process lives: asked from systemd, from supervisor or from a pid file."""

from __future__ import annotations

import time
import typing as t
from pathlib import Path

from ansible_collections.inferops.blackwell.plugins.module_utils._sglang_health import proc


class Status(t.NamedTuple):
    """One look. `death` is empty while the process lives (or nobody can tell)."""

    pid: int | None = None
    # Seconds since the epoch, of the process that lives or lived last.
    started: float | None = None
    death: str = ""
    # The cause of a death that says everything by itself, for instance a unit that does not exist.
    cause: str = ""
    killed_by: int | None = None
    ended_for_memory: bool = False
    # It is gone, and nobody can tell how it ended.
    vanished: bool = False
    # Counts starts; a change means that the process died in between and was started again.
    generation: str = ""
    control_group: str = ""


class ProcessError(Exception):
    """The state of the process cannot be found out; the text is for people."""


class Process(t.Protocol):
    def look(self) -> Status:
        """Find out now."""

    def previous_end(self) -> tuple[str, int | None]:
        """How the process before the present one ended: words, and the signal that killed it. Empty: unknown."""

    def describe(self) -> str:
        """Its name for people."""


class NoProcess:
    """The caller named none: only the log and the answers count."""

    def look(self) -> Status:
        return Status()

    def previous_end(self) -> tuple[str, int | None]:
        return "", None

    def describe(self) -> str:
        return "the server"


class PidFile:
    """A pid file tells no exit status, so a vanished process is all there is to see."""

    # A launcher may need a moment until it writes the file.
    GRACE_SECONDS = 10.0

    def __init__(self, path: str, since: float | None = None) -> None:
        """`since`: when the waiting began, on the monotonic clock."""
        self._path = Path(path)
        self._since = time.monotonic() if since is None else since

    def previous_end(self) -> tuple[str, int | None]:
        return "", None

    def describe(self) -> str:
        return f"the process of {self._path}"

    def look(self) -> Status:
        try:
            pid = int(self._path.read_text().split()[0])
        except FileNotFoundError:
            if time.monotonic() - self._since < self.GRACE_SECONDS:
                return Status()
            return Status(death=f"the pid file {self._path} does not exist", cause="process_missing")
        except (OSError, ValueError, IndexError) as error:
            raise ProcessError(f"the pid file {self._path} holds no process id: {error}") from error
        found = proc.stat(pid)
        if found is None:
            death = f"process {pid} does not exist any more"
            return Status(pid=pid, generation=str(pid), vanished=True, death=death)
        started = proc.started_at(found)
        if found.alive:
            return Status(pid=pid, generation=str(pid), started=started)
        killed_by = found.exit_status & 0x7F
        return Status(
            pid=pid,
            generation=str(pid),
            started=started,
            killed_by=killed_by or None,
            death=f"process {pid} {ended(killed_by, found.exit_status >> 8)}",
        )


def ended(signal_number: int, status: int) -> str:
    """Words for the two ways in which a process can end."""
    if signal_number:
        return f"was killed by signal {signal_number} ({signal_name(signal_number)})"
    return f"ended with exit status {status}"


def signal_name(number: int) -> str:
    import signal

    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"

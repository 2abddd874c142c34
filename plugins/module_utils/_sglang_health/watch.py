# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The loop: look at process, log, sockets and answers until the server is healthy or lost."""

from __future__ import annotations

import time
import typing as t
import urllib.parse

from ansible_collections.inferops.blackwell.plugins.module_utils._sglang_health import phases, proc, verdict
from ansible_collections.inferops.blackwell.plugins.module_utils._sglang_health.diagnose import (
    Finding,
    decisive,
    doomed,
)
from ansible_collections.inferops.blackwell.plugins.module_utils._sglang_health.log import Log, Text
from ansible_collections.inferops.blackwell.plugins.module_utils._sglang_health.probe import Probe
from ansible_collections.inferops.blackwell.plugins.module_utils._sglang_health.process import Process, Status

_LOOK_SECONDS = 0.5
# A process that goes down writes its traceback first, and its reason last.
_SETTLE_SECONDS = 1.5
# The previous server may need a moment to let the port go.
_FOREIGN_SECONDS = 2.0
_WORKER = "sglang::"


class Outcome(t.NamedTuple):
    """The end of the waiting; `finding` is None for a healthy server."""

    seconds: float
    finding: Finding | None


class Watch:
    """Survives in slices: `state()` of one is `state` of the next."""

    def __init__(
        self, url: str, process: Process, log: Log, probe: Probe, timeout_seconds: float, state: dict[str, t.Any]
    ) -> None:
        self._url = url
        self._process = process
        self._log = log
        self.probe = probe
        self._timeout_seconds = timeout_seconds
        now = time.monotonic()
        self._began: float = state.get("began", now)
        self._started: float | None = state.get("started")
        self._generation: str | None = state.get("generation")
        self._workers: dict[str, str] = dict(state.get("workers", {}))
        self._foreign_since: float | None = state.get("foreign_since")
        self._size: int = state.get("size", 0)
        self._grown_at: float = state.get("grown_at", now)
        self._log_phase: str = state.get("phase", phases.STARTING)
        self.problem: str = state.get("problem", "")
        self.pid: int | None = state.get("pid")

    def state(self) -> dict[str, t.Any]:
        return {
            "began": self._began,
            "started": self._started,
            "generation": self._generation,
            "workers": self._workers,
            "foreign_since": self._foreign_since,
            "size": self._size,
            "grown_at": self._grown_at,
            "phase": self._log_phase,
            "problem": self.problem,
            "pid": self.pid,
            "probe": self.probe.state(),
        }

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self._began

    @property
    def phase(self) -> str:
        return self.probe.phase or self._log_phase

    def run(self, slice_seconds: float | None) -> Outcome | None:
        """None: the slice is over, or the phase changed, and all is still open."""
        end = None if slice_seconds is None else time.monotonic() + slice_seconds
        phase = self.phase
        while True:
            finding = self._look()
            if finding:
                return Outcome(self.elapsed, verdict.with_port_owner(finding, self._url))
            if self.probe.done:
                return Outcome(self.elapsed, None)
            if self.elapsed > self._timeout_seconds:
                return Outcome(self.elapsed, self._timed_out())
            self.probe.pause(_LOOK_SECONDS)
            # A request in flight would be lost with the slice, and asked again. Between the last answers, a second
            # each, a new slice would cost half of that.
            is_kept = self.probe.pending or self.probe.answers
            if end is not None and not is_kept and (time.monotonic() > end or self.phase != phase):
                return None

    # ---- one look --------------------------------------------------------------------------

    def _look(self) -> Finding | None:
        status = self._check_generation(self._process.look())
        self.pid = status.pid or self.pid
        if status.death:
            return self._of_death(status)
        lost = self._lost_worker(status)
        if lost:
            return lost
        text = self._read_log()
        self.probe.step()
        if self.probe.finding:
            return self._foreign(status, at_once=True) or self.probe.finding
        found = self._foreign(status)
        if found or not self.probe.refused:
            # Where it answers, what its log once said does not matter.
            return found
        return self._of_words(text)

    def _check_generation(self, status: Status) -> Status:
        if self._started is None and status.started is not None:
            self._started = status.started
        if not status.generation or status.generation == self._generation:
            return status
        if self._generation is None:
            self._generation = status.generation
            return status
        if status.death:
            return status
        how, killed_by = self._process.previous_end()
        death = f"{self._process.describe()} died and was started again{how}"
        return status._replace(death=death, killed_by=killed_by, started=self._started)

    def _read_log(self) -> Text:
        text = self._log.read(self._started)
        self.problem = text.problem
        if text.size != self._size:
            self._size = text.size
            self._grown_at = time.monotonic()
        named = phases.phase_of(text.text) if text.certain else None
        if named:
            self._log_phase = named
        elif text.text and self._log_phase == phases.STARTING:
            self._log_phase = phases.IMPORTING
        return text

    # ---- verdicts --------------------------------------------------------------------------

    def _of_death(self, status: Status) -> Finding:
        self._settle()
        pids = {int(pid) for pid in self._workers} | ({self.pid} if self.pid else set())
        status = status._replace(started=self._started or status.started)
        return verdict.of_death(status, self._read_log().text, pids, self._log.describe())

    def _of_words(self, text: Text) -> Finding | None:
        """The log of this run says that the end is near, though the process still lives."""
        if not text.certain or not (doomed(text.text) or decisive(text.text)):
            return None
        self._settle()
        status = self._check_generation(self._process.look())
        if status.death:
            return self._of_death(status)
        now = self._read_log().text
        return decisive(now) or verdict.of_lost_worker(None, "one of SGLang's processes", status, now)

    def _lost_worker(self, status: Status) -> Finding | None:
        if status.pid is None:
            return None
        now = {str(child.pid): child for child in proc.descendants(status.pid) if child.name.startswith(_WORKER)}
        dead = next((child for child in now.values() if not child.alive), None)
        gone = next((name for pid, name in self._workers.items() if pid not in now), None)
        self._workers.update({pid: child.name for pid, child in now.items()})
        if dead is None and gone is None:
            return None
        self._settle()
        status = self._check_generation(self._process.look())
        if status.death:
            return self._of_death(status)
        return verdict.of_lost_worker(dead, dead.name if dead else str(gone), status, self._read_log().text)

    def _foreign(self, status: Status, at_once: bool = False) -> Finding | None:
        """Another process listens where our server shall."""
        address = urllib.parse.urlsplit(self._url)
        port = address.port or (443 if address.scheme == "https" else 80)
        holder = proc.listener(address.hostname or "localhost", port)
        if holder is None or holder.pid is None or status.pid is None or _belongs(holder.pid, status):
            self._foreign_since = None
            return None
        now = time.monotonic()
        if self._foreign_since is None:
            self._foreign_since = now
        if at_once or now - self._foreign_since >= _FOREIGN_SECONDS:
            return verdict.port_taken(holder, port)
        return None

    def _timed_out(self) -> Finding:
        text = self._read_log()
        silent = time.monotonic() - self._grown_at if text.text else None
        return verdict.of_timeout(self.phase, self.elapsed, silent, self.probe.said, text, self._started)

    def _settle(self) -> None:
        """Wait until the log stands still, but not long."""
        deadline = time.monotonic() + _SETTLE_SECONDS
        size = -1
        while time.monotonic() < deadline:
            now = self._log.read(self._started).size
            if now == size:
                return
            size = now
            time.sleep(_LOOK_SECONDS)


def _belongs(pid: int, status: Status) -> bool:
    """The process is the server, one that it started, or one of its unit or session."""
    if status.pid is None or pid == status.pid:
        return True
    if status.control_group and proc.in_cgroup(pid, status.control_group):
        return True
    main, other = proc.stat(status.pid), proc.stat(pid)
    if main is None or other is None or (main.session == other.session and main.session == main.pid):
        return True
    return any(child.pid == pid for child in proc.descendants(status.pid))

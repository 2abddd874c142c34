# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The small process that starts the command, and ends it when its time is over or nobody watches any more."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
import typing as t
from pathlib import Path

from ansible_collections.inferops.blackwell.plugins.module_utils._watched_command.job import Job

# Why the supervisor ended a command by itself.
TIMEOUT = "timeout"
UNWATCHED = "unwatched"
STOPPED = "stopped"

_GRACE_SECONDS = 5.0


class Order(t.NamedTuple):
    """What to run. Times are in seconds."""

    argv: list[str]
    chdir: str | None
    log: str
    timeout_seconds: float
    unwatched_seconds: float
    # Nobody watches before a later task does; the result waits for that task without a process.
    background: bool = False
    nice: int = 0


def launch(job: Job, order: Order) -> None:
    """Start the supervisor, detached: own session, no descriptor of ours, child of init."""
    with job.lock() as lock:
        child = os.fork()
        if child:
            os.waitpid(child, 0)
            return
        # Never unwind into the module's own clean-up: that belongs to the parent.
        try:
            os.setsid()
            if os.fork():
                os._exit(0)
            _close_all_but(lock.fileno())
            _Supervisor(job, order).run()
        finally:
            os._exit(0)


def _close_all_but(keep: int) -> None:
    """An open pipe would keep the module's caller waiting (ssh too) until the command ends."""
    null = os.open(os.devnull, os.O_RDWR)
    for standard in range(3):
        os.dup2(null, standard)
    for descriptor in [int(entry.name) for entry in Path("/proc/self/fd").iterdir()]:
        if descriptor > 2 and descriptor != keep:
            with contextlib.suppress(OSError):
                os.close(descriptor)


class _Supervisor:
    def __init__(self, job: Job, order: Order) -> None:
        self._job = job
        self._order = order
        self._started = time.monotonic()
        self._watched_at = job.watched_at()
        self._watched_since = self._started
        self._ended_by: str | None = None
        self._terminated = False

    def run(self) -> None:
        signal.signal(signal.SIGTERM, self._on_signal)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        try:
            with open(self._order.log, "ab", buffering=0) as log:
                process = subprocess.Popen(
                    self._order.argv,
                    cwd=self._order.chdir,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                    # This process has one thread: nothing can hold a lock in the child.
                    preexec_fn=self._be_nice if self._order.nice else None,  # noqa: PLW1509
                )
        except OSError as error:
            self._finish(rc=None, error=f"{error.filename or self._order.argv[0]}: {error.strerror}")
            return
        try:
            self._job.write({"finished": False, "started": self._started, "pid": process.pid})
            rc = self._wait(process)
        finally:
            # Whatever went wrong here: the command must not outlive its supervisor.
            if process.poll() is None:
                _end_session(process)
        self._finish(rc=rc, error=None)

    def _be_nice(self) -> None:
        """In the child. Where the kernel shares out the cores by session, a process's niceness counts only inside."""
        os.nice(self._order.nice)
        with contextlib.suppress(OSError), open("/proc/self/autogroup", "w", encoding="ascii") as autogroup:
            autogroup.write(str(self._order.nice))

    def _on_signal(self, number: int, frame: object) -> None:
        self._terminated = True

    def _finish(self, rc: int | None, error: str | None) -> None:
        if self._ended_by == UNWATCHED:
            # The one who would have read the result has gone.
            self._note("the command was stopped: the play that started it watches it no longer")
            self._job.remove()
            return
        seconds = time.monotonic() - self._started
        with contextlib.suppress(OSError):
            self._job.write(
                {"finished": True, "rc": rc, "error": error, "ended_by": self._ended_by, "seconds": round(seconds, 1)}
            )
            if not self._order.background:
                self._linger()

    def _linger(self) -> None:
        """Without a reader the directory would stay for ever."""
        while (
            not (self._terminated or self._job.asked_to_stop())
            and self._seconds_unwatched() < self._order.unwatched_seconds
        ):
            time.sleep(0.5)
        self._job.remove()

    def _note(self, text: str) -> None:
        with contextlib.suppress(OSError), open(self._order.log, "a", encoding="utf-8") as log:
            log.write(f"--- {text}\n")

    def _wait(self, process: subprocess.Popen[bytes]) -> int:
        pause = 0.02
        while process.poll() is None:
            self._ended_by = self._why_to_end()
            if self._ended_by:
                _end_session(process)
                break
            time.sleep(pause)
            pause = min(pause * 1.5, 0.5)
        return process.wait()

    def _why_to_end(self) -> str | None:
        if self._terminated or self._job.asked_to_stop():
            return STOPPED
        if time.monotonic() - self._started > self._order.timeout_seconds:
            return TIMEOUT
        if not self._order.background and self._seconds_unwatched() > self._order.unwatched_seconds:
            return UNWATCHED
        return None

    def _seconds_unwatched(self) -> float:
        watched_at = self._job.watched_at()
        if watched_at != self._watched_at:
            self._watched_at = watched_at
            self._watched_since = time.monotonic()
        return time.monotonic() - self._watched_since


def _end_session(process: subprocess.Popen[bytes]) -> None:
    """Politely first. The session holds what the command started, also in process groups of their own."""
    deadline = time.monotonic() + _GRACE_SECONDS
    _signal_session(process.pid, signal.SIGTERM)
    while time.monotonic() < deadline and _session_members(process.pid):
        process.poll()
        time.sleep(0.05)
    _signal_session(process.pid, signal.SIGKILL)


def _signal_session(session: int, number: int) -> None:
    for pid in _session_members(session):
        with contextlib.suppress(OSError):
            os.kill(pid, number)


def _session_members(session: int) -> list[int]:
    members = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            # After "pid (name)": state, parent, group, session. The name may hold anything, also brackets.
            fields = stat.read_bytes().rpartition(b")")[2].split()
            if int(fields[3]) == session and fields[0] not in (b"Z", b"X"):
                members.append(int(stat.parent.name))
    return members

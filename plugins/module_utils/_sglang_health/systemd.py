# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of a unit. A unit that systemd is about to start again has died, whatever `is-active` says."""

from __future__ import annotations

import os
import re
import subprocess
import time

from ansible_collections.inferops.blackwell.plugins.module_utils._sglang_health.process import (
    ProcessError,
    Status,
    ended,
)

_PROPERTIES = (
    "LoadState",
    "ActiveState",
    "SubState",
    "Result",
    "MainPID",
    "ExecMainPID",
    "ExecMainCode",
    "ExecMainStatus",
    "ExecMainStartTimestampMonotonic",
    "NRestarts",
    "ControlGroup",
)
_MAIN_EXITED = re.compile(r"Main process exited, code=(\w+), status=(\d+)")
# waitid(2): how the main process ended.
_CLD_KILLED, _CLD_DUMPED = 2, 3


class Unit:
    def __init__(self, name: str) -> None:
        self._name = name if "." in name.rpartition("@")[2] else f"{name}.service"

    def previous_end(self) -> tuple[str, int | None]:
        """systemd remembers only the last process; the journal has its words about the others."""
        argv = ["journalctl", "--unit", self._name, "--no-pager", "--output", "cat", "--lines", "500", "--quiet"]
        try:
            done = subprocess.run(argv, capture_output=True, text=True, errors="replace", timeout=20, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return "", None
        return exit_in_journal(done.stdout)

    def describe(self) -> str:
        return f"unit {self._name}"

    def look(self) -> Status:
        return interpret(self._name, self._show())

    def _show(self) -> dict[str, str]:
        argv = ["systemctl", "show", "--no-pager", f"--property={','.join(_PROPERTIES)}", "--", self._name]
        # C: nothing here is translated today, but nothing promises that.
        environment = {**os.environ, "LC_ALL": "C"}
        try:
            done = subprocess.run(argv, capture_output=True, text=True, timeout=20, check=False, env=environment)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ProcessError(f"systemd cannot be asked about unit {self._name}: {error}") from error
        if done.returncode:
            raise ProcessError(f"systemd cannot be asked about unit {self._name}: {done.stderr.strip()}")
        return dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)


def exit_in_journal(text: str) -> tuple[str, int | None]:
    """How the last main process ended, in systemd's words: `Main process exited, code=killed, status=9/KILL`."""
    found = _MAIN_EXITED.findall(text)
    if not found:
        return "", None
    code, status = found[-1]
    killed_by = int(status) if code in ("killed", "dumped") else 0
    return f", its process {ended(killed_by, int(status))}", killed_by or None


def interpret(name: str, show: dict[str, str]) -> Status:
    """`show`: the properties as systemctl prints them."""
    pid = int(show.get("MainPID") or 0) or int(show.get("ExecMainPID") or 0) or None
    code = int(show.get("ExecMainCode") or 0)
    status = int(show.get("ExecMainStatus") or 0)
    killed_by = status if code in (_CLD_KILLED, _CLD_DUMPED) else 0
    death, cause = _death(name, show, ended(killed_by, status) if code else "")
    return Status(
        pid=pid,
        started=_epoch(show.get("ExecMainStartTimestampMonotonic", "")),
        death=death,
        cause=cause,
        killed_by=killed_by or None if death else None,
        ended_for_memory=bool(death) and show.get("Result") == "oom-kill",
        generation=show.get("NRestarts", ""),
        control_group=show.get("ControlGroup", ""),
    )


def _death(name: str, show: dict[str, str], how: str) -> tuple[str, str]:
    """Words and, where they say everything, a cause."""
    load, active, sub = (show.get(key, "") for key in ("LoadState", "ActiveState", "SubState"))
    if load != "loaded":
        return f"unit {name} cannot be used: systemd says {load or 'nothing'}", "process_missing"
    how = f", its process {how}" if how else ""
    if sub.startswith("auto-restart"):
        return f"unit {name} is being restarted over and over{how}", ""
    if active == "failed":
        return f"unit {name} has failed ({show.get('Result', '')}){how}", ""
    if active in ("inactive", "deactivating"):
        return f"unit {name} is {active}{how}", "" if how else "process_missing"
    return "", ""


def _epoch(microseconds: str) -> float | None:
    """systemd counts from boot."""
    if not microseconds.isdigit() or microseconds == "0":
        return None
    return time.time() - time.clock_gettime(time.CLOCK_MONOTONIC) + int(microseconds) / 1e6

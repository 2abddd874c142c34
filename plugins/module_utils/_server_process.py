# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the service manager says of one server, and what the process itself shows in /proc."""

from __future__ import annotations

import contextlib
import http.client
import os
import pwd
import socket
import subprocess
import typing as t
import xmlrpc.client
from pathlib import Path

# The launch files put a digest of themselves into the environment of what they start.
LAUNCH_VARIABLE = "INFEROPS_LAUNCH"
_TIMEOUT_SECONDS = 20
_BAD_NAME = 10  # fault code of supervisor: there is no such program

State = dict[str, t.Any]


class _UnixTransport(xmlrpc.client.Transport):
    """XML-RPC over the socket that supervisord listens on."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self._path = path

    def make_connection(self, host: t.Any) -> http.client.HTTPConnection:
        connection = http.client.HTTPConnection("localhost", timeout=_TIMEOUT_SECONDS)
        connection.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.sock.settimeout(_TIMEOUT_SECONDS)
        connection.sock.connect(self._path)
        return connection


def supervisor_state(socket_path: str, program: str) -> State:
    """`manager` is what supervisord says, `down` when it does not answer, `unknown` without such a program."""
    proxy = xmlrpc.client.ServerProxy("http://localhost/RPC2", transport=_UnixTransport(socket_path))
    try:
        answer = t.cast(dict[str, t.Any], proxy.supervisor.getProcessInfo(program))
    except (OSError, http.client.HTTPException):
        return {"manager": "down", "pid": 0}
    except xmlrpc.client.Fault as fault:
        if fault.faultCode == _BAD_NAME:
            return {"manager": "unknown", "pid": 0}
        raise
    return {"manager": str(answer["statename"]).lower(), "pid": int(answer["pid"])}


def systemd_state(unit: str) -> State:
    """`manager` is the unit's ActiveState, `down` without systemd, `unknown` without such a unit."""
    argv = ["systemctl", "show", "--property=LoadState,ActiveState,MainPID", "--", unit]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=_TIMEOUT_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return {"manager": "down", "pid": 0}
    answer = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
    if done.returncode or not answer:
        return {"manager": "down", "pid": 0}
    if answer.get("LoadState") == "not-found":
        return {"manager": "unknown", "pid": 0}
    return {"manager": answer.get("ActiveState", "unknown"), "pid": int(answer.get("MainPID", "0"))}


def process_state(pid: int, proc: Path = Path("/proc")) -> State:
    """What /proc shows; `running` is false for a process that is gone or a zombie."""
    entry = proc / str(pid)
    state: State = {"running": False, "pid": 0, "arguments": [], "launch": "", "user": "", "executable": ""}
    if pid <= 0:
        return state
    try:
        arguments = _strings(entry / "cmdline")
        owner = (entry / "cmdline").stat().st_uid
    except OSError:
        return state
    if not arguments:
        return state
    state.update(running=True, pid=pid, arguments=arguments, user=_account(owner))
    # Another account's process shows neither; then the launch counts as unknown.
    with contextlib.suppress(OSError):
        environment = dict(item.split("=", 1) for item in _strings(entry / "environ") if "=" in item)
        state["launch"] = environment.get(LAUNCH_VARIABLE, "")
    with contextlib.suppress(OSError):
        state["executable"] = str((entry / "exe").readlink())
    return state


def _strings(path: Path) -> list[str]:
    return [part.decode(errors="replace") for part in path.read_bytes().split(b"\0")[:-1]]


def _account(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def orphan(pid_file: Path, proc: Path = Path("/proc")) -> int:
    """The process that the launch file noted, if it lives and was started by launch files; else 0.

    A process id is used again after a while: only the variable of the launch files makes the process ours.
    """
    try:
        pid = int(pid_file.read_text())
    except (OSError, ValueError):
        return 0
    return pid if process_state(pid, proc)["launch"] else 0


def server_state(unit: str | None, socket_path: str | None, program: str | None, pid_file: str | None = None) -> State:
    """`unit` for systemd, `socket_path` and `program` for supervisor, `pid_file` to find what no manager knows."""
    manager = systemd_state(unit) if unit else supervisor_state(os.fspath(socket_path or ""), program or "")
    state = {**process_state(manager["pid"]), "manager": manager["manager"], "orphan": 0}
    if pid_file and not state["running"]:
        state["orphan"] = orphan(Path(pid_file))
    return state

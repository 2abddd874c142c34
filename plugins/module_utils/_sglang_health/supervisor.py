# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of a program under supervisor, asked through its socket."""

from __future__ import annotations

import configparser
import http.client
import re
import signal
import socket
import typing as t
import xmlrpc.client
from pathlib import Path

from ansible_collections.inferops.blackwell.plugins.module_utils._sglang_health.process import (
    ProcessError,
    Status,
    ended,
)

_TIMEOUT_SECONDS = 10.0
_LOG_BYTES = 16384
# Supervisor's fault code for a name that it does not know.
_BAD_NAME = 10


class _Connection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=_TIMEOUT_SECONDS)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(_TIMEOUT_SECONDS)
        self.sock.connect(self._path)


class _Transport(xmlrpc.client.Transport):
    def __init__(self, path: str) -> None:
        super().__init__()
        self._path = path

    def make_connection(self, host: t.Any) -> _Connection:
        return _Connection(self._path)


class Program:
    def __init__(self, name: str, socket_path: str) -> None:
        self._name = name
        self._socket = socket_path
        server = xmlrpc.client.ServerProxy("http://localhost/RPC2", transport=_Transport(socket_path))
        self._supervisor: t.Any = server.supervisor

    def describe(self) -> str:
        return f"supervisor's program {self._name}"

    def look(self) -> Status:
        try:
            info: dict[str, t.Any] = self._supervisor.getProcessInfo(self._name)
        except xmlrpc.client.Fault as fault:
            if fault.faultCode == _BAD_NAME:
                return Status(death=f"supervisor knows no program {self._name}", cause="process_missing")
            raise ProcessError(f"supervisor refuses to tell about {self._name}: {fault.faultString}") from fault
        except (OSError, http.client.HTTPException, xmlrpc.client.Error) as error:
            raise ProcessError(f"supervisor does not answer at {self._socket}: {error}") from error
        death = interpret(self._name, info)
        how, killed_by = self.previous_end() if death else ("", None)
        return Status(
            pid=info.get("pid") or None,
            started=info.get("start") or None,
            death=f"{death}{how}",
            killed_by=killed_by,
            # A program in back-off has a new start time each time.
            generation=str(info.get("start") or ""),
        )

    def previous_end(self) -> tuple[str, int | None]:
        """Supervisor says -1 of every signal; which one stands only in its own log."""
        try:
            log = str(self._supervisor.readLog(-_LOG_BYTES, 0))
        except (OSError, http.client.HTTPException, xmlrpc.client.Error):
            return "", None
        found = re.findall(rf"exited: {re.escape(self._name)} \((?:terminated by (SIG\w+)|exit status (-?\d+))", log)
        if not found:
            return "", None
        name, status = found[-1]
        if name and name in signal.Signals.__members__:
            number = int(signal.Signals[name])
            return f", its process {ended(number, 0)}", number
        return f", its process {ended(0, int(status or -1))}", None


def interpret(name: str, info: dict[str, t.Any]) -> str:
    """The words for a death; empty while supervisor starts or runs it."""
    state = info.get("statename", "")
    if state in ("STARTING", "RUNNING"):
        return ""
    spawn_error = f": {info['spawnerr']}" if info.get("spawnerr") else ""
    if state == "BACKOFF":
        return f"{name} is being restarted over and over{spawn_error}"
    if state == "FATAL":
        return f"supervisor has given up on {name}{spawn_error}"
    return f"{name} is {state.lower()}"


def socket_of(configuration: str) -> str:
    """The socket that supervisor's configuration names."""
    parser = configparser.RawConfigParser(inline_comment_prefixes=(";",))
    try:
        with open(configuration, encoding="utf-8") as handle:
            parser.read_file(handle)
        path = parser.get("unix_http_server", "file")
    except (OSError, configparser.Error) as error:
        raise ProcessError(f"{configuration} names no socket ([unix_http_server] file=): {error}") from error
    return path.replace("%(here)s", str(Path(configuration).resolve().parent))

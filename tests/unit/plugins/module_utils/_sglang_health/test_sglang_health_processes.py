# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What systemd, supervisor, pid files, /proc and the kernel say, read rightly."""

from __future__ import annotations

import os
import signal
import socket
import socketserver
import subprocess
import sys
import threading
import time
import typing as t
import xmlrpc.server
from pathlib import Path

import pytest
from ansible_collections.inferops.blackwell.plugins.module_utils._sglang_health import kernel, proc, supervisor, systemd
from ansible_collections.inferops.blackwell.plugins.module_utils._sglang_health.process import PidFile, ProcessError
from ansible_collections.inferops.blackwell.plugins.module_utils._sglang_health.run import log_of, process_of

UNIT = {
    "LoadState": "loaded",
    "ActiveState": "active",
    "SubState": "running",
    "Result": "success",
    "MainPID": "4711",
    "ExecMainPID": "4711",
    "ExecMainCode": "0",
    "ExecMainStatus": "0",
    "ExecMainStartTimestampMonotonic": "1000000",
    "NRestarts": "0",
    "ControlGroup": "/system.slice/sglang@main.service",
}


@pytest.mark.parametrize(
    ("change", "death"),
    [
        ({}, ""),
        ({"ActiveState": "activating", "SubState": "start-pre", "MainPID": "0"}, ""),
        (
            {"ActiveState": "activating", "SubState": "auto-restart", "ExecMainCode": "1", "ExecMainStatus": "2"},
            "unit u is being restarted over and over, its process ended with exit status 2",
        ),
        (
            {"ActiveState": "failed", "Result": "signal", "ExecMainCode": "2", "ExecMainStatus": "9"},
            "unit u has failed (signal), its process was killed by signal 9 (SIGKILL)",
        ),
        ({"ActiveState": "inactive"}, "unit u is inactive"),
        ({"LoadState": "not-found"}, "unit u cannot be used: systemd says not-found"),
    ],
)
def test_a_unit_lives_or_not(change: dict[str, str], death: str) -> None:
    assert systemd.interpret("u", {**UNIT, **change}).death == death


def test_a_unit_tells_pid_signal_memory_and_restarts() -> None:
    alive = systemd.interpret("u", UNIT)
    assert (alive.pid, alive.generation, alive.control_group) == (4711, "0", "/system.slice/sglang@main.service")
    dead = systemd.interpret(
        "u", {**UNIT, "ActiveState": "failed", "Result": "oom-kill", "ExecMainCode": "2", "ExecMainStatus": "9"}
    )
    assert dead.ended_for_memory
    assert dead.killed_by == signal.SIGKILL


@pytest.mark.parametrize(
    ("line", "end"),
    [
        ("u: Main process exited, code=killed, status=9/KILL", (", its process was killed by signal 9 (SIGKILL)", 9)),
        (
            "u: Main process exited, code=exited, status=2/INVALIDARGUMENT",
            (", its process ended with exit status 2", None),
        ),
        ("u: Started.", ("", None)),
    ],
)
def test_the_journal_tells_how_the_process_before_ended(line: str, end: tuple[str, int | None]) -> None:
    earlier = "u: Main process exited, code=exited, status=1/FAILURE\n" if end[0] else ""
    assert systemd.exit_in_journal(f"{earlier}{line}\nu: Scheduled restart job, restart counter is at 1.\n") == end


@pytest.mark.parametrize(
    ("state", "death"),
    [
        ("STARTING", ""),
        ("RUNNING", ""),
        ("BACKOFF", "p is being restarted over and over: no such command"),
        ("FATAL", "supervisor has given up on p: no such command"),
        ("EXITED", "p is exited"),
        ("STOPPED", "p is stopped"),
    ],
)
def test_a_program_under_supervisor_lives_or_not(state: str, death: str) -> None:
    assert supervisor.interpret("p", {"statename": state, "spawnerr": "no such command"}) == death


class _UnixServer(socketserver.UnixStreamServer, xmlrpc.server.SimpleXMLRPCDispatcher):
    logRequests = False  # noqa: N815 - the base class reads it

    def __init__(self, path: str) -> None:
        xmlrpc.server.SimpleXMLRPCDispatcher.__init__(self, allow_none=True, encoding="utf-8")
        socketserver.UnixStreamServer.__init__(self, path, _Handler)


class _Handler(xmlrpc.server.SimpleXMLRPCRequestHandler):
    disable_nagle_algorithm = False  # no TCP here

    def address_string(self) -> str:
        return "unix"

    def log_message(self, *unused: t.Any) -> None:
        pass


@pytest.fixture
def supervisor_socket(tmp_path: Path) -> t.Iterator[str]:
    path = str(tmp_path / "s.sock")
    server = _UnixServer(path)

    def info(name: str) -> dict[str, t.Any]:
        if name != "sglang-main":
            raise xmlrpc.client.Fault(10, f"BAD_NAME: {name}")
        return {"statename": "BACKOFF", "pid": 0, "start": 1_780_000_000, "spawnerr": "Exited too quickly"}

    server.register_function(info, "supervisor.getProcessInfo")
    server.register_function(
        lambda offset, length: "INFO exited: other (exit status 1)\nINFO exited: sglang-main (terminated by SIGKILL)\n",
        "supervisor.readLog",
    )
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield path
    server.shutdown()
    server.server_close()


def test_supervisor_is_asked_through_its_socket(supervisor_socket: str) -> None:
    status = supervisor.Program("sglang-main", supervisor_socket).look()
    assert "restarted over and over: Exited too quickly" in status.death
    assert status.killed_by == signal.SIGKILL
    assert supervisor.Program("other-name", supervisor_socket).look().cause == "process_missing"


def test_a_supervisor_that_is_not_there_is_an_error_that_names_the_socket(tmp_path: Path) -> None:
    with pytest.raises(ProcessError, match="no.sock"):
        supervisor.Program("sglang-main", str(tmp_path / "no.sock")).look()


def test_the_socket_is_found_in_supervisors_configuration(tmp_path: Path) -> None:
    configuration = tmp_path / "supervisord.conf"
    configuration.write_text("[unix_http_server]\nfile=%(here)s/x.sock ; a comment\n[program:p]\ncommand=%(here)s/p\n")
    assert supervisor.socket_of(str(configuration)) == f"{tmp_path.resolve()}/x.sock"
    with pytest.raises(ProcessError, match="names no socket"):
        supervisor.socket_of(str(tmp_path / "none.conf"))


@pytest.fixture
def sleeper() -> t.Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    yield process
    process.kill()
    process.wait()


def test_a_pid_file_follows_its_process_to_the_end(tmp_path: Path, sleeper: subprocess.Popen[bytes]) -> None:
    pid_file = tmp_path / "pid"
    pid_file.write_text(f"{sleeper.pid}\n")
    alive = PidFile(str(pid_file)).look()
    assert not alive.death
    assert alive.started is not None
    assert abs(alive.started - time.time()) < 60
    sleeper.kill()
    while (found := proc.stat(sleeper.pid)) and found.alive:
        time.sleep(0.01)
    assert str(sleeper.pid) in PidFile(str(pid_file)).look().death
    sleeper.wait()
    assert "does not exist any more" in PidFile(str(pid_file)).look().death


def test_a_pid_file_may_come_late_but_not_never(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    process = PidFile(str(tmp_path / "pid"))
    assert not process.look().death
    monkeypatch.setattr(PidFile, "GRACE_SECONDS", 0.0)
    assert process.look().cause == "process_missing"


def test_the_patience_with_a_pid_file_does_not_begin_anew_with_each_slice(tmp_path: Path) -> None:
    began = time.monotonic() - PidFile.GRACE_SECONDS - 1
    assert process_of({"pid_file": str(tmp_path / "pid")}, began).look().cause == "process_missing"


def test_a_pid_file_with_something_else_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "pid").write_text("soon\n")
    with pytest.raises(ProcessError, match="holds no process id"):
        PidFile(str(tmp_path / "pid")).look()


def test_the_owner_of_a_port_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        found = proc.listener("127.0.0.1", server.getsockname()[1])
        assert found is not None
        assert found.pid == os.getpid()
        assert str(os.getpid()) in found.text
        assert found.address == "127.0.0.1"
        port = server.getsockname()[1]
    assert proc.listener("127.0.0.1", port) is None


def test_without_the_right_to_look_the_account_is_named(tmp_path: Path) -> None:
    net = tmp_path / "net"
    net.mkdir()
    (net / "tcp").write_text("  sl  local_address ...\n   0: 00000000:7530 00000000:0000 0A 0:0 0:0 0 0 0 4711 1\n")
    found = proc.listener("127.0.0.1", 30000, proc=tmp_path)
    assert found is not None
    assert found.pid is None
    assert found.address == "0.0.0.0"  # noqa: S104
    assert "account root" in found.text


def test_the_exact_address_goes_before_a_wildcard(tmp_path: Path) -> None:
    net = tmp_path / "net"
    net.mkdir()
    line = "   0: {}:7530 00000000:0000 0A 0:0 0:0 0 {} 0 4711 1\n"
    # The kernel prints 127.0.0.1 in the machine's byte order.
    loopback = f"{int.from_bytes(socket.inet_aton('127.0.0.1'), sys.byteorder):08X}"
    (net / "tcp").write_text("head\n" + line.format("00000000", 0) + line.format(loopback, 65534))
    found = proc.listener("127.0.0.1", 30000, proc=tmp_path)
    assert found is not None
    assert found.address == "127.0.0.1"


def test_children_of_children_are_found(sleeper: subprocess.Popen[bytes]) -> None:
    assert sleeper.pid in {child.pid for child in proc.descendants(os.getpid())}
    assert proc.descendants(sleeper.pid) == []


def test_only_the_first_words_of_a_command_are_shown(tmp_path: Path) -> None:
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "cmdline").write_bytes(b"python\0-m\0sglang.launch_server\0--api-key\0geheim\0")
    assert proc.command(7, tmp_path) == "python -m sglang.launch_server"


def test_a_process_of_the_units_group_is_known_by_the_whole_name(tmp_path: Path) -> None:
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "cgroup").write_text("0::/system.slice/sglang@main.service/inner\n")
    assert proc.in_cgroup(7, "/system.slice/sglang@main.service", tmp_path)
    assert not proc.in_cgroup(7, "/system.slice/sglang@main", tmp_path)


def test_the_kernels_words_are_sorted_out_by_time() -> None:
    words = kernel.sort_out(
        [
            (10.0, "Out of memory: Killed process 1 (python) total-vm:1kB"),
            (99.0, "Out of memory: Killed process 4711 (python3) total-vm:9kB"),
            (99.5, "NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus."),
            (99.6, "usb 1-1: new device"),
        ],
        since_boot=50.0,
    )
    assert list(words.killed) == [4711]
    assert len(words.xid) == 1


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (None, "the server"),
        ("sglang@main.service", "unit sglang@main.service"),
        ("sglang@main", "unit sglang@main.service"),
        ({"unit": "sglang@main.service"}, "unit sglang@main.service"),
        ("/run/sglang.pid", "the process of /run/sglang.pid"),
        ({"pid_file": "/run/sglang.pid"}, "the process of /run/sglang.pid"),
        ({"supervisor": "sglang-main", "supervisor_socket": "/s"}, "supervisor's program sglang-main"),
    ],
)
def test_the_option_process_has_these_shapes(given: t.Any, named: str) -> None:
    assert process_of(given).describe() == named


@pytest.mark.parametrize(
    "given", [{"unit": "a", "pid_file": "/b"}, {"service": "a"}, {"supervisor": "a"}, {"unit": ""}, ["a"]]
)
def test_other_shapes_of_process_are_refused(given: t.Any) -> None:
    with pytest.raises(ValueError, match="process"):
        process_of(given)


def test_the_option_log_is_a_path_or_a_unit() -> None:
    assert log_of("/var/log/s.log", 0).describe() == "/var/log/s.log"
    assert log_of("sglang@main.service", None).describe() == "journalctl -u sglang@main.service"

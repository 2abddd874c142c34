# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import getpass
import os
import shutil
import socketserver
import subprocess
import sys
import tempfile
import threading
import xmlrpc.client
from collections.abc import Iterator
from pathlib import Path
from xmlrpc.server import SimpleXMLRPCDispatcher, SimpleXMLRPCRequestHandler

import pytest
from ansible_collections.inferops.blackwell.plugins.module_utils import _server_process
from ansible_collections.inferops.blackwell.plugins.module_utils._server_process import (
    process_state,
    server_state,
    supervisor_state,
    systemd_state,
)


class Handler(SimpleXMLRPCRequestHandler):
    disable_nagle_algorithm = False  # there is none on a Unix socket

    def address_string(self) -> str:
        return "socket"

    def log_message(self, *args: object) -> None:
        pass


class Supervisord(socketserver.UnixStreamServer, SimpleXMLRPCDispatcher):
    """Answers as supervisord does for one program."""

    logRequests = False  # noqa: N815 - the handler reads this name

    def __init__(self, path: Path, program: str, state: str, pid: int) -> None:
        SimpleXMLRPCDispatcher.__init__(self, allow_none=True, encoding=None)
        socketserver.UnixStreamServer.__init__(self, str(path), Handler)

        def info(name: str) -> dict[str, object]:
            if name != program:
                raise xmlrpc.client.Fault(10, f"BAD_NAME: {name}")
            return {"name": name, "statename": state, "pid": pid}

        self.register_function(info, "supervisor.getProcessInfo")


@pytest.fixture
def directory() -> Iterator[Path]:
    """Short: the path of a socket holds about a hundred characters."""
    path = Path(tempfile.mkdtemp(prefix="s"))
    yield path
    shutil.rmtree(path)


@pytest.fixture
def supervisord(directory: Path) -> Iterator[Path]:
    path = directory / "s"
    with Supervisord(path, "sglang-main", "RUNNING", os.getpid()) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield path
        server.shutdown()
        thread.join()


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    argv = [sys.executable, "-c", "print(flush=True); input()", "--speculative-disable-batch-threshold", "8"]
    environment = {"INFEROPS_LAUNCH": "abc=1", "OTHER": "x"}
    with subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, **environment}
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process
        process.kill()


def test_supervisor_says_its_word_and_the_process(supervisord: Path) -> None:
    assert supervisor_state(str(supervisord), "sglang-main") == {"manager": "running", "pid": os.getpid()}


def test_a_program_that_supervisor_does_not_know_is_unknown(supervisord: Path) -> None:
    assert supervisor_state(str(supervisord), "sglang-other") == {"manager": "unknown", "pid": 0}


def test_a_supervisor_that_does_not_answer_is_down(directory: Path) -> None:
    assert supervisor_state(str(directory / "none"), "sglang-main") == {"manager": "down", "pid": 0}
    stale = directory / "stale"
    socketserver.UnixStreamServer(str(stale), Handler).server_close()
    assert stale.exists()
    assert supervisor_state(str(stale), "sglang-main") == {"manager": "down", "pid": 0}


def test_a_running_process_shows_how_it_was_started(child: subprocess.Popen[bytes]) -> None:
    state = process_state(child.pid)
    assert state["running"] is True
    assert state["pid"] == child.pid
    assert state["arguments"][-2:] == ["--speculative-disable-batch-threshold", "8"]
    assert state["launch"] == "abc=1"
    assert state["user"] == getpass.getuser()
    assert state["executable"] == os.path.realpath(sys.executable)


def test_a_process_that_is_gone_does_not_run(child: subprocess.Popen[bytes]) -> None:
    child.kill()
    child.wait()
    assert process_state(child.pid) == process_state(0)
    assert process_state(0)["running"] is False


def test_a_zombie_does_not_run(tmp_path: Path) -> None:
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "cmdline").write_bytes(b"")
    assert process_state(7, tmp_path)["running"] is False


def test_an_environment_that_may_not_be_read_leaves_the_launch_unknown(tmp_path: Path) -> None:
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "cmdline").write_bytes(b"python\0-m\0sglang.launch_server\0")
    state = process_state(7, tmp_path)
    assert (state["running"], state["launch"]) == (True, "")


@pytest.mark.parametrize(
    ("answer", "status", "state"),
    [
        ("LoadState=loaded\nActiveState=active\nMainPID=42\n", 0, {"manager": "active", "pid": 42}),
        ("LoadState=loaded\nActiveState=failed\nMainPID=0\n", 0, {"manager": "failed", "pid": 0}),
        ("LoadState=not-found\nActiveState=inactive\nMainPID=0\n", 0, {"manager": "unknown", "pid": 0}),
        ("", 1, {"manager": "down", "pid": 0}),
        ("", 0, {"manager": "down", "pid": 0}),
    ],
)
def test_systemd_says_its_word_and_the_process(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, answer: str, status: int, state: dict[str, object]
) -> None:
    program = tmp_path / "systemctl"
    program.write_text(f"#!/bin/sh\nprintf '%s' '{answer}'\nexit {status}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert systemd_state("sglang@main.service") == state


def test_without_systemctl_systemd_is_down(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert systemd_state("sglang@main.service") == {"manager": "down", "pid": 0}


def test_a_server_that_its_manager_lost_is_found(child: subprocess.Popen[bytes], directory: Path) -> None:
    (directory / "pid").write_text(f"{child.pid}\n")
    state = server_state(None, str(directory / "none"), "sglang-main", str(directory / "pid"))
    assert (state["manager"], state["running"], state["orphan"]) == ("down", False, child.pid)


@pytest.mark.parametrize("noted", ["{own_pid}", "0", "", "no number", None])
def test_no_other_process_is_taken_for_one(directory: Path, noted: str | None) -> None:
    if noted is not None:
        (directory / "pid").write_text(noted.format(own_pid=os.getpid()))
    assert server_state(None, str(directory / "none"), "sglang-main", str(directory / "pid"))["orphan"] == 0


def test_beside_a_server_that_its_manager_knows_there_is_no_orphan(
    supervisord: Path, child: subprocess.Popen[bytes], directory: Path
) -> None:
    (directory / "pid").write_text(str(child.pid))
    assert server_state(None, str(supervisord), "sglang-main", str(directory / "pid"))["orphan"] == 0


def test_manager_and_process_are_told_together(supervisord: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state = server_state(None, str(supervisord), "sglang-main")
    assert (state["manager"], state["running"], state["pid"]) == ("running", True, os.getpid())
    monkeypatch.setattr(_server_process, "systemd_state", lambda unit: {"manager": "failed", "pid": 0})
    assert server_state("sglang@main.service", None, None)["manager"] == "failed"

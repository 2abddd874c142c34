# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role on this machine, under a real supervisor, with a package that has SGLang's name and answers like it.

Releases are made by hand as role sglang leaves them; the patch is made by python_patch.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.inferops.blackwell.plugins.module_utils import _source_manifest

ROOT = Path(__file__).resolve().parents[4]
BIN = Path(sys.executable).parent

FLAG = "--speculative-disable-batch-threshold"

SERVER_ARGS = """\
import argparse


class ServerArgs:
    speculative_accept: float = 1.0

    @staticmethod
    def add_cli_args(parser):
        for name in ("model-path", "host", "port", "device", "dtype", "config"):
            parser.add_argument("--" + name)
        for name in ("attention-backend", "sampling-backend", "mem-fraction-static", "max-total-tokens"):
            parser.add_argument("--" + name)
        parser.add_argument("--disable-overlap-schedule", action="store_true")


def parse():
    parser = argparse.ArgumentParser("launch_server.py")
    ServerArgs.add_cli_args(parser)
    return parser.parse_args()
"""

LAUNCH_SERVER = """\
import http.server
import json

from sglang.srt.server_args import parse

arguments = parse()


class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = json.dumps({"text": "hello", "meta_info": {"completion_tokens": 1}}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = answer


http.server.ThreadingHTTPServer((arguments.host, int(arguments.port)), Handler).serve_forever()
"""

RECIPE = {
    "path": "sglang/srt/server_args.py",
    "edits": [
        {
            "in": "ServerArgs",
            "after": "speculative_accept: ... = ...",
            "insert": "speculative_disable_batch_threshold: int = 0\n",
        },
        {
            "in": "ServerArgs.add_cli_args",
            "at": "end",
            "insert": 'parser.add_argument("--speculative-disable-batch-threshold", type=int)\n',
        },
    ],
}


class Played:
    def __init__(self, done: subprocess.CompletedProcess[str]) -> None:
        self.rc = done.returncode
        self.output = done.stdout + done.stderr
        # Ansible wraps long messages; one line is easier to look into.
        self.text = re.sub(r"\s+", " ", self.output)

    @property
    def changed(self) -> int:
        return int(re.findall(r"changed=(\d+)", self.output)[-1])


class Host:
    """A prefix with releases, and the plays on it."""

    def __init__(self, prefix: Path, port: int) -> None:
        self.prefix = prefix
        self.port = port

    # ---- releases ------------------------------------------------------------------------------
    def release(self, name: str, built_at: str, server: str = LAUNCH_SERVER) -> Path:
        directory = self.prefix / "releases" / name
        package = directory / "src" / "sglang"
        (package / "srt").mkdir(parents=True)
        (package / "__init__.py").touch()
        (package / "launch_server.py").write_text(server)
        (package / "srt" / "__init__.py").touch()
        (package / "srt" / "server_args.py").write_text(SERVER_ARGS)
        (package / "srt" / "other.py").write_text("value = 1\n")
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", directory / "venv"], check=True)
        (packages,) = (directory / "venv" / "lib").glob("python*/site-packages")
        (packages / "tree.pth").write_text(f"{directory / 'src'}\n")
        content = {
            "id": name,
            "version": "0.5.9",
            "method": "sdist",
            "directory": str(directory),
            "root": str(directory / "src"),
            "python": str(directory / "venv" / "bin" / "python"),
            "built_at": built_at,
        }
        manifest = _source_manifest.build(directory / "src", "sglang", directory / "source.tar.gz")
        _source_manifest.save(manifest, directory / "source-manifest.json")
        (directory / "release.json").write_text(json.dumps(content))
        return directory

    # ---- plays ---------------------------------------------------------------------------------
    def play(self, tasks: list[dict[str, Any]], *options: str, **variables: object) -> Played:
        playbook = self.prefix.parent / "play.yml"
        playbook.write_text(yaml.safe_dump([{"hosts": "all", "gather_facts": False, "tasks": tasks}]))
        return self._run([str(playbook), *options], variables)

    def deploy(self, name: str, *options: str, patched: bool = True, **variables: object) -> Played:
        """What roles sglang and threshold_patch hand on, and then the role itself."""
        release = json.loads((self.prefix / "releases" / name / "release.json").read_text())
        result = {
            "status": "applied" if patched else "pristine",
            "arguments": {"speculative-disable-batch-threshold": 8} if patched else {},
            "lines": {"sglang/srt/server_args.py": [6, 15]} if patched else {},
            "digest": "abc" if patched else "",
        }
        facts = {
            "sglang_release": release,
            "threshold_patch_result": result,
            "cuda_result": {"method": "none", "home": "", "libcuda_directory": ""},
            "model_path": "/no/such/model",
        }
        patch = {
            "name": "batch-threshold",
            "root": release["root"],
            "store": str(self.prefix / "patches"),
            "state": "present" if patched else "absent",
        }
        if patched:
            patch["files"] = [RECIPE]
        tasks = [
            {"ansible.builtin.set_fact": facts},
            {"inferops.blackwell.python_patch": patch},
            {"ansible.builtin.import_role": {"name": "inferops.blackwell.server"}},
        ]
        self._state(sglang=release, threshold_patch=result, cuda=facts["cuda_result"], model={"path": "/no/such/model"})
        return self.play(tasks, *options, **variables)

    def rollback(self, to: str = "", *options: str, **variables: object) -> Played:
        chosen = {"rollback_to": to} if to else {}
        return self._run([str(ROOT / "playbooks" / "rollback.yml"), *options], {**chosen, **variables})

    def verify(self) -> Played:
        return self._run([str(ROOT / "playbooks" / "verify.yml")], {})

    def clean(self, **variables: object) -> Played:
        return self._run([str(ROOT / "playbooks" / "clean_quickstart.yml")], variables)

    def _state(self, **contents: object) -> None:
        (self.prefix / "state").mkdir(exist_ok=True)
        for name, content in contents.items():
            (self.prefix / "state" / f"{name}.json").write_text(json.dumps(content))

    def _run(self, words: list[str], variables: dict[str, object]) -> Played:
        base = {
            "ansible_connection": "local",
            "ansible_python_interpreter": sys.executable,
            "inferops_become": False,
            "sglang_prefix": str(self.prefix),
            "sglang_user": subprocess.check_output(["id", "-un"], text=True).strip(),
            "sglang_device": "cpu",
            "sglang_uv": str(BIN / "uv"),
            "server_manager": "supervisor",
            "server_port": self.port,
            "server_timeout_seconds": 60,
        }
        environment = {**os.environ, "ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".venv" / "collections")}
        configuration = self.prefix.parent / "ansible.cfg"
        configuration.touch()
        environment.update(ANSIBLE_CONFIG=str(configuration), ANSIBLE_LOCALHOST_WARNING="false", ANSIBLE_NOCOLOR="1")
        argv = [str(BIN / "ansible-playbook"), "-i", "localhost,", "-e", json.dumps({**base, **variables}), *words]
        return Played(subprocess.run(argv, cwd=self.prefix.parent, env=environment, capture_output=True, text=True))

    # ---- what is there -------------------------------------------------------------------------
    @property
    def current(self) -> str:
        link = self.prefix / "current"
        return link.resolve().name if link.exists() else ""

    def state(self) -> dict[str, Any]:
        return dict(json.loads((self.prefix / "state" / "server.json").read_text()))

    def command_line(self) -> list[str]:
        """Of the process that holds the port, by the note of its launch file."""
        pid = (self.prefix / "cache" / "run" / "main.pid").read_text().strip()
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")

    def threshold(self) -> str:
        """What the flag on that command line says, empty without the flag."""
        words = self.command_line()
        return words[words.index(FLAG) + 1] if FLAG in words else ""

    def kill_supervisord(self) -> None:
        os.kill(int((self.prefix / "supervisor" / "supervisord.pid").read_text()), 9)

    def stop(self) -> None:
        """Without a play: there is one for this, which has tests of its own."""
        for note in ("supervisor/supervisord.pid", "cache/run/main.pid"):
            with contextlib.suppress(OSError, ValueError):
                pid = int((self.prefix / note).read_text())
                os.kill(pid, signal.SIGTERM)
                wait_until(lambda pid=pid: not Path(f"/proc/{pid}/cmdline").exists())

    def wait_silent(self) -> None:
        wait_until(lambda: not self.answers())

    def answers(self) -> bool:
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", self.port)) == 0


def wait_until(holds: Callable[[], bool]) -> None:
    for _ in range(600):
        if holds():
            return
        time.sleep(0.1)
    raise AssertionError("waited for a minute in vain")


@pytest.fixture
def host() -> Iterator[Host]:
    top = Path(tempfile.mkdtemp(prefix="inferops-"))
    prefix = top / "prefix"
    prefix.mkdir()
    (prefix / ".inferops-quickstart").touch()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    made = Host(prefix, port)
    yield made
    made.stop()
    shutil.rmtree(top)

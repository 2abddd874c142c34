# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`make site` in a checkout that has nothing yet, a second time, and `make clean-quickstart`.

The tests stand in the order in which a newcomer goes; each builds on the run before.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "bed"))

import bed  # noqa: E402

SILENT_SECONDS = 60


@dataclasses.dataclass
class Run:
    status: int
    output: str
    longest_silence: float


@dataclasses.dataclass
class Checkout:
    path: Path
    port: int

    def make(self, target: str) -> Run:
        """Run a target; its output goes through, so that whoever watches the tests sees where they are."""
        # The port of the quickstart may be taken by one that is in use.
        argv = ["make", "--no-print-directory", target, f"ARGS=--extra-vars=server_port={self.port}"]
        environment = {key: value for key, value in os.environ.items() if not key.startswith("ANSIBLE_")}
        # A newcomer has no environment of ours, least of all on the search path.
        search = [entry for entry in os.get_exec_path() if not Path(entry).is_relative_to(ROOT)]
        environment["PATH"] = os.pathsep.join(search)
        lines: list[str] = []
        silence, heard = 0.0, time.monotonic()
        with subprocess.Popen(
            argv,
            cwd=self.path,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                silence, heard = max(silence, time.monotonic() - heard), time.monotonic()
                print(line, end="", flush=True)
                lines.append(line)
        return Run(process.returncode, "".join(lines), silence)

    @property
    def summary(self) -> dict:
        return dict(json.loads((self.path / ".quickstart" / "summary.json").read_text()))

    @property
    def pid(self) -> int:
        return int(json.loads((self.path / ".quickstart" / "state" / "server.json").read_text())["pid"])

    def ask(self, path: str, **body: object) -> dict:
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}")
        if body:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=60) as answer:
            return dict(json.load(answer))


@pytest.fixture(scope="module")
def checkout() -> Iterator[Checkout]:
    """What git would give a newcomer, plus what is not committed yet; beside the cache, so that hard links work."""
    # On the file system of uv's cache, and under a name that is not the collection's.
    path = Path(tempfile.mkdtemp(prefix="some-name-", dir=bed.cache("quickstart")))
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    files = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True)
    for name in files.stdout.decode().split("\0"):
        source, target = ROOT / name, path / name
        if name and (source.is_symlink() or source.is_file()):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target, follow_symlinks=False)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    made = Checkout(path, port)
    yield made
    if (path / ".quickstart").exists():
        made.make("clean-quickstart")
    shutil.rmtree(path)


@pytest.fixture(scope="module")
def first(checkout: Checkout) -> Run:
    return checkout.make("site")


@pytest.fixture(scope="module")
def pid_after_first(checkout: Checkout, first: Run) -> int:
    return checkout.pid


@pytest.fixture(scope="module")
def second(checkout: Checkout, pid_after_first: int) -> Run:
    return checkout.make("site")


def recap(run: Run) -> dict[str, int]:
    line = run.output.split("PLAY RECAP")[-1]
    return {name: int(count) for name, count in re.findall(r"(\w+)=(\d+)", line)}


def test_site_succeeds_from_nothing_and_ends_with_the_recap(first):
    assert first.status == 0
    assert recap(first)["failed"] == recap(first)["unreachable"] == 0


def test_no_minute_of_it_is_silent(first):
    assert first.longest_silence < SILENT_SECONDS


def test_the_summary_has_what_the_contract_names(checkout, first):
    summary = checkout.summary
    assert (summary["device"], summary["sglang_version"], summary["patch_status"]) == ("cpu", "0.5.9", "applied")
    assert summary["host"]
    assert {476, 3985, 3987} <= set(summary["patch_lines"]["sglang/srt/server_args.py"])
    assert "12.0" in json.dumps(summary["cuda"])
    assert summary["url"] == f"http://127.0.0.1:{checkout.port}"
    assert summary["seconds_to_healthy"] > 0
    assert (Path(summary["root"]) / "sglang" / "srt" / "server_args.py").is_file()


def test_people_see_the_same_before_the_recap(checkout, first):
    shown = first.output.split("PLAY RECAP")[0]
    # 476 is the field; 3985 and 3987, which the patch is known by, lie in the range of the flag's lines.
    for figure in ("0.5.9", "applied", "476, 3984-3989", "12.0", checkout.summary["url"]):
        assert figure in shown


def test_the_server_answers_with_the_threshold_on_its_command_line(checkout, first):
    parameters = {"max_new_tokens": 4, "temperature": 0, "ignore_eos": True}
    answer = checkout.ask("/generate", text="Hello", sampling_params=parameters)
    assert answer["meta_info"]["completion_tokens"] == 4
    assert checkout.ask("/get_server_info")["speculative_disable_batch_threshold"] == 8


def test_a_second_run_changes_nothing_and_says_so(second):
    assert second.status == 0
    assert recap(second)["changed"] == 0
    assert "changed nothing" in second.output


def test_the_second_run_leaves_the_server_process_alone(checkout, pid_after_first, second):
    assert checkout.pid == pid_after_first
    assert Path(f"/proc/{pid_after_first}").exists()


def test_clean_quickstart_stops_the_server_and_leaves_the_environment(checkout, first):
    assert checkout.make("clean-quickstart").status == 0
    assert not (checkout.path / ".quickstart").exists()
    assert (checkout.path / ".venv" / "bin" / "ansible-playbook").is_file()
    with pytest.raises(urllib.error.URLError):
        checkout.ask("/health")

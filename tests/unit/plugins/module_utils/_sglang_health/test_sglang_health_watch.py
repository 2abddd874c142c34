# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The whole waiting, against a small server that plays SGLang and processes that really live and die."""

from __future__ import annotations

import http.server
import json
import socket
import subprocess
import sys
import threading
import time
import typing as t
from pathlib import Path

import pytest
from ansible_collections.inferops.blackwell.plugins.module_utils._sglang_health import probe as probe_module
from ansible_collections.inferops.blackwell.plugins.module_utils._sglang_health import verdict, watch
from ansible_collections.inferops.blackwell.plugins.module_utils._sglang_health.client import Client
from ansible_collections.inferops.blackwell.plugins.module_utils._sglang_health.log import FileLog, Text
from ansible_collections.inferops.blackwell.plugins.module_utils._sglang_health.probe import Probe, Question
from ansible_collections.inferops.blackwell.plugins.module_utils._sglang_health.process import Status

HERE = Path(__file__).parent
GENERATED = {"text": " Paris", "output_ids": [5], "meta_info": {"completion_tokens": 1}}


class FakeSGLang:
    """Answers what `health`, `generate` and `facts` say, and remembers what it was asked."""

    def __init__(self) -> None:
        self.health: list[int] = []
        self.generate: tuple[int, t.Any] = (200, GENERATED)
        self.facts: dict[str, tuple[int, t.Any]] = {
            "/model_info": (404, {}),
            "/get_model_info": (200, {"model_path": "/data/models/tiny", "is_generation": True}),
            "/server_info": (200, {"version": "0.5.9"}),
        }
        self.asked: list[tuple[str, t.Any, str | None]] = []
        fake = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                fake.asked.append((self.path, None, self.headers.get("Authorization")))
                if self.path == "/health":
                    status = fake.health.pop(0) if len(fake.health) > 1 else (fake.health or [200])[0]
                    self.answer(status, "")
                else:
                    self.answer(*fake.facts.get(self.path, (404, "")))

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                fake.asked.append((self.path, body, self.headers.get("Authorization")))
                self.answer(*fake.generate)

            def answer(self, status: int, body: t.Any) -> None:
                self.send_response(status)
                self.end_headers()
                self.wfile.write(json.dumps(body).encode() if body != "" else b"")

            def log_message(self, *unused: t.Any) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def count(self, path: str) -> int:
        return sum(1 for asked in self.asked if asked[0] == path)


class FakeProcess:
    """Says one status after the other; the last one stays."""

    def __init__(self, *statuses: Status, previous: tuple[str, int | None] = ("", None)) -> None:
        self.statuses = list(statuses) or [Status()]
        self.previous = previous

    def previous_end(self) -> tuple[str, int | None]:
        return self.previous

    def look(self) -> Status:
        return self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]

    def describe(self) -> str:
        return "unit sglang@main.service"


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "_LOOK_SECONDS", 0.01)
    monkeypatch.setattr(watch, "_SETTLE_SECONDS", 0.05)
    monkeypatch.setattr(watch, "_FOREIGN_SECONDS", 0.05)
    monkeypatch.setattr(probe_module, "_PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(probe_module, "_PAUSE_WHILE_STARTING_SECONDS", 0.01)


@pytest.fixture
def sglang() -> t.Iterator[FakeSGLang]:
    fake = FakeSGLang()
    yield fake
    fake.server.shutdown()
    fake.server.server_close()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "server.log"
    path.write_text("")
    return path


@pytest.fixture
def start() -> t.Iterator[t.Callable[[str], subprocess.Popen[bytes]]]:
    """Start a Python process of our own, and end it in the end."""
    started: list[subprocess.Popen[bytes]] = []

    def run(code: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.communicate()


def closed_url() -> str:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"http://127.0.0.1:{server.getsockname()[1]}"


def watcher(
    url: str,
    log: Path,
    process: t.Any = None,
    seconds: float = 20.0,
    state: dict[str, t.Any] | None = None,
    input_ids: list[int] | None = None,
    key: str | None = None,
) -> watch.Watch:
    state = state or {}
    question = Question("The capital of France is", input_ids, 8, 5.0)
    probe = Probe(Client(url, key), question, 3, state.get("probe", {}))
    return watch.Watch(url, process or FakeProcess(), FileLog(str(log), 0), probe, seconds, state)


def finding_of(watched: watch.Watch) -> t.Any:
    outcome = watched.run(None)
    assert outcome is not None
    assert outcome.finding is not None
    return outcome.finding


# ---- healthy -------------------------------------------------------------------------------


def test_a_server_is_healthy_after_three_answers_and_a_generated_one(sglang: FakeSGLang, log: Path) -> None:
    sglang.health = [503, 503, 200]
    watched = watcher(sglang.url, log)
    outcome = watched.run(None)
    assert outcome is not None
    assert outcome.finding is None
    assert sglang.count("/health") == 5
    assert sglang.count("/generate") == 1
    assert watched.probe.facts == {"version": "0.5.9", "model": "/data/models/tiny", "text": " Paris"}


def test_a_flap_starts_the_count_anew(sglang: FakeSGLang, log: Path) -> None:
    sglang.health = [200, 200, 503, 200]
    watcher(sglang.url, log).run(None)
    assert sglang.count("/health") == 6


def test_a_model_without_tokenizer_gets_token_ids(sglang: FakeSGLang, log: Path) -> None:
    sglang.generate = (200, {"output_ids": [1]})
    watcher(sglang.url, log, input_ids=[1, 2]).run(None)
    asked = next(body for path, body, _key in sglang.asked if path == "/generate")
    assert asked["input_ids"] == [1, 2]
    assert "text" not in asked


def test_the_key_goes_along(sglang: FakeSGLang, log: Path) -> None:
    watcher(sglang.url, log, key="geheim").run(None)
    assert {key for _path, _body, key in sglang.asked} == {"Bearer geheim"}


def test_an_embedding_model_is_asked_for_an_embedding(sglang: FakeSGLang, log: Path) -> None:
    sglang.facts["/get_model_info"] = (200, {"is_generation": False})
    sglang.generate = (200, {"embedding": [0.5]})
    outcome = watcher(sglang.url, log).run(None)
    assert outcome is not None
    assert outcome.finding is None
    assert sglang.count("/encode") == 1


def test_old_words_in_the_log_do_not_condemn_a_server_that_answers(sglang: FakeSGLang, log: Path) -> None:
    log.write_text("OSError: [Errno 28] No space left on device\n")
    outcome = watcher(sglang.url, log).run(None)
    assert outcome is not None
    assert outcome.finding is None


def test_slices_go_on_where_the_last_one_ended(sglang: FakeSGLang, log: Path) -> None:
    sglang.health = [503, 503, 200]
    state: dict[str, t.Any] = {}
    phases = []
    for _slice in range(1000):
        watched = watcher(sglang.url, log, state=json.loads(json.dumps(state)))
        outcome = watched.run(0.0)
        if outcome:
            break
        state = watched.state()
        phases.append(watched.phase)
    assert outcome is not None
    assert outcome.finding is None
    assert sglang.count("/health") == 5
    assert phases
    # From the first good answer on it is seen through in one slice.
    assert not any("healthy" in phase for phase in phases)


def test_a_new_phase_ends_a_slice_early(sglang: FakeSGLang, log: Path) -> None:
    """Else the play shows it late."""
    sglang.health = [503]
    log.write_text("[2026-03-02 10:00:06] Load weight begin. avail mem=93.1 GB\n")
    watched = watcher(sglang.url, log)
    assert watched.run(1000.0) is None
    assert watched.phase == "loading weights"


# ---- not healthy ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["port_taken"])
def test_a_decisive_word_in_the_log_ends_the_waiting(log: Path, name: str) -> None:
    log.write_text((HERE / "logs" / f"{name}.log").read_text())
    assert finding_of(watcher(closed_url(), log)).cause == name


@pytest.mark.parametrize("name", ["argument_unknown", "model_missing", "syntax_error"])
def test_a_death_is_explained_by_the_log(log: Path, name: str) -> None:
    log.write_text((HERE / "logs" / f"{name}.log").read_text())
    dead = Status(pid=1, death="unit sglang@main.service has failed, its process ended with exit status 1")
    finding = finding_of(watcher(closed_url(), log, FakeProcess(Status(pid=1), dead)))
    assert finding.cause == name
    assert "ended with exit status 1" in finding.evidence


def test_a_killed_process_is_seen_at_once(log: Path) -> None:
    log.write_text((HERE / "logs" / "killed_while_loading.log").read_text())
    dead = Status(pid=1, death="process 1 was killed by signal 9 (SIGKILL)", killed_by=9)
    finding = finding_of(watcher(closed_url(), log, FakeProcess(dead)))
    assert finding.cause == "process_killed"
    assert "SIGKILL" in finding.evidence


def test_a_traceback_in_passing_does_not_explain_a_kill(log: Path) -> None:
    passing = (
        "Traceback\n  File \"/opt/x.py\", line 3, in load\n    raise\nModuleNotFoundError: No module named 'extra'\n"
    )
    log.write_text(passing + "[2026-03-02 10:00:00] Load weight begin.\n" * 40)
    dead = Status(pid=1, death="process 1 was killed by signal 9 (SIGKILL)", killed_by=9)
    assert finding_of(watcher(closed_url(), log, FakeProcess(dead))).cause == "process_killed"


def test_systemds_out_of_memory_verdict_is_believed(log: Path) -> None:
    dead = Status(pid=1, death="unit u has failed (oom-kill)", killed_by=9, ended_for_memory=True)
    assert finding_of(watcher(closed_url(), log, FakeProcess(dead))).cause == "oom_killed"


def test_an_unknown_end_shows_the_last_words(log: Path) -> None:
    log.write_text("first\nthe very last words\n")
    dead = Status(pid=1, death="unit u has failed, its process ended with exit status 3")
    finding = finding_of(watcher(closed_url(), log, FakeProcess(dead)))
    assert finding.cause == "process_died"
    assert "the very last words" in finding.evidence


def test_a_restart_in_between_is_a_death(log: Path) -> None:
    process = FakeProcess(Status(pid=1, generation="0"), Status(pid=2, generation="1"))
    finding = finding_of(watcher(closed_url(), log, process))
    assert finding.cause == "process_died"
    assert "died and was started again" in finding.evidence


def test_a_restart_after_a_kill_is_called_a_kill(log: Path) -> None:
    previous = (", its process was killed by signal 9 (SIGKILL)", 9)
    process = FakeProcess(Status(pid=1, generation="0"), Status(pid=2, generation="1"), previous=previous)
    finding = finding_of(watcher(closed_url(), log, process))
    assert finding.cause == "process_killed"
    assert "signal 9" in finding.evidence


def test_a_process_that_vanished_without_a_word_was_killed(log: Path) -> None:
    log.write_text((HERE / "logs" / "killed_while_loading.log").read_text())
    gone = Status(pid=1, vanished=True, death="process 1 does not exist any more")
    assert finding_of(watcher(closed_url(), log, FakeProcess(gone))).cause == "process_killed"


def test_a_unit_that_does_not_exist_is_no_death_to_be_explained(log: Path) -> None:
    gone = Status(death="unit u cannot be used: systemd says not-found", cause="process_missing")
    assert finding_of(watcher(closed_url(), log, FakeProcess(gone))).cause == "process_missing"


def test_another_process_on_the_port_is_named(
    log: Path, sglang: FakeSGLang, start: t.Callable[[str], subprocess.Popen[bytes]]
) -> None:
    """Here this test's process is the stranger: it holds the port, and `ours` is a child that does not."""
    sglang.health = [404]
    ours = start("import os, time; os.setsid(); print(flush=True); time.sleep(60)")
    assert ours.stdout is not None
    ours.stdout.readline()
    stranger = FakeProcess(Status(pid=ours.pid, generation="0"))
    finding = finding_of(watcher(sglang.url, log, stranger))
    assert finding.cause == "port_taken"
    assert "python" in finding.evidence or "pytest" in finding.evidence


def test_something_else_at_the_url_is_named_without_a_process(log: Path, sglang: FakeSGLang) -> None:
    sglang.health = [404]
    finding = finding_of(watcher(sglang.url, log))
    assert finding.cause == "not_sglang"
    assert "HTTP 404" in finding.evidence


def test_a_dead_scheduler_is_seen_though_health_says_200(
    log: Path, sglang: FakeSGLang, start: t.Callable[[str], subprocess.Popen[bytes]]
) -> None:
    """A process that is named like SGLang's, dead and not reaped by its parent."""
    main = start(
        "import ctypes, os, sys, time\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    open('/proc/self/comm', 'w').write('sglang::schedul')\n"
        "    os.kill(os.getpid(), 9)\n"
        "time.sleep(0.2); print(flush=True); time.sleep(60)\n"
    )
    assert main.stdout is not None
    main.stdout.readline()
    finding = finding_of(watcher(sglang.url, log, FakeProcess(Status(pid=main.pid, generation="0"))))
    assert finding.cause in ("scheduler_killed", "scheduler_died")
    assert "sglang::schedul" in finding.what


@pytest.mark.parametrize(
    ("generate", "cause"),
    [
        ((401, {}), "unauthorized"),
        ((400, {"error": "no tokenizer"}), "generate_failed"),
        ((500, ""), "generate_failed"),
        ((200, {"text": "", "output_ids": []}), "generate_failed"),
    ],
)
def test_a_server_that_answers_nothing_real_is_not_healthy(
    sglang: FakeSGLang, log: Path, generate: tuple[int, t.Any], cause: str
) -> None:
    sglang.generate = generate
    finding = finding_of(watcher(sglang.url, log))
    assert finding.cause == cause
    assert str(generate[0]) in finding.evidence


# ---- the time is over ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("[2026-03-02 10:00:05] Init torch distributed begin.", "nccl_init_hang"),
        ("[2026-03-02 10:00:06] Load weight begin. avail mem=93.1 GB", "too_slow"),
        ("[2026-03-02 10:00:31] The server is fired up and ready to roll!", "not_answering"),
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 9.00 GiB", "out_of_memory_gpu"),
    ],
)
def test_the_end_of_the_time_says_where_it_was(log: Path, line: str, cause: str) -> None:
    log.write_text(f"{line}\n")
    finding = finding_of(watcher(closed_url(), log, seconds=0.1))
    assert finding.cause == cause
    assert line in finding.evidence


def test_words_of_whom_nobody_knows_end_nothing(log: Path) -> None:
    """Without an offset and a start time they may be an earlier run's."""
    log.write_text((HERE / "logs" / "port_taken.log").read_text())
    probe = Probe(Client(closed_url(), None), Question("x", None, 1, 1.0), 3, {})
    watched = watch.Watch(closed_url(), FakeProcess(), FileLog(str(log), None), probe, 0.3, {})
    finding = finding_of(watched)
    assert finding.cause == "too_slow"
    assert "Errno 98" in finding.evidence


def test_the_end_of_the_time_without_any_words_says_so() -> None:
    finding = verdict.of_timeout("starting", 30.0, None, "", Text("", True, 0), time.time())
    assert "the log is empty" in finding.evidence
    assert "starting" in finding.what

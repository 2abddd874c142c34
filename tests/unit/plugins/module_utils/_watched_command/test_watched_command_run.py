# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A watched command: what it does, what it shows, and that it never outlives its watcher."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
import time
import typing as t
from pathlib import Path

import pytest
from ansible_collections.inferops.blackwell.plugins.module_utils._watched_command import run as run_module
from ansible_collections.inferops.blackwell.plugins.module_utils._watched_command.job import Job, JobError
from ansible_collections.inferops.blackwell.plugins.module_utils._watched_command.lines import (
    lines_of,
    secrets_in,
    tail,
)
from ansible_collections.inferops.blackwell.plugins.module_utils._watched_command.run import ARGUMENTS, WatchedCommand


class Ended(Exception):  # noqa: N818 - no error
    """The module has given its result."""

    def __init__(self, result: dict[str, t.Any]) -> None:
        super().__init__(str(result))
        self.result = result


class FakeModule:
    """AnsibleModule as far as the command needs it."""

    def __init__(self, check_mode: bool = False, **params: t.Any) -> None:
        self.params = {name: spec.get("default") for name, spec in ARGUMENTS.items()} | params
        self.check_mode = check_mode
        self.no_log_values: set[str] = set()

    def exit_json(self, **result: t.Any) -> t.NoReturn:
        raise Ended(result)

    def fail_json(self, **result: t.Any) -> t.NoReturn:
        raise Ended({**result, "failed": True})


@pytest.fixture(autouse=True)
def private_tmp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    directory = tmp_path / "tmp"
    directory.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(directory))
    return directory


def run(*argv: str, **params: t.Any) -> dict[str, t.Any]:
    module: t.Any = FakeModule(argv=list(argv), **params)
    with pytest.raises(Ended) as ended:
        WatchedCommand(module).run()
    return ended.value.result


def python(code: str, **params: t.Any) -> dict[str, t.Any]:
    return run(sys.executable, "-c", code, **params)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until(true: t.Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not true():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.02)


# ---- the command ---------------------------------------------------------------------------


def test_a_command_succeeds_with_its_last_lines(private_tmp: Path) -> None:
    result = python("print('one'); print('two')")
    assert result["changed"]
    assert not result.get("failed")
    assert result["rc"] == 0
    assert result["tail"] == ["one", "two"]
    assert result["stdout"] == "one\ntwo"
    assert list(private_tmp.iterdir()) == []


def test_a_failure_names_status_last_lines_and_log(tmp_path: Path) -> None:
    log = tmp_path / "build.log"
    result = python("print('the reason'); raise SystemExit(3)", log=str(log), label="build")
    assert result["failed"]
    assert result["rc"] == 3
    for words in ("build: ", "exit status 3", "the reason", str(log)):
        assert words in result["msg"]


def test_a_temporary_log_stays_after_a_failure_and_is_private(private_tmp: Path) -> None:
    result = python("print('why'); raise SystemExit(1)")
    assert [str(path) for path in private_tmp.iterdir()] == [result["log"]]
    assert stat.S_IMODE(Path(result["log"]).stat().st_mode) == 0o600


def test_other_statuses_can_mean_success() -> None:
    assert not python("raise SystemExit(3)", success_rcs=[0, 3]).get("failed")


def test_a_signal_is_named() -> None:
    result = python("import os; os.kill(os.getpid(), 9)")
    assert result["rc"] == -9
    assert "SIGKILL" in result["msg"]


def test_a_program_that_does_not_exist_is_named() -> None:
    result = run("/no/such/program")
    assert result["failed"]
    assert "/no/such/program: No such file or directory" in result["msg"]


def test_a_missing_directory_is_named(tmp_path: Path) -> None:
    assert "chdir" in python("pass", chdir=str(tmp_path / "none"))["msg"]
    assert python("import os; print(os.getcwd())", chdir=str(tmp_path))["stdout"] == str(tmp_path)


def test_the_environment_is_the_modules_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_CACHE_DIR", "/the/cache")
    code = "import os; print(os.environ['UV_CACHE_DIR'], os.environ['PYTHONUNBUFFERED'])"
    assert python(code)["stdout"] == "/the/cache 1"


def test_the_log_keeps_what_earlier_commands_wrote_but_the_tail_does_not(tmp_path: Path) -> None:
    log = tmp_path / "build.log"
    log.write_text("earlier\n")
    result = python("print('now')", log=str(log), label="second step")
    assert result["tail"] == ["now"]
    assert log.read_text().startswith("earlier\n--- ")
    assert "second step\nnow\n" in log.read_text()


def test_creates_and_check_mode(tmp_path: Path) -> None:
    target = tmp_path / "made"
    code = f"open({str(target)!r}, 'w')"
    assert python(code, creates=str(target), check_mode=True)["changed"]
    assert not target.exists()
    assert python(code, creates=str(target))["changed"]
    assert target.exists()
    assert not python(code, creates=str(target), check_mode=True)["changed"]
    result = python("raise SystemExit(1)", creates=str(target))
    assert not result["changed"]
    assert not result.get("failed")


# ---- the end of it -------------------------------------------------------------------------


def test_a_command_that_takes_too_long_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    """The grandchild has a process group of its own."""
    pids = tmp_path / "pids"
    code = (
        "import os, subprocess, time\n"
        "child = subprocess.Popen(['sleep', '100'], process_group=0)\n"
        f"open({str(pids)!r}, 'w').write(f'{{os.getpid()}} {{child.pid}}')\n"
        "time.sleep(100)\n"
    )
    result = python(code, timeout_seconds=2)
    assert result["failed"]
    assert "timeout_seconds=2" in result["msg"]
    assert [pid for pid in map(int, pids.read_text().split()) if alive(pid)] == []


def started(code: str, **params: t.Any) -> tuple[dict[str, t.Any], int]:
    """Start only, as the action does; the job and the command's pid."""
    watched = python(code, _phase="start", _wait_seconds=0.0, **params)["watched"]
    job = Job.open(watched["job"]["directory"])
    wait_until(lambda: "pid" in job.read())
    return watched["job"], job.read()["pid"]


def test_a_command_that_nobody_watches_any_more_is_ended_and_leaves_nothing_but_a_note(tmp_path: Path) -> None:
    log = tmp_path / "build.log"
    job, pid = started("import time; time.sleep(100)", log=str(log), _unwatched_seconds=0.3)
    wait_until(lambda: not alive(pid) and not Path(job["directory"]).exists())
    assert "watches it no longer" in log.read_text()


def test_polling_keeps_it_alive_and_shows_the_newest_line(tmp_path: Path) -> None:
    code = "import sys\nfor n in range(100):\n  print('step', n)\n  sys.stdin.read()\n  __import__('time').sleep(0.1)"
    job, pid = started(code, log=str(tmp_path / "log"), _unwatched_seconds=1.0)
    for _poll in range(8):
        reply = python(code, _phase="poll", job=job, _wait_seconds=0.3)
    assert alive(pid)
    assert reply["watched"]["line"].startswith("step ")
    python(code, _phase="stop", job=job)
    assert not alive(pid)
    assert not Path(job["directory"]).exists()


def test_the_end_is_reported_by_the_poll_that_sees_it(tmp_path: Path) -> None:
    job, _pid = started("import time; time.sleep(0.3); print('done')", log=str(tmp_path / "log"))
    result = python("", _phase="poll", job=job, _wait_seconds=30.0)
    assert result["rc"] == 0
    assert result["tail"] == ["done"]


def test_a_killed_supervisor_is_not_waited_for(tmp_path: Path) -> None:
    job, pid = started("import time; time.sleep(100)", log=str(tmp_path / "log"))
    supervisor = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    os.kill(supervisor, 9)
    result = python("", _phase="poll", job=job, _wait_seconds=30.0)
    os.kill(pid, 9)
    assert result["failed"]
    assert "supervising process" in result["msg"]


# ---- in the background ---------------------------------------------------------------------


def test_a_command_in_the_background_goes_on_unwatched_and_is_waited_for_later(tmp_path: Path) -> None:
    log = str(tmp_path / "log")
    go = str(tmp_path / "go")
    code = f"import os, time\nwhile not os.path.exists({go!r}): time.sleep(0.05)\nprint('done')"
    left = python(code, log=log, background=True, _unwatched_seconds=0.1, _wait_seconds=0.0)
    assert left["job"]
    assert "rc" not in left
    # Ten times as long as a watched command would live without a watcher.
    time.sleep(1.0)
    Path(go).touch()
    result = run(job=left["job"])
    assert result["rc"] == 0
    assert result["tail"] == ["done"]
    assert not Path(left["job"]["directory"]).exists()


def test_the_end_of_a_command_in_the_background_leaves_its_result_and_no_process(tmp_path: Path) -> None:
    left = python("print('done')", log=str(tmp_path / "log"), background=True, _wait_seconds=0.0)
    job = Job.open(left["job"]["directory"])
    wait_until(lambda: bool(job.read().get("finished")) and not job.supervised())
    assert run(job=left["job"])["tail"] == ["done"]


def test_a_supervisor_that_waits_for_a_reader_ends_at_a_signal(tmp_path: Path) -> None:
    job, pid = started("import time; time.sleep(0.5)", log=str(tmp_path / "log"))
    supervisor = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    wait_until(lambda: bool(Job.open(job["directory"]).read().get("finished")))
    os.kill(supervisor, 15)
    wait_until(lambda: not alive(supervisor))


def test_a_nice_command_and_its_session_yield_to_others(tmp_path: Path) -> None:
    code = (
        "import os, pathlib; print(os.nice(0), pathlib.Path('/proc/self/autogroup').read_text().split()[-1]"
        " if os.path.exists('/proc/self/autogroup') else 7)"
    )
    assert python(code, log=str(tmp_path / "log"), nice=7)["tail"] == ["7 7"]


@pytest.mark.parametrize("nice", [-1, 20])
def test_a_niceness_that_no_system_has_is_refused(nice: int, tmp_path: Path) -> None:
    result = python("", log=str(tmp_path / "log"), nice=nice)
    assert result["failed"]
    assert result["msg"] == f"nice must be 0 to 19, not {nice}"


def test_a_failure_in_the_background_fails_the_task_that_waits(tmp_path: Path) -> None:
    code = "import time; time.sleep(0.5); print('the reason'); raise SystemExit(3)"
    left = python(code, log=str(tmp_path / "log"), background=True, _wait_seconds=0.0)
    assert not left.get("failed")
    result = run(job=left["job"], label="compile")
    assert result["failed"]
    assert "compile: " in result["msg"]
    assert "the reason" in result["msg"]


def test_a_command_in_the_background_that_fails_at_once_fails_its_own_task() -> None:
    result = run("/nonexistent", background=True, _wait_seconds=20.0)
    assert result["failed"]
    assert "job" not in result


def test_a_job_that_is_gone_is_named_and_not_waited_for(tmp_path: Path) -> None:
    result = run(
        job={"directory": str(tmp_path / "gone"), "log": "", "temporary_log": False, "start": 0}, label="compile"
    )
    assert result["failed"]
    assert "compile: " in result["msg"]


# ---- the private directory -----------------------------------------------------------------


def test_the_job_directory_is_private_and_a_foreign_one_is_refused(tmp_path: Path) -> None:
    job = Job.create()
    assert stat.S_IMODE(Path(job.directory).stat().st_mode) == 0o700
    Job.open(job.directory)
    Path(job.directory).chmod(0o755)
    with pytest.raises(JobError, match="not a private directory"):
        Job.open(job.directory)
    link = tmp_path / "link"
    Path(job.directory).chmod(0o700)
    link.symlink_to(job.directory)
    with pytest.raises(JobError, match="not a private directory"):
        Job.open(str(link))
    with pytest.raises(JobError, match="nobody watched it"):
        Job.open(str(tmp_path / "none"))


# ---- the words -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("one\ntwo\n", ["one", "two"]),
        (" 10%|#   | 1/9\r 90%|### | 8/9\r", [" 90%|### | 8/9"]),
        ("10%\r100%\nnext", ["100%", "next"]),
        ("\x1b[32mgreen\x1b[0m \x1b]0;title\x07done", ["green done"]),
        ("\n  \n\r\n", []),
        ("a\tb\x08c\n", ["a bc"]),
    ],
)
def test_lines_are_what_a_terminal_would_show_in_the_end(text: str, lines: list[str]) -> None:
    assert lines_of(text) == lines


def test_the_tail_of_a_huge_log_begins_with_a_whole_line(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("".join(f"line {n}\n" for n in range(20000)))
    lines = tail(str(log), 0, 10**6)
    assert lines[-1] == "line 19999"
    assert all(line.startswith("line ") for line in lines)
    assert len(lines) < 20000
    assert tail(str(log), log.stat().st_size - 6, 5) == ["19999"]
    assert tail(str(tmp_path / "none"), 0, 5) == []


def test_secrets_are_found_in_urls_and_in_variables_that_say_so() -> None:
    found = secrets_in(
        ["uv", "--index-url", "https://bob:hunter22@index.example/simple"],
        {
            "HF_TOKEN": "hf_0123456",
            "SGLANG_API_KEY": "geheim",
            "PASSWORD": "x",
            "PATH": "/usr/bin:/bin",
            "KEYMAP": "de-latin1",
        },
    )
    assert found == {"hunter22", "hf_0123456", "geheim"}


def test_secrets_are_masked_by_ansible(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_0123456")
    module: t.Any = FakeModule(argv=["true"])
    with pytest.raises(Ended):
        WatchedCommand(module).run()
    assert "hf_0123456" in module.no_log_values


def test_the_defaults_are_the_documented_ones() -> None:
    assert run_module.ARGUMENTS["timeout_seconds"]["default"] == 3600
    assert run_module.ARGUMENTS["_unwatched_seconds"]["default"] == 60.0

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The controller's side: phases of one module, printed as they come."""

from __future__ import annotations

import typing as t
from types import SimpleNamespace

import pytest
from ansible.errors import AnsibleActionFail, AnsibleConnectionFailure, AnsibleError
from ansible_collections.inferops.blackwell.plugins.action import report, sglang_health, watched_command
from ansible_collections.inferops.blackwell.plugins.plugin_utils import _live

RUNNING = {"changed": True, "watched": {"job": {"directory": "/tmp/j"}, "line": "step 1", "elapsed": 1.0}}
DONE = {"changed": True, "rc": 0}
TASK_VARS = {"inventory_hostname": "gpu1"}


class Played:
    """An action whose module replies from a script."""

    def __init__(self, plugin: t.Any, monkeypatch: pytest.MonkeyPatch, args: dict[str, t.Any], *replies: t.Any) -> None:
        self.printed: list[str] = []
        self.calls: list[dict[str, t.Any]] = []
        self.replies = list(replies)
        display = SimpleNamespace(display=self.printed.append)
        monkeypatch.setattr(_live, "_display", display)
        if hasattr(plugin, "_display"):
            monkeypatch.setattr(plugin, "_display", display)
        monkeypatch.setattr("time.sleep", lambda seconds: None)
        monkeypatch.setattr(plugin.ActionBase, "run", lambda *unused, **unused_too: {})
        self.action = plugin.ActionModule.__new__(plugin.ActionModule)
        self.action._task = SimpleNamespace(args=args, no_log=False)
        self.action._play_context = SimpleNamespace(no_log=False)
        self.action._execute_module = self.execute

    def execute(self, module_name: str, module_args: dict[str, t.Any], task_vars: dict[str, t.Any]) -> t.Any:
        self.calls.append(module_args)
        reply = self.replies.pop(0)
        if isinstance(reply, BaseException):
            raise reply
        return reply

    def run(self) -> dict[str, t.Any]:
        return t.cast("dict[str, t.Any]", self.action.run(task_vars=TASK_VARS))


def phases(played: Played) -> list[str]:
    return [call["_phase"] for call in played.calls]


def test_a_command_is_started_polled_and_its_result_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    args = {"argv": ["/usr/bin/uv", "pip"], "chdir": "/opt"}
    played = Played(watched_command, monkeypatch, args, RUNNING, RUNNING, DONE)
    assert played.run() == DONE
    assert phases(played) == ["start", "poll", "poll"]
    assert played.calls[1]["job"] == {"directory": "/tmp/j"}
    assert all(call["chdir"] == "/opt" for call in played.calls)
    assert played.printed == ["[gpu1] uv: step 1 (1s)"]
    assert args == {"argv": ["/usr/bin/uv", "pip"], "chdir": "/opt"}


def test_a_command_that_ends_at_once_needs_one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    played = Played(watched_command, monkeypatch, {"argv": ["true"]}, DONE)
    assert played.run() == DONE
    assert phases(played) == ["start"]


def test_a_job_of_an_earlier_task_is_polled_from_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    played = Played(watched_command, monkeypatch, {"job": {"directory": "/tmp/j"}}, RUNNING, DONE)
    assert played.run() == DONE
    assert phases(played) == ["poll", "poll"]


def test_a_command_in_the_background_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    started = {"changed": True, "job": {"directory": "/tmp/j"}}
    played = Played(watched_command, monkeypatch, {"argv": ["true"], "background": True}, started)
    assert played.run() == started
    assert phases(played) == ["start"]


def test_a_lost_connection_is_taken_up_again(monkeypatch: pytest.MonkeyPatch) -> None:
    lost = AnsibleConnectionFailure("gone")
    played = Played(watched_command, monkeypatch, {"argv": ["true"]}, RUNNING, lost, lost, RUNNING, DONE)
    assert played.run() == DONE
    assert "connection is lost" in played.printed[1]


def test_an_interrupted_play_stops_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    played = Played(watched_command, monkeypatch, {"argv": ["true"]}, RUNNING, KeyboardInterrupt(), {})
    with pytest.raises(KeyboardInterrupt):
        played.run()
    assert phases(played) == ["start", "poll", "stop"]


def test_a_task_that_outlives_its_play_stops_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """A killed play leaves its workers behind, as children of init: nobody sees what they print."""
    parents = iter([4711])
    monkeypatch.setattr("os.getppid", lambda: next(parents, 1))
    played = Played(watched_command, monkeypatch, {"argv": ["true"]}, RUNNING, {})
    with pytest.raises(AnsibleError, match="play"):
        played.run()
    assert phases(played) == ["start", "stop"]


def test_no_log_hides_the_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    played = Played(watched_command, monkeypatch, {"argv": ["true"], "label": "x"}, RUNNING, DONE)
    played.action._task.no_log = True
    played.run()
    assert "step 1" not in "".join(played.printed)


def test_health_is_watched_in_slices_and_each_phase_printed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def progress(phase: str, elapsed: float) -> dict[str, t.Any]:
        return {"changed": False, "progress": {"state": {"at": elapsed}, "phase": phase, "elapsed": elapsed}}

    end = {"changed": False, "healthy": True, "seconds": 52.0}
    played = Played(
        sglang_health,
        monkeypatch,
        {"url": "http://127.0.0.1:30000"},
        progress("importing", 8),
        progress("importing", 16),
        progress("loading weights 3/8", 20),
        end,
    )
    assert played.run() == end
    assert played.printed == [
        "[gpu1] SGLang: importing (8s)",
        "[gpu1] SGLang: loading weights 3/8 (20s)",
        "[gpu1] SGLang: healthy (52s)",
    ]
    assert [call["_state"] for call in played.calls] == [{}, {"at": 8}, {"at": 16}, {"at": 20}]


def test_an_unhealthy_end_is_the_modules_result(monkeypatch: pytest.MonkeyPatch) -> None:
    end = {"failed": True, "healthy": False, "cause": "port_taken"}
    assert Played(sglang_health, monkeypatch, {"url": "http://127.0.0.1:1"}, end).run() == end


@pytest.mark.parametrize(("text", "shown"), [("a\nb", "a\nb"), (["a", 1], "a\n1"), ("", "")])
def test_a_report_is_printed_as_it_is(monkeypatch: pytest.MonkeyPatch, text: t.Any, shown: str) -> None:
    played = Played(report, monkeypatch, {"text": text})
    assert played.run() == {"changed": False, "text": shown}
    assert played.printed == [shown]


def test_a_report_needs_a_text_and_keeps_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AnsibleActionFail, match="text"):
        Played(report, monkeypatch, {}).run()
    secret = Played(report, monkeypatch, {"text": "geheim"})
    secret.action._task.no_log = True
    secret.run()
    assert secret.printed == []

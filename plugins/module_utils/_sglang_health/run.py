# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module's options, and its result."""

from __future__ import annotations

import typing as t
import urllib.parse

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.inferops.blackwell.plugins.module_utils._sglang_health import supervisor, systemd
from ansible_collections.inferops.blackwell.plugins.module_utils._sglang_health.client import Client
from ansible_collections.inferops.blackwell.plugins.module_utils._sglang_health.log import FileLog, Log, NoLog, UnitLog
from ansible_collections.inferops.blackwell.plugins.module_utils._sglang_health.probe import Probe, Question
from ansible_collections.inferops.blackwell.plugins.module_utils._sglang_health.process import (
    NoProcess,
    PidFile,
    Process,
    ProcessError,
)
from ansible_collections.inferops.blackwell.plugins.module_utils._sglang_health.watch import Outcome, Watch

ARGUMENTS: dict[str, dict[str, t.Any]] = {
    "url": {"type": "str", "required": True},
    "api_key": {"type": "str", "no_log": True},
    "timeout_seconds": {"type": "int", "default": 1800},
    "process": {"type": "raw"},
    "log": {"type": "str"},
    "log_offset": {"type": "int"},
    "healthy_answers": {"type": "int", "default": 3},
    "prompt": {"type": "str", "default": "The capital of France is"},
    "input_ids": {"type": "list", "elements": "int"},
    "max_new_tokens": {"type": "int", "default": 8},
    "generate_timeout_seconds": {"type": "int", "default": 300},
    # Between the action plugin and the module only.
    "_state": {"type": "dict"},
    "_slice_seconds": {"type": "float"},
}

_PROCESS_KEYS = ("unit", "supervisor", "supervisor_socket", "supervisor_config", "pid_file")


class SglangHealth:
    def __init__(self, module: AnsibleModule) -> None:
        self._module = module
        self._p: dict[str, t.Any] = module.params

    def run(self) -> t.NoReturn:
        state: dict[str, t.Any] = self._p["_state"] or {}
        try:
            watch = self._watch(state)
            outcome = watch.run(self._p["_slice_seconds"])
        except (ProcessError, ValueError) as error:
            self._module.fail_json(msg=str(error))
        if outcome is None:
            progress = {"state": watch.state(), "phase": watch.phase, "elapsed": round(watch.elapsed, 1)}
            self._module.exit_json(changed=False, progress=progress)
        self._finish(watch, outcome)

    def _watch(self, state: dict[str, t.Any]) -> Watch:
        url = self._p["url"]
        if urllib.parse.urlsplit(url).scheme not in ("http", "https") or not urllib.parse.urlsplit(url).hostname:
            raise ValueError(f"url must be like http://127.0.0.1:30000, not {url}")
        question = Question(
            prompt=self._p["prompt"],
            input_ids=self._p["input_ids"],
            max_new_tokens=self._p["max_new_tokens"],
            seconds=self._p["generate_timeout_seconds"],
        )
        client = Client(url, self._p["api_key"])
        probe = Probe(client, question, self._p["healthy_answers"], state.get("probe", {}))
        process = process_of(self._p["process"], state.get("began"))
        log = log_of(self._p["log"], self._p["log_offset"])
        return Watch(url, process, log, probe, self._p["timeout_seconds"], state)

    def _finish(self, watch: Watch, outcome: Outcome) -> t.NoReturn:
        facts = watch.probe.facts
        result: dict[str, t.Any] = {
            "changed": False,
            "healthy": outcome.finding is None,
            "seconds": round(outcome.seconds, 1),
            "phase": "healthy" if outcome.finding is None else watch.phase,
            "cause": None,
            "evidence": None,
            "remedy": None,
            "pid": watch.pid,
            "version": facts.get("version"),
            "model": facts.get("model"),
            "text": facts.get("text"),
        }
        if outcome.finding is None:
            self._module.exit_json(**result)
        cause, what, evidence, remedy = outcome.finding
        result.update(cause=cause, evidence=evidence, remedy=remedy)
        shown = "\n  ".join(evidence.split("\n"))
        message = f"SGLang at {self._p['url']} is not healthy ({cause}): {what}.\n  {shown}\nWhat to do: {remedy}"
        if watch.problem:
            message += f"\n({watch.problem})"
        self._module.fail_json(msg=message, **result)


def process_of(given: t.Any, began: float | None = None) -> Process:
    """A unit, a program of supervisor or a pid file; a bare string is told apart by its shape."""
    if not given:
        return NoProcess()
    if isinstance(given, str):
        key = "pid_file" if given.startswith("/") else "unit"
        given = {key: given}
    if not isinstance(given, dict) or not given or set(given) - set(_PROCESS_KEYS):
        raise ValueError(f"process must be a string or have keys of {', '.join(_PROCESS_KEYS)}, not {given}")
    named = [key for key in ("unit", "supervisor", "pid_file") if given.get(key)]
    if len(named) != 1:
        raise ValueError("process must name exactly one of unit, supervisor and pid_file")
    if given.get("unit"):
        return systemd.Unit(str(given["unit"]))
    if given.get("pid_file"):
        return PidFile(str(given["pid_file"]), began)
    socket_path = given.get("supervisor_socket")
    if not socket_path and not given.get("supervisor_config"):
        raise ValueError("process.supervisor needs supervisor_socket or supervisor_config")
    return supervisor.Program(
        str(given["supervisor"]), str(socket_path or supervisor.socket_of(given["supervisor_config"]))
    )


def log_of(given: str | None, offset: int | None) -> Log:
    """A path, or the name of a unit whose journal it is."""
    if not given:
        return NoLog()
    return FileLog(given, offset) if given.startswith("/") else UnitLog(given, None)

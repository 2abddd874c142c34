# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module's side of a watched command: start it, look at it, stop it.

The action plugin calls the module once per phase; without the action (no phase given) one run does it all.
"""

from __future__ import annotations

import contextlib
import os
import signal
import tempfile
import time
import typing as t
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.inferops.blackwell.plugins.module_utils._watched_command import lines, supervisor
from ansible_collections.inferops.blackwell.plugins.module_utils._watched_command.job import Job, JobError

ARGUMENTS: dict[str, dict[str, t.Any]] = {
    "argv": {"type": "list", "elements": "str", "default": []},
    "chdir": {"type": "path"},
    "log": {"type": "path"},
    "label": {"type": "str"},
    "timeout_seconds": {"type": "int", "default": 3600},
    "creates": {"type": "path"},
    "success_rcs": {"type": "list", "elements": "int", "default": [0]},
    "background": {"type": "bool", "default": False},
    "nice": {"type": "int", "default": 0},
    "job": {
        "type": "dict",
        "options": {
            "directory": {"type": "path", "required": True},
            "log": {"type": "path", "required": True},
            "temporary_log": {"type": "bool", "required": True},
            "start": {"type": "int", "required": True},
        },
    },
    # Between the action plugin and the module only.
    "_phase": {"type": "str", "choices": ["start", "poll", "stop"]},
    "_wait_seconds": {"type": "float", "default": 0.5},
    "_unwatched_seconds": {"type": "float", "default": 60.0},
}

_TAIL_LINES = 40
_TAIL_LINES_IN_MESSAGE = 15
_STOP_SECONDS = 10.0
_NICEST = 19


class WatchedCommand:
    def __init__(self, module: AnsibleModule) -> None:
        self._module = module
        self._p: dict[str, t.Any] = module.params
        # AnsibleModule masks these in everything that it returns, the invocation too.
        module.no_log_values.update(lines.secrets_in(self._p["argv"], os.environ))

    def run(self) -> t.NoReturn:
        phase, job = self._p["_phase"], self._p["job"]
        try:
            if phase == "stop":
                self._stop(job)
            if not job:
                self._skip_if_not_needed()
                job = self._start()
                if self._p["background"]:
                    self._leave(job)
            if phase:
                self._report(job, self._p["_wait_seconds"])
            self._watch_to_the_end(job)
        except JobError as error:
            self._module.fail_json(msg=f"{self._name()}: {error}")

    # ---- before ----------------------------------------------------------------------------

    def _skip_if_not_needed(self) -> None:
        if not self._p["argv"] or not self._p["argv"][0]:
            self._module.fail_json(msg="argv must name a program")
        if not 0 <= self._p["nice"] <= _NICEST:
            self._module.fail_json(msg=f"nice must be 0 to {_NICEST}, not {self._p['nice']}")
        creates = self._p["creates"]
        if creates and Path(creates).exists():
            self._module.exit_json(changed=False, rc=0, log="", stdout="", tail=[], msg=f"{creates} exists already")
        if self._module.check_mode:
            message = "the command would run; check mode does not run it"
            self._module.exit_json(changed=True, rc=0, log="", stdout="", tail=[], msg=message)

    def _start(self) -> dict[str, t.Any]:
        log, temporary, start = self._open_log()
        chdir = self._p["chdir"]
        if chdir and not Path(chdir).is_dir():
            self._module.fail_json(msg=f"{self._name()}: the directory chdir={chdir} does not exist")
        os.environ.setdefault("PYTHONUNBUFFERED", "1")
        job = Job.create()
        supervisor.launch(
            job,
            supervisor.Order(
                argv=self._p["argv"],
                chdir=chdir,
                log=log,
                timeout_seconds=self._p["timeout_seconds"],
                unwatched_seconds=self._p["_unwatched_seconds"],
                background=self._p["background"],
                nice=self._p["nice"],
            ),
        )
        return {"directory": job.directory, "log": log, "temporary_log": temporary, "start": start}

    def _open_log(self) -> tuple[str, bool, int]:
        """The log's path, whether it is ours to remove, and where the output of this run begins."""
        path: str | None = self._p["log"]
        if not path:
            handle, path = tempfile.mkstemp(prefix="inferops-watched-", suffix=".log")
            os.close(handle)
            return path, True, 0
        try:
            handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            with open(handle, "ab") as log:
                log.write(f"--- {time.strftime('%Y-%m-%d %H:%M:%S')} {self._name()}\n".encode())
                return path, False, log.tell()
        except OSError as error:
            self._module.fail_json(msg=f"{self._name()}: cannot write the log {path}: {error.strerror}")

    # ---- while it runs ---------------------------------------------------------------------

    def _report(self, known: dict[str, t.Any], wait_seconds: float) -> t.NoReturn:
        state = self._wait(Job.open(known["directory"]), wait_seconds)
        if state.get("finished"):
            self._finish(known, state)
        started = state.get("started")
        self._module.exit_json(
            changed=True,
            watched={
                "job": known,
                "elapsed": round(time.monotonic() - started, 1) if started is not None else 0.0,
                "line": next(iter(lines.tail(known["log"], known["start"], 1)), ""),
            },
        )

    def _leave(self, known: dict[str, t.Any]) -> t.NoReturn:
        """Give the job to a later task; a command that ended already, most likely by failing, needs none."""
        state = self._wait(Job.open(known["directory"]), self._p["_wait_seconds"])
        if state.get("finished"):
            self._finish(known, state)
        self._module.exit_json(changed=True, job=known, log=known["log"])

    def _wait(self, job: Job, seconds: float) -> dict[str, t.Any]:
        """Return as soon as the command has ended, or after `seconds`."""
        deadline = time.monotonic() + seconds
        pause = 0.02
        while True:
            job.watch()
            # In this order: a supervisor that writes its last state and goes is not taken for a dead one.
            supervised = job.supervised()
            state = job.read()
            if state.get("finished") or time.monotonic() >= deadline:
                return state
            if not supervised:
                raise JobError("its supervising process was killed; the command may still run")
            time.sleep(pause)
            pause = min(pause * 1.5, 0.25)

    def _watch_to_the_end(self, known: dict[str, t.Any]) -> t.NoReturn:
        job = Job.open(known["directory"])
        while True:
            state = self._wait(job, 10.0)
            if state.get("finished"):
                self._finish(known, state)

    def _stop(self, known: dict[str, t.Any]) -> t.NoReturn:
        job = Job.open(known["directory"])
        job.ask_to_stop()
        with contextlib.suppress(JobError):
            self._wait(job, _STOP_SECONDS)
        job.remove()
        self._module.exit_json(changed=True, stopped=True)

    # ---- after -----------------------------------------------------------------------------

    def _finish(self, known: dict[str, t.Any], state: dict[str, t.Any]) -> t.NoReturn:
        last = lines.tail(known["log"], known["start"], _TAIL_LINES)
        Job(known["directory"]).remove()
        succeeded = not state["ended_by"] and not state["error"] and state["rc"] in self._p["success_rcs"]
        log = known["log"]
        if known["temporary_log"] and (succeeded or not last):
            with contextlib.suppress(OSError):
                Path(log).unlink()
            log = ""
        result = {
            "changed": True,
            "rc": state["rc"],
            "seconds": state["seconds"],
            "log": log,
            "tail": last,
            "stdout": "\n".join(last),
        }
        if succeeded:
            self._module.exit_json(**result)
        self._module.fail_json(msg=self._failure(state, last, log), **result)

    def _failure(self, state: dict[str, t.Any], last: list[str], log: str) -> str:
        message = f"{self._name()}: {_what_happened(state, self._p['timeout_seconds'])}."
        if not last:
            message += " It wrote nothing."
        else:
            shown = "\n  ".join(last[-_TAIL_LINES_IN_MESSAGE:])
            message += f" Its last lines:\n  {shown}\n"
        if log:
            message = f"{message.rstrip()}\nThe whole log: {log}"
        return message

    def _name(self) -> str:
        return self._p["label"] or Path(*self._p["argv"][:1]).name or "command"


def _what_happened(state: dict[str, t.Any], timeout_seconds: int) -> str:
    if state["error"]:
        return f"the command cannot be run: {state['error']}"
    if state["ended_by"] == supervisor.TIMEOUT:
        return f"the command had not ended after timeout_seconds={timeout_seconds} and was stopped"
    if state["ended_by"]:
        return f"the command was stopped from outside after {state['seconds']:.0f} s"
    rc = state["rc"]
    if rc >= 0:
        return f"the command ended with exit status {rc} after {state['seconds']:.0f} s"
    try:
        name = signal.Signals(-rc).name
    except ValueError:
        name = str(-rc)
    hint = " (SIGKILL is mostly the kernel short of memory: see dmesg)" if -rc == signal.SIGKILL else ""
    return f"the command was killed by signal {name} after {state['seconds']:.0f} s{hint}"

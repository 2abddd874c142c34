# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Controller's side of `watched_command`: polls the target and prints what the command says."""

from __future__ import annotations

import contextlib
import time
import typing as t
from pathlib import PurePath

from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.action import ActionBase
from ansible_collections.inferops.blackwell.plugins.plugin_utils._live import Live

# Long enough to see a command that cannot be started.
_WAIT_AT_START_SECONDS = 0.1
_WAIT_FIRST_SECONDS = 1.0
_WAIT_LONGEST_SECONDS = 5.0
# Well below the time after which the target ends a command that nobody watches.
_RECONNECT_SECONDS = 45.0
_RECONNECT_PAUSE_SECONDS = 3.0


class ActionModule(ActionBase):
    def run(self, tmp: str | None = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        task_vars = task_vars or {}
        super().run(tmp, task_vars)
        with Live(
            task_vars.get("inventory_hostname", ""),
            self._task.args.get("label") or _program(self._task.args.get("argv")),
            hidden=bool(self._task.no_log or self._play_context.no_log),
        ) as live:
            return self._watch(task_vars, live)

    def _watch(self, task_vars: dict[str, t.Any], live: Live) -> dict[str, t.Any]:
        job: dict[str, t.Any] | None = self._task.args.get("job")
        try:
            reply = self._phase(task_vars, "poll" if job else "start", _wait_seconds=_WAIT_AT_START_SECONDS)
            wait = _WAIT_FIRST_SECONDS
            while "watched" in reply:
                job = reply["watched"]["job"]
                live.fail_without_play()
                live.show(reply["watched"]["line"], reply["watched"]["elapsed"])
                reply = self._poll(task_vars, live, job, wait)
                wait = min(wait * 1.5, _WAIT_LONGEST_SECONDS)
            job = None
        finally:
            # Interrupted: end the command now. If even this does not get through, its supervisor does it.
            if job is not None:
                with contextlib.suppress(Exception):
                    self._phase(task_vars, "stop", job=job)
        return reply

    def _poll(self, task_vars: dict[str, t.Any], live: Live, job: dict[str, t.Any], wait: float) -> dict[str, t.Any]:
        """A connection that drops for a moment does not end a build of ten minutes."""
        lost_at = time.monotonic()
        while True:
            try:
                return self._phase(task_vars, "poll", job=job, _wait_seconds=wait)
            except AnsibleConnectionFailure:
                if time.monotonic() - lost_at > _RECONNECT_SECONDS:
                    raise
                live.say("the connection is lost, trying again; the command goes on")
                time.sleep(_RECONNECT_PAUSE_SECONDS)

    def _phase(self, task_vars: dict[str, t.Any], phase: str, **internal: t.Any) -> dict[str, t.Any]:
        arguments = {**self._task.args, "_phase": phase, **internal}
        # Honours the task's environment, become, connection, check mode and no_log.
        return t.cast(
            "dict[str, t.Any]",
            self._execute_module(
                module_name="inferops.blackwell.watched_command", module_args=arguments, task_vars=task_vars
            ),
        )


def _program(argv: object) -> str:
    """The same default as the module's."""
    first = argv[0] if isinstance(argv, list) and argv else "command"
    return PurePath(str(first)).name

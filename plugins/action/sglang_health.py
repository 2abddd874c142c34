# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Controller's side of `sglang_health`: runs the module in short slices and prints each new phase."""

from __future__ import annotations

import typing as t

from ansible.plugins.action import ActionBase
from ansible_collections.inferops.blackwell.plugins.plugin_utils._live import Live

# Long enough that the slices cost nothing, short enough for people. A change of phase ends a slice early.
_SLICE_SECONDS = 8.0


class ActionModule(ActionBase):
    def run(self, tmp: str | None = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        task_vars = task_vars or {}
        super().run(tmp, task_vars)
        with Live(task_vars.get("inventory_hostname", ""), "SGLang") as live:
            state: dict[str, t.Any] = {}
            while True:
                result = self._slice(task_vars, state)
                progress = result.get("progress")
                if not progress:
                    break
                state = progress["state"]
                live.fail_without_play()
                live.show(progress["phase"], progress["elapsed"])
            if result.get("healthy"):
                live.show("healthy", result["seconds"])
        return result

    def _slice(self, task_vars: dict[str, t.Any], state: dict[str, t.Any]) -> dict[str, t.Any]:
        arguments = {**self._task.args, "_state": state, "_slice_seconds": _SLICE_SECONDS}
        return t.cast(
            "dict[str, t.Any]",
            self._execute_module(
                module_name="inferops.blackwell.sglang_health", module_args=arguments, task_vars=task_vars
            ),
        )

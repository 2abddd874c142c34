# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints a text for people: no quotes, no escapes, no YAML around it."""

from __future__ import annotations

import typing as t

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

_display = Display()


class ActionModule(ActionBase):
    TRANSFERS_FILES = False
    _requires_connection = False
    _VALID_ARGS = frozenset({"text"})

    def run(self, tmp: str | None = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        super().run(tmp, task_vars)
        if "text" not in self._task.args:
            raise AnsibleActionFail("report needs text: a string, or a list of lines")
        text = self._task.args["text"]
        printed = "\n".join(map(str, text)) if isinstance(text, list) else str(text)
        if not (self._task.no_log or self._play_context.no_log):
            _display.display(printed)
        return {"changed": False, "text": printed}

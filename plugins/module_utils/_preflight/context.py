# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What all checks share."""

from __future__ import annotations

import typing as t
from pathlib import Path

from ansible_collections.inferops.blackwell.plugins.module_utils._preflight.findings import Findings
from ansible_collections.inferops.blackwell.plugins.module_utils._preflight.versions import needs_of

GIB = 1024**3


class Context:
    """Settings of the roles, as raw as the user gave them, and what was found so far."""

    def __init__(self, settings: dict[str, t.Any], plan: dict[str, t.Any], disk_bytes: int, memory_bytes: int) -> None:
        self.settings = {"threshold_patch_state": "present", **settings}
        self.plan = plan
        self.disk_bytes = disk_bytes
        self.memory_bytes = memory_bytes
        self.findings = Findings()
        self.facts: dict[str, t.Any] = {}
        self.prefix = Path(self.text("sglang_prefix") or "/")
        self.needs = needs_of(self.text("sglang_version"))

    def text(self, name: str) -> str:
        value = self.settings.get(name)
        return "" if value is None else str(value)

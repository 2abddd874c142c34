# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines that tell a person what goes on while a task runs."""

from __future__ import annotations

import time

from ansible.utils.display import Display

# A silent minute reads like a hang. With a poll every 5 seconds a line comes at least every 20.
HEARTBEAT_SECONDS = 15.0
_WIDTH = 160

_display = Display()


def duration(seconds: float) -> str:
    """`7s`, `1m05s`, `2h03m`."""
    whole = int(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02d}s"
    return f"{whole // 3600}h{whole % 3600 // 60:02d}m"


class Live:
    """Prints a text when it changes, and again when nothing changed for HEARTBEAT_SECONDS."""

    def __init__(self, host: str, label: str, hidden: bool = False) -> None:
        """`hidden`: print nothing but the time (no_log)."""
        self._prefix = f"[{host}] {label}: "
        self._hidden = hidden
        self._last_text = ""
        self._last_printed = time.monotonic()

    def show(self, text: str, elapsed: float) -> None:
        if self._hidden:
            text = ""
        if len(text) > _WIDTH:
            text = text[: _WIDTH - 3] + "..."
        now = time.monotonic()
        if text == self._last_text and now - self._last_printed < HEARTBEAT_SECONDS:
            return
        still = "still running" if text == self._last_text else ""
        said = " - ".join(part for part in (text, still) if part)
        _display.display(f"{self._prefix}{said} ({duration(elapsed)})")
        self._last_text = text
        self._last_printed = now

    def say(self, text: str) -> None:
        """Print regardless of what was printed last."""
        _display.display(f"{self._prefix}{text}")
        self._last_printed = time.monotonic()

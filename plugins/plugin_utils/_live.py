# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines that tell a person what goes on while a task runs."""

from __future__ import annotations

import os
import threading
import time

from ansible.errors import AnsibleError
from ansible.utils.display import Display

# A silent minute reads like a hang.
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
    """Prints a text when it changes, and again when nothing was printed for `heartbeat_seconds`.

    Within `with`, a thread keeps the heartbeat even while the target takes long to reply.
    """

    def __init__(
        self, host: str, label: str, hidden: bool = False, heartbeat_seconds: float = HEARTBEAT_SECONDS
    ) -> None:
        """`hidden`: print nothing but the time (no_log)."""
        self._play = os.getppid()
        self._prefix = f"[{host}] {label}: "
        self._hidden = hidden
        self._heartbeat_seconds = heartbeat_seconds
        self._text = ""
        # Elapsed time on the target is `monotonic() - _origin` here.
        self._origin = self._printed_at = time.monotonic()
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)

    def __enter__(self) -> Live:
        self._thread.start()
        return self

    def __exit__(self, *unused: object) -> None:
        self._over.set()
        self._thread.join()

    def fail_without_play(self) -> None:
        """A task's process has a session of its own, so it may outlive a play that was killed."""
        if os.getppid() != self._play:
            raise AnsibleError("the play that this task belongs to has gone")

    def show(self, text: str, elapsed: float) -> None:
        if self._hidden:
            text = ""
        if len(text) > _WIDTH:
            text = text[: _WIDTH - 3] + "..."
        with self._lock:
            self._origin = time.monotonic() - elapsed
            if text != self._text:
                self._text = text
                self._print(text)

    def say(self, text: str) -> None:
        """Print regardless of what was printed last."""
        with self._lock:
            self._print(text)

    def _beat(self) -> None:
        while not self._over.wait(0.2):
            with self._lock:
                if time.monotonic() - self._printed_at >= self._heartbeat_seconds:
                    self._print(f"{self._text} - still running" if self._text else "still running")

    def _print(self, text: str) -> None:
        self._printed_at = time.monotonic()
        _display.display(f"{self._prefix}{text} ({duration(self._printed_at - self._origin)})")

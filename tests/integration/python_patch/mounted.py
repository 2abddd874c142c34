# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Real mounts, in a mount namespace of their own: nothing is left on this machine, however a test ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import typing as t
from pathlib import Path

import pytest
from mounted_case import Answer

CASE = Path(__file__).with_name("mounted_case.py")
IS_ROOT = os.geteuid() == 0
NAMESPACE = ["unshare", "--mount", "--propagation", "private"]
NAMESPACE_OF_USER = ["unshare", "--user", "--map-root-user", "--mount", "--propagation", "private"]


def namespace() -> list[str]:
    """What to put before a command, so that it may mount; root must be able to, others may lack the right."""
    prefix = NAMESPACE if IS_ROOT else NAMESPACE_OF_USER
    probe = "mount -t tmpfs tmpfs /mnt"
    done = subprocess.run([*prefix, "sh", "-c", probe], capture_output=True, text=True, check=False)
    if done.returncode:
        reason = f"`{' '.join(prefix)} {probe}`: {done.stderr.strip()}"
        if IS_ROOT:
            pytest.fail(f"root may not mount here, so this cannot be shown; give CAP_SYS_ADMIN. {reason}")
        pytest.skip(f"mounts need root, or user namespaces, which this machine forbids. {reason}")
    return prefix


class Case:
    """One tree, one store, and the steps of one test in the order in which they are named."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.root = base / "root"
        self.store = base / "store"
        self.root.mkdir()
        self.store.mkdir(mode=0o700)
        self._mounts: list[list[str]] = []
        self._steps: list[tuple[str, dict[str, t.Any]]] = []
        self.user: int | None = None

    def mount(self, *arguments: str | Path) -> None:
        """mount(8), before the first step."""
        self._mounts.append([str(item) for item in arguments])

    def remount(self, *arguments: str | Path) -> None:
        """mount(8), as a step."""
        self._step("mount", arguments=[str(item) for item in arguments])

    def write(self, path: str | Path, text: str) -> None:
        self._step("write", path=str(self.root / path), text=text)

    def fill(self, directory: Path, leave: int) -> None:
        self._step("fill", directory=str(directory), leave=leave)

    def remove(self, path: Path) -> None:
        self._step("remove", path=str(path))

    def owner(self, path: str) -> None:
        self._step("owner", path=str(self.root / path))

    def present(self, *files: dict[str, t.Any], **more: t.Any) -> None:
        self._step("run", action="present", files=files, **self._where(), name="set", **more)

    def absent(self, **more: t.Any) -> None:
        self._step("run", action="absent", **self._where(), name="set", **more)

    def status(self) -> None:
        self._step("status", **self._where())

    def tree(self, directory: Path | None = None) -> None:
        self._step("tree", root=str(directory or self.root))

    def _where(self) -> dict[str, str]:
        return {"root": str(self.root), "store": str(self.store)}

    def _step(self, step: str, /, **arguments: t.Any) -> None:
        self._steps.append((step, arguments))

    def forget(self) -> None:
        """Begin anew on what is there."""
        self._steps.clear()

    def run(self) -> list[Answer]:
        """The answers of all steps that have one."""
        case = {"mounts": self._mounts, "user": self.user, "steps": self._steps}
        prefix = namespace() if self._mounts else []
        command = [*prefix, sys.executable, "-B", str(CASE)]
        done = subprocess.run(command, input=json.dumps(case), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        answers = json.loads(done.stdout)
        return [answer for (name, _), answer in zip(self._steps, answers) if name not in ("write", "mount", "remove")]

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A process of its own for one case: mounts, perhaps another user, then steps of the engine; answers as JSON.

Reads {"mounts": [[...], ...], "user": uid or null, "steps": [[name, {arguments}], ...]} and prints the answer of each
step. Everything is imported before the user changes, since that user may not read this checkout.
"""

from __future__ import annotations

import json
import os
import pwd
import subprocess
import sys
import typing as t
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "plugins" / "module_utils"))

from _python_patch import engine, report  # noqa: E402
from _python_patch.errors import PatchError  # noqa: E402
from _python_patch.planning import Request  # noqa: E402

Answer = t.Any


def run(action: str, **request: t.Any) -> Answer:
    try:
        result = getattr(engine, action)(Request(**request))
    except PatchError as error:
        return {"error": str(error), "status": error.status}
    return {"changed": result.changed, "status": result.status, "warnings": result.warnings}


def status(root: str, store: str) -> Answer:
    try:
        return report.patches(root, store, "set", 5)[0]["status"]
    except PatchError as error:
        return f"error: {error}"


def tree(root: str) -> Answer:
    """Content of every file, hidden ones too; the ballast aside."""
    paths = [path for path in sorted(Path(root).rglob("*")) if path.is_file() and path.name != "ballast"]
    return {str(path.relative_to(root)): path.read_text() for path in paths}


def write(path: str, text: str) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text)


def fill(directory: str, leave: int) -> Answer:
    """Take the space of a file system until `leave` bytes are free."""
    free = os.statvfs(directory)
    with open(Path(directory, "ballast"), "wb") as file:
        file.write(bytes(max(0, free.f_bavail * free.f_frsize - leave)))
    left = os.statvfs(directory)
    return left.f_bavail * left.f_frsize


def remove(path: str) -> None:
    Path(path).unlink()


def mount(arguments: t.Sequence[str]) -> None:
    subprocess.run(["mount", *arguments], check=True)


def owner(path: str) -> Answer:
    found = Path(path).stat()
    return [found.st_uid, found.st_gid, found.st_mode & 0o7777]


STEPS: dict[str, t.Callable[..., Answer]] = {
    function.__name__: function for function in (run, status, tree, write, fill, remove, mount, owner)
}


def main() -> None:
    case = json.load(sys.stdin)
    for arguments in case["mounts"]:
        mount(arguments)
    if case["user"] is not None:
        pwd.getpwall()
        os.setgroups([])
        os.setgid(case["user"])
        os.setuid(case["user"])
    print(json.dumps([STEPS[name](**arguments) for name, arguments in case["steps"]]))


if __name__ == "__main__":
    main()

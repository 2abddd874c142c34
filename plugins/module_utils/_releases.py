# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The releases below a prefix: which are complete, which serves, which were healthy, which are in use."""

from __future__ import annotations

import contextlib
import json
import os
import typing as t
from pathlib import Path

Release = dict[str, t.Any]
Process = dict[str, t.Any]


def read_json(path: Path) -> t.Any:
    """Null where there is no such file or it is not JSON: a release is complete only with a whole one."""
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None


def current_id(prefix: Path) -> str:
    """Name of the release `current` points to, empty without one."""
    link = prefix / "current"
    return link.resolve().name if link.is_symlink() and link.exists() else ""


def list_releases(prefix: Path, proc: Path = Path("/proc")) -> list[Release]:
    """Oldest first by build time; incomplete ones, which have none, come first."""
    directory = prefix / "releases"
    if not directory.is_dir():
        return []
    names = sorted(entry.name for entry in directory.iterdir() if entry.is_dir() and not entry.is_symlink())
    serving = current_id(prefix)
    processes = processes_below([directory / name for name in names], proc)
    releases = [_describe(directory / name, serving, processes[directory / name]) for name in names]
    return sorted(releases, key=lambda release: (release["built_at"], release["id"]))


def _describe(directory: Path, serving: str, processes: list[Process]) -> Release:
    content = read_json(directory / "release.json")
    complete = isinstance(content, dict)
    healthy = read_json(directory / "healthy.json")
    return {
        "id": directory.name,
        "directory": str(directory),
        "complete": complete,
        "current": directory.name == serving,
        "built_at": str(content.get("built_at", "")) if complete else "",
        "healthy_at": str(healthy.get("healthy_at", "")) if isinstance(healthy, dict) else "",
        "processes": processes,
        "release": content if complete else None,
    }


def processes_below(directories: t.Sequence[Path], proc: Path = Path("/proc")) -> dict[Path, list[Process]]:
    """Processes whose arguments or working directory lie in one of the directories.

    This process and its ancestors do not count: they ask, they do not use. A process that may not be read
    (another account's working directory) is known by its arguments alone.
    """
    found: dict[Path, list[Process]] = {directory: [] for directory in directories}
    if not directories or not proc.is_dir():
        return found
    asking = _ancestors(proc)
    for entry in sorted(proc.iterdir(), key=lambda path: path.name):
        if not entry.name.isdigit() or int(entry.name) in asking:
            continue
        places = _places(entry)
        for directory in directories:
            if any(place == str(directory) or f"{directory}/" in place for place in places):
                found[directory].append({"pid": int(entry.name), "command": _command(entry)})
    return found


def _ancestors(proc: Path) -> set[int]:
    seen: set[int] = set()
    pid = os.getpid()
    while pid > 0 and pid not in seen:
        seen.add(pid)
        try:
            # The name of the program stands in parentheses and may itself hold spaces and parentheses.
            pid = int((proc / str(pid) / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            break
    return seen


def _arguments(entry: Path) -> list[str]:
    try:
        return [part.decode(errors="replace") for part in (entry / "cmdline").read_bytes().split(b"\0") if part]
    except OSError:
        return []


def _places(entry: Path) -> list[str]:
    places = _arguments(entry)
    with contextlib.suppress(OSError):
        places.append(str((entry / "cwd").readlink()))
    return places


def _command(entry: Path) -> str:
    """Two words say which program it is; more could show a secret argument."""
    return " ".join(_arguments(entry)[:2])[:200]

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts of the host that need no privileges."""

from __future__ import annotations

import os
import platform
import re
import shutil
import typing as t
from pathlib import Path

from ansible_collections.inferops.blackwell.plugins.module_utils._preflight.versions import dotted, numbers


def operating_system(root: Path = Path("/")) -> dict[str, str]:
    """Name, id and version of the distribution; architecture as the kernel names it."""
    release = root / "etc/os-release"
    text = release.read_text(encoding="utf-8", errors="replace") if release.is_file() else ""
    fields = dict(re.findall(r'^([A-Z_]+)="?(.*?)"?$', text, re.MULTILINE))
    return {
        "name": fields.get("PRETTY_NAME", "unknown"),
        "id": fields.get("ID", "unknown"),
        "version": fields.get("VERSION_ID", ""),
        "architecture": platform.machine(),
        "kernel": platform.release(),
    }


def glibc() -> str:
    """Version of the C library, empty where it is not glibc (musl)."""
    try:
        name, _, version = (os.confstr("CS_GNU_LIBC_VERSION") or "").partition(" ")
    except (ValueError, OSError):
        return ""
    return dotted(numbers(version)) if name == "glibc" else ""


def memory_bytes(root: Path = Path("/")) -> int:
    """Memory that a process may use: what the machine has, or the limit of the container."""
    match = re.search(r"^MemTotal:\s+(\d+) kB", (root / "proc/meminfo").read_text(encoding="ascii"), re.MULTILINE)
    total = int(match[1]) * 1024 if match else 0
    for name in ("sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes"):
        limit = root / name
        text = limit.read_text(encoding="ascii").strip() if limit.is_file() else ""
        if text.isdigit():
            total = min(total, int(text))
    return total


def nearest_existing(path: Path) -> Path:
    """`path`, or the closest of its parents that exists."""
    while not path.exists() and path != path.parent:
        path = path.parent
    return path


def disk_free_bytes(path: Path) -> int:
    return shutil.disk_usage(nearest_existing(path)).free


def service_manager(root: Path = Path("/")) -> str:
    """`systemd` where it runs as the init system and we may use it, else `supervisor`."""
    return "systemd" if (root / "run/systemd/system").is_dir() and os.geteuid() == 0 else "supervisor"


def has_release(prefix: Path, version: str) -> bool:
    """Whether a complete release of this version was built already: then hardly any space is needed."""
    import json

    for path in prefix.glob("releases/*/release.json"):
        try:
            content: t.Any = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(content, dict) and content.get("version") == version:
            return True
    return False

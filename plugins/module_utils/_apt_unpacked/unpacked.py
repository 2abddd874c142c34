# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Packages unpacked below a directory of ours, complete or not there at all."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import typing as t
from pathlib import Path

from ansible_collections.inferops.blackwell.plugins.module_utils._apt_unpacked.apt import (
    AptError,
    PrivateApt,
    missing_tools,
)
from ansible_collections.inferops.blackwell.plugins.module_utils._apt_unpacked.sources import (
    distribution_of,
    system_sources,
)

MARKER = ".apt_unpacked.json"


def read_marker(dest: Path) -> dict[str, t.Any]:
    """What was unpacked into `dest`, empty when it is not ours or not readable."""
    try:
        marker = json.loads((dest / MARKER).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return marker if isinstance(marker, dict) and isinstance(marker.get("packages"), list) else {}


def is_complete(dest: Path, marker: dict[str, t.Any], packages: t.Sequence[str]) -> bool:
    """Whether `dest` holds exactly these packages, and every file of them still."""
    have = sorted(str(entry.get("name")) for entry in marker.get("packages", []))
    return have == sorted(packages) and all(os.path.lexists(dest / name) for name in marker.get("files", ["?"]))


def refuse_foreign(dest: Path) -> None:
    """A directory that holds something else is never replaced."""
    if dest.is_dir() and any(dest.iterdir()) and not (dest / MARKER).is_file():
        raise AptError(
            f"{dest} exists, is not empty and was not made by this module (no {MARKER}). "
            "Give another dest, or move it away."
        )


def private_apt(directory: Path, etc: Path, components: t.Sequence[str]) -> PrivateApt:
    """apt in `directory` with the system's own sources."""
    lacking = missing_tools()
    if lacking:
        raise AptError(
            f"{', '.join(lacking)} not found in PATH: packages can be unpacked only where the distribution uses apt. "
            "Install the library with the system's own package manager instead."
        )
    release = Path("/etc/os-release")
    distribution = distribution_of(release.read_text(encoding="utf-8") if release.is_file() else "")
    sources = system_sources(etc, distribution, components) if distribution else []
    if not sources:
        raise AptError(
            f"no package source of the distribution ({distribution or 'no ID in /etc/os-release'}) "
            f"is enabled in {etc}/sources.list or {etc}/sources.list.d"
        )
    return PrivateApt(directory, sources)


def unpack(apt: PrivateApt, dest: Path, packages: t.Sequence[str]) -> dict[str, t.Any]:
    """Download and unpack beside `dest`, then put it in place with one rename; returns the marker."""
    versions = apt.candidates(packages)
    dest.parent.mkdir(parents=True, exist_ok=True)
    for abandoned in dest.parent.glob(f".{dest.name}.new-*"):  # of a run that was killed
        shutil.rmtree(abandoned, ignore_errors=True)
    staging = Path(tempfile.mkdtemp(prefix=f".{dest.name}.new-", dir=dest.parent))
    try:
        entries = []
        for package in packages:
            archive = apt.download(package)
            apt.unpack(archive, staging)
            digest = hashlib.sha256(archive.read_bytes()).hexdigest()
            entries.append({"name": package, "version": versions[package], "sha256": digest})
        files = sorted(
            str((Path(folder) / name).relative_to(staging)) for folder, _, names in os.walk(staging) for name in names
        )
        marker = {"packages": entries, "files": files}
        (staging / MARKER).write_text(json.dumps(marker, indent=2) + "\n", encoding="utf-8")
        # The service's user reads from here; mkdtemp gave it to us alone.
        staging.chmod(0o755)
        _replace(staging, dest)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise
    return marker


def _replace(staging: Path, dest: Path) -> None:
    if dest.exists():
        old = Path(tempfile.mkdtemp(prefix=f".{dest.name}.new-", dir=dest.parent))
        dest.replace(old)
        staging.replace(dest)
        shutil.rmtree(old, ignore_errors=True)
    else:
        staging.replace(dest)

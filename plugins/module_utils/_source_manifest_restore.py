# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Give files of a recorded tree back from its archive; what stood there is moved aside, never lost."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tarfile
import tempfile
import typing as t
from pathlib import Path

from ansible_collections.inferops.blackwell.plugins.module_utils._source_manifest import (
    Differences,
    Entry,
    Files,
    ManifestError,
    file_sha256,
)


class Plan(t.NamedTuple):
    """`give_back`: paths whose recorded bytes return. `take_away`: files that were not recorded."""

    give_back: list[str]
    take_away: list[str]

    def paths(self) -> list[str]:
        return sorted([*self.give_back, *self.take_away])


def make_plan(differences: Differences, expected: Files, names: t.Sequence[str] | None, remove_extra: bool) -> Plan:
    """Without names: all that changed or is missing (and, when asked, all that is extra)."""
    broken = [entry["path"] for entry in (*differences.changed, *differences.missing)]
    extra = [entry["path"] for entry in differences.extra]
    if names is None:
        return Plan(broken, extra if remove_extra else [])
    unknown = sorted(set(names) - set(expected) - set(extra))
    if unknown:
        raise ManifestError(
            f"not in the manifest and not in the tree: {', '.join(unknown)}. Paths are relative to root, like "
            f"{next(iter(expected), 'package/file.py')}."
        )
    return Plan([path for path in broken if path in names], [path for path in extra if path in names])


def read_archive(archive: Path, wanted: t.Sequence[str], expected: Files) -> dict[str, tuple[Entry, bytes, int]]:
    """Path -> (manifest entry, bytes, mode), every one checked against the manifest before it is used."""
    contents: dict[str, tuple[Entry, bytes, int]] = {}
    try:
        with tarfile.open(str(archive), "r:gz") as tar:
            for member in tar:
                if member.name not in wanted:
                    continue
                stream = None if member.issym() else tar.extractfile(member)
                data = member.linkname.encode() if stream is None else stream.read()
                contents[member.name] = (expected[member.name], data, member.mode & 0o777)
    except (OSError, tarfile.TarError, EOFError) as exc:
        raise ManifestError(
            f"the archive {archive} cannot be read ({exc}). Nothing was changed; build the release again."
        ) from exc
    for path in wanted:
        entry = expected[path]
        data = contents[path][1] if path in contents else b""
        good = data.decode() == entry["link"] if "link" in entry else _sha256(data) == entry["sha256"]
        if path not in contents or not good:
            raise ManifestError(
                f"the archive {archive} does not hold the recorded bytes of {path}. Nothing was changed; "
                "build the release again."
            )
    return contents


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def restore(root: Path, plan: Plan, archive: Path, expected: Files, aside: Path) -> None:
    """First everything is read and checked, then files move: a broken archive changes nothing."""
    contents = read_archive(archive, plan.give_back, expected)
    for path in plan.paths():
        keep_aside(root, path, aside)
        if path in contents:
            _put(root, path, *contents[path])
        else:
            (root / path).unlink()
        remove_bytecode(root / path)


def keep_aside(root: Path, path: str, aside: Path) -> None:
    source, target = root / path, aside / path
    if not os.path.lexists(source):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    # A copy, not a move: the name below root is never without a file.
    shutil.copy2(str(source), str(target), follow_symlinks=False)
    if not source.is_symlink() and file_sha256(source) != file_sha256(target):
        raise ManifestError(f"{source} changed while it was copied to {target}. Stop what writes there, run again.")


def _put(root: Path, path: str, entry: Entry, data: bytes, mode: int) -> None:
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    owner = (target if os.path.lexists(target) else target.parent).lstat()
    temporary = _temporary_link(target, entry["link"]) if "link" in entry else _temporary_file(target, data, mode)
    try:
        with contextlib.suppress(PermissionError):  # only root may give a file to another account
            os.chown(temporary, owner.st_uid, owner.st_gid, follow_symlinks=False)
        temporary.replace(target)
    except BaseException:
        temporary.unlink()
        raise


def _temporary_file(target: Path, data: bytes, mode: int) -> Path:
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    with open(descriptor, "wb") as stream:
        stream.write(data)
        stream.flush()
        os.fchmod(stream.fileno(), mode)
        os.fsync(stream.fileno())
    return Path(name)


def _temporary_link(target: Path, destination: str) -> Path:
    temporary = target.with_name(f".{target.name}.link")
    with contextlib.suppress(FileNotFoundError):
        temporary.unlink()
    temporary.symlink_to(destination)
    return temporary


def remove_bytecode(source: Path) -> None:
    """A .pyc of the same size and second would be imported instead of the file that was just restored."""
    for stale in (source.parent / "__pycache__").glob(f"{source.stem}.*.pyc"):
        stale.unlink()

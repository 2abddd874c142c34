# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The journal of one transaction, and the way back from any point of it.

A transaction is committed by one rename, that of the manifest, which carries the transaction's id.
Before that instant the journal leads back to the old files, after it to the new ones.
"""

from __future__ import annotations

import contextlib
import os
import typing as t

from . import bytecode, files
from .errors import PatchError
from .paths import Target, read_file
from .store import Store, sha256


class Entry(t.TypedDict):
    """One file. `keep`: a second name of the old file beside it; `temporary`: the new file before its rename;
    `inode`: of the new file, known to the run itself only (a journal on disk is written before it)."""

    path: str
    key: str
    old: str | None
    new: str | None
    keep: str
    temporary: str
    in_place: bool
    inode: int | None


class Journal(t.TypedDict):
    """`made`: directories that the transaction creates in the tree; `emptied`: those of an earlier one which it
    may leave empty; `objects`: backups that it adds."""

    format: int
    id: str
    name: str
    pid: int
    entries: list[Entry]
    made: list[str]
    emptied: list[str]
    objects: list[str]


def target_of(store: Store, entry: Entry) -> Target:
    return Target(entry["path"], entry["key"], os.path.join(store.root, entry["key"]))


def beside(target: Target, name: str) -> str:
    return os.path.join(os.path.dirname(target.real), name)


def is_committed(store: Store, journal: Journal) -> bool:
    return bool(store.manifest().get("transaction") == journal["id"])


def settle(store: Store, journal: Journal) -> list[str]:
    """Finish what a journal describes; returns the paths that went back to their old content."""
    if is_committed(store, journal):
        _forget(store, journal, committed=True)
        return []
    returned = roll_back(store, journal)
    _forget(store, journal, committed=False)
    return returned


def roll_back(store: Store, journal: Journal) -> list[str]:
    """Give every file its old content; needs no free space, since the old file is kept beside the new one."""
    returned: list[str] = []
    problems: list[str] = []
    touched: set[str] = set()
    for entry in reversed(journal["entries"]):
        target = target_of(store, entry)
        try:
            if _restore(store, target, entry):
                returned.append(entry["path"])
                bytecode.drop(target.real)
            touched.add(os.path.dirname(target.real))
        except (PatchError, OSError) as error:
            problems.append(f"{entry['path']}: {error}")
    for directory in sorted(touched):
        if os.path.isdir(directory):
            files.sync_directory(directory)
    files.remove_directories([os.path.join(store.root, path) for path in journal["made"]])
    if problems:
        raise PatchError(
            "an interrupted transaction could not be taken back completely: "
            + "; ".join(problems)
            + f". The record of it is {store.journal_path}; the next run tries again",
            status="interrupted",
        )
    return sorted(returned)


def _restore(store: Store, target: Target, entry: Entry) -> bool:
    """True where the content of the file changed."""
    keep = beside(target, entry["keep"])
    files.remove(beside(target, entry["temporary"]))
    found = read_file(target)
    digest = None if found is None else sha256(found)
    if digest == entry["old"]:
        files.remove(keep)
        return False
    if digest != entry["new"] and not entry["in_place"] and not _is_ours(target, entry):
        raise PatchError(
            f"it changed since the interruption: sha256 {digest}, expected {entry['old']} or {entry['new']}"
        )
    if entry["old"] is None:
        files.remove(target.real)
    elif entry["in_place"]:
        files.write_in_place(target.real, store.get(entry["old"]))
    elif os.path.lexists(keep):
        os.rename(keep, target.real)
    else:
        files.create_file(keep, store.get(entry["old"]), like=target.real if found is not None else None)
        os.rename(keep, target.real)
    return True


def _is_ours(target: Target, entry: Entry) -> bool:
    """The very file that this run put there, though its content is not what was written: a failing disk."""
    return entry["inode"] is not None and os.path.lexists(target.real) and os.stat(target.real).st_ino == entry["inode"]


def _forget(store: Store, journal: Journal, *, committed: bool) -> None:
    """Remove what the transaction left: second names, backups that nothing refers to, the journal itself."""
    for entry in journal["entries"]:
        target = target_of(store, entry)
        for name in (entry["keep"], entry["temporary"]):
            files.remove(beside(target, name))
    if committed:
        paths = [os.path.join(store.root, path) for path in journal["emptied"]]
        files.remove_directories([*paths, *[os.path.join(path, "__pycache__") for path in paths]])
    used = {file["pristine"] for file in store.manifest()["files"].values()}
    for digest in journal["objects"]:
        if digest not in used:
            with contextlib.suppress(FileNotFoundError):
                files.remove(store.backup_path(digest))
                files.remove(store.backup_path(digest) + ".tmp")
    store.drop_journal()

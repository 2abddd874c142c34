# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The store: plain byte copies by content hash, and one manifest per tree.

    <store>/lock
    <store>/objects/<sha256>             a backup: the bytes of a file as they were
    <store>/trees/<id>/manifest.json     what is applied on one tree
    <store>/trees/<id>/journal.json      only while a transaction runs, or after one was killed

All of it is readable by its owner only.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import typing as t

from .errors import PatchError
from .files import create_file, make_directories, remove, remove_directories, replace_file, sync_directory
from .lock import held

FORMAT = 1


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class Store:
    """One store, seen from one tree (`root`: its real path)."""

    def __init__(self, directory: str, root: str) -> None:
        self.directory = os.path.abspath(directory)
        self.root = root
        self.objects = os.path.join(self.directory, "objects")
        self.tree = os.path.join(self.directory, "trees", sha256(os.fsencode(root))[:16])
        self.manifest_path = os.path.join(self.tree, "manifest.json")
        self.journal_path = os.path.join(self.tree, "journal.json")

    def check(self) -> None:
        """Refuse a store that others can write to: its backups would be put into the tree."""
        for path in (self.directory, self.objects, os.path.dirname(self.tree), self.tree):
            try:
                status = os.lstat(path)
            except FileNotFoundError:
                continue
            except OSError as error:
                raise PatchError(f"cannot use the store {self.directory}: {error.strerror}: {path}") from error
            if path == self.directory and stat.S_ISLNK(status.st_mode):
                continue
            if not stat.S_ISDIR(status.st_mode):
                raise PatchError(f"the store {self.directory} was tampered with: {path} is not a directory")
            if path != self.directory and (status.st_uid != os.geteuid() or status.st_mode & 0o022):
                raise PatchError(
                    f"the store {self.directory} cannot be trusted: {path} belongs to user {status.st_uid} with mode "
                    f"{stat.S_IMODE(status.st_mode):04o}, and only user {os.geteuid()} may write to it"
                )

    def create(self) -> list[str]:
        """Make the directories; returns those that are new."""
        created: list[str] = []
        try:
            for path in (self.directory, self.objects, self.tree):
                created.extend(make_directories(path))
        except OSError as error:
            remove_directories(created)
            raise PatchError(f"cannot create the store {self.directory}: {error.strerror}: {error.filename}") from error
        return created

    def locked(self, timeout_seconds: float) -> t.ContextManager[None]:
        return held(os.path.join(self.directory, "lock"), "the store", timeout_seconds, create=True)

    # ---- backups ---------------------------------------------------------------------------------
    def backup_path(self, digest: str) -> str:
        return os.path.join(self.objects, digest)

    def put(self, data: bytes) -> str | None:
        """Keep bytes; the digest where they were not there yet. An object is never overwritten."""
        digest = sha256(data)
        path = self.backup_path(digest)
        if os.path.exists(path):
            self.get(digest)
            return None
        temporary = path + ".tmp"
        remove(temporary)
        create_file(temporary, data)
        os.rename(temporary, path)
        return digest

    def sync_objects(self) -> None:
        sync_directory(self.objects)

    def get(self, digest: str) -> bytes:
        path = self.backup_path(digest)
        try:
            with open(path, "rb") as file:
                data = file.read()
        except OSError as error:
            raise PatchError(f"the backup {path} cannot be read: {error.strerror}") from error
        if sha256(data) != digest:
            raise PatchError(
                f"the backup {path} was tampered with: its content has sha256 {sha256(data)}; nothing was changed"
            )
        return data

    # ---- records ---------------------------------------------------------------------------------
    def manifest(self) -> dict[str, t.Any]:
        found = read_record(self.manifest_path)
        if found is None:
            return {"format": FORMAT, "root": self.root, "transaction": None, "patches": {}, "files": {}}
        if found.get("format") != FORMAT or found.get("root") != self.root:
            raise PatchError(
                f"{self.manifest_path} is of format {found.get('format')} for {found.get('root')}; "
                f"expected format {FORMAT} for {self.root}"
            )
        return found

    def write_manifest(self, manifest: dict[str, t.Any]) -> None:
        replace_file(self.manifest_path, record(manifest))

    def journal(self) -> dict[str, t.Any] | None:
        return read_record(self.journal_path)

    def write_journal(self, journal: dict[str, t.Any]) -> None:
        replace_file(self.journal_path, record(journal))

    def drop_journal(self) -> None:
        if remove(self.journal_path):
            sync_directory(self.tree)

    def sweep(self) -> None:
        """Remove half-written records: a kill before their rename leaves nothing else behind."""
        for path in (self.journal_path, self.manifest_path):
            if os.path.lexists(path + ".tmp"):
                remove(path + ".tmp")

    # ---- pruning ---------------------------------------------------------------------------------
    def prune(self) -> int:
        """Remove the backups that no tree refers to, and the records of trees that are gone."""
        trees = os.path.dirname(self.tree)
        used: set[str] = set()
        for name in sorted(os.listdir(trees)):
            directory = os.path.join(trees, name)
            if os.path.exists(os.path.join(directory, "journal.json")):
                return 0
            manifest = read_record(os.path.join(directory, "manifest.json"))
            if manifest is None:
                continue
            if directory != self.tree and not os.path.lexists(manifest["root"]):
                remove(os.path.join(directory, "manifest.json"))
                os.rmdir(directory)
                continue
            used.update([file["pristine"] for file in manifest["files"].values() if file["pristine"]])
        unused = [name for name in os.listdir(self.objects) if name not in used]
        for name in unused:
            remove(os.path.join(self.objects, name))
        return len(unused)


def record(content: dict[str, t.Any]) -> bytes:
    """A record of the store as bytes, with its own hash."""
    body = json.dumps(content, sort_keys=True)
    return json.dumps({"sha256": sha256(body.encode()), "content": content}, sort_keys=True, indent=1).encode() + b"\n"


def read_record(path: str) -> dict[str, t.Any] | None:
    """None where there is none; refuses one that does not carry its own hash."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise PatchError(f"cannot read {path}: {error.strerror}") from error
    try:
        found = json.loads(data)
        content: dict[str, t.Any] = found["content"]
        if sha256(json.dumps(content, sort_keys=True).encode()) == found["sha256"]:
            return content
    except (ValueError, KeyError, TypeError):
        pass
    raise PatchError(f"{path} was tampered with: it does not carry the hash of its content; nothing was changed")

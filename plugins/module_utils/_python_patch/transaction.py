# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bring several files to new content: all of them, or none."""

from __future__ import annotations

import errno
import os
import secrets
import shlex
import subprocess
import typing as t

from . import bytecode, files
from .errors import PatchError
from .journal import Entry, Journal, beside, settle
from .paths import Target, missing_directories, read_file
from .store import FORMAT, Store, sha256

# A rename that the file system refuses for the file itself: a bind mount, another device, a foreign directory.
_NO_RENAME = frozenset({errno.EBUSY, errno.EXDEV, errno.EACCES, errno.EPERM, errno.EROFS})
OLD_STATE = "every file has its old content"


class Change(t.NamedTuple):
    """`old` and `new` are contents; None: the file does not exist."""

    target: Target
    old: bytes | None
    new: bytes | None


class Transaction:
    """Runs under the locks of tree and store; `manifest` is what holds once all files are new."""

    def __init__(
        self,
        store: Store,
        name: str,
        changes: t.Sequence[Change],
        manifest: dict[str, t.Any],
        *,
        validate: t.Sequence[str] = (),
        unsafe_writes: bool = False,
    ) -> None:
        self.store = store
        self.changes = changes
        self.manifest = manifest
        self.validate = [_command(command) for command in validate]
        self.unsafe_writes = unsafe_writes
        mark = secrets.token_hex(6)
        self.manifest["transaction"] = mark
        self.journal = Journal(
            format=FORMAT,
            id=mark,
            name=name,
            pid=os.getpid(),
            entries=[_entry(change, f".inferops-{mark}-{number}") for number, change in enumerate(changes)],
            made=[],
            emptied=[],
            objects=[],
        )
        known = store.manifest()["files"]
        for change in changes:
            if change.new is None:
                self.journal["emptied"].extend(known.get(change.target.key, {}).get("made", []))
            missing = missing_directories(store.root, change.target) if change.new is not None else []
            self.journal["made"].extend([path for path in missing if path not in self.journal["made"]])
        self.journal["objects"] = sorted(
            {sha256(change.old) for change in changes if change.old is not None} - set(_listed(store.objects))
        )

    def run(self) -> list[str]:
        """Warnings. Raises PatchError with the old state restored."""
        before = self.store.manifest()
        try:
            self._prepare()
            self._exchange()
            self._verify()
            _validate(self.store.root, self.validate)
            self.store.write_manifest(self.manifest)
        except BaseException as error:
            self._undo(before, error)
            raise
        try:
            settle(self.store, self.journal)
        except (OSError, PatchError) as error:
            return [f"the patch is in place, but cleaning up is left to the next run: {error}"]
        return []

    def _prepare(self) -> None:
        """Everything that needs space: afterwards only names change."""
        self.store.write_journal(t.cast("dict[str, t.Any]", self.journal))
        for change in self.changes:
            if change.old is not None:
                self.store.put(change.old)
        self.store.sync_objects()
        for path in self.journal["made"]:
            self._make_directory(os.path.join(self.store.root, path))
        for change, entry in zip(self.changes, self.journal["entries"]):
            if change.new is not None:
                self._write_temporary(change, entry)

    def _make_directory(self, path: str) -> None:
        owner = files.owner_in(os.path.dirname(path))
        os.mkdir(path, 0o700)
        files.give(path, owner)
        files.sync_directory(os.path.dirname(path))

    def _write_temporary(self, change: Change, entry: Entry) -> None:
        real = change.target.real
        path = beside(change.target, entry["temporary"])
        new = t.cast(bytes, change.new)
        if change.old is None:
            owner = files.owner_in(os.path.dirname(real))
            files.create_file(path, new, owner=owner._replace(mode=owner.mode & 0o666))
            return
        try:
            files.create_file(path, new, like=real)
        except OSError as error:
            if not self._may_write_in_place(error):
                raise
            self._mark_in_place(entry)

    def _may_write_in_place(self, error: OSError) -> bool:
        return self.unsafe_writes and error.errno in _NO_RENAME

    def _mark_in_place(self, entry: Entry) -> None:
        """On disk before the file is touched: half-written content must be known as ours."""
        entry["in_place"] = True
        self.store.write_journal(t.cast("dict[str, t.Any]", self.journal))

    def _exchange(self) -> None:
        for change, entry in zip(self.changes, self.journal["entries"]):
            self._refuse_if_changed(change)
            keep = beside(change.target, entry["keep"])
            if change.new is None:
                os.rename(change.target.real, keep)
            elif not entry["in_place"]:
                if change.old is not None:
                    _keep(change, keep)
                self._rename(change, entry)
            if entry["in_place"]:
                files.write_in_place(change.target.real, t.cast(bytes, change.new))
        for directory in sorted({os.path.dirname(change.target.real) for change in self.changes}):
            files.sync_directory(directory)

    def _refuse_if_changed(self, change: Change) -> None:
        if read_file(change.target) != change.old:
            raise PatchError(f"{change.target.path}: another process changed it during this run", status="drifted")

    def _rename(self, change: Change, entry: Entry) -> None:
        temporary = beside(change.target, entry["temporary"])
        entry["inode"] = os.stat(temporary).st_ino
        try:
            os.rename(temporary, change.target.real)
        except OSError as error:
            if self._may_write_in_place(error):
                self._mark_in_place(entry)
                return
            if error.errno == errno.EBUSY:
                raise PatchError(
                    f"{change.target.path}: {change.target.real} cannot be replaced by a rename "
                    f"({error.strerror}; a bind mount?); unsafe_writes=true writes it in place, without atomicity"
                ) from error
            raise

    def _verify(self) -> None:
        """From disk: every file is what was proved, and no old bytecode can stand in for it."""
        for change in self.changes:
            if read_file(change.target) != change.new:
                raise PatchError(f"{change.target.path}: proof failed: read back from disk it is not what was written")
            bytecode.drop(change.target.real)

    def _undo(self, before: dict[str, t.Any], error: BaseException) -> None:
        try:
            if self.store.manifest().get("transaction") == self.journal["id"]:
                self.store.write_manifest(before)
            settle(self.store, self.journal)
        except (OSError, PatchError) as second:
            raise PatchError(
                f"{describe(error)}. Then taking it back failed: {describe(second)}. "
                "The next run of python_patch on this tree takes it back",
                status="interrupted",
            ) from error
        if isinstance(error, OSError):
            raise PatchError(f"{describe(error)}; {OLD_STATE}") from error


def _entry(change: Change, stem: str) -> Entry:
    return Entry(
        path=change.target.path,
        key=change.target.key,
        old=None if change.old is None else sha256(change.old),
        new=None if change.new is None else sha256(change.new),
        keep=stem + ".old",
        temporary=stem + ".new",
        in_place=False,
        inode=None,
    )


def _listed(directory: str) -> list[str]:
    return os.listdir(directory) if os.path.isdir(directory) else []


def _keep(change: Change, keep: str) -> None:
    """A second name for the old file; where the file system has no hard links, a copy."""
    try:
        os.link(change.target.real, keep, follow_symlinks=False)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.EMLINK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EACCES, errno.EXDEV):
            raise
        files.create_file(keep, t.cast(bytes, change.old), like=change.target.real)


def describe(error: BaseException) -> str:
    if isinstance(error, OSError):
        places = [str(name) for name in (error.filename, error.filename2) if name]
        return ": ".join([error.strerror or str(error), *places])
    return str(error) or type(error).__name__


def _command(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise PatchError(f"validate: {command!r}: {error}") from error
    if not words:
        raise PatchError("validate: a command is empty")
    return words


def _validate(root: str, commands: t.Sequence[list[str]]) -> None:
    """Commands of the recipe, never through a shell; no bytecode of a tree that may go back is written."""
    environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
    for words in commands:
        shown = shlex.join(words)
        try:
            result = subprocess.run(
                words,
                cwd=root,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                check=False,
            )
        except OSError as error:
            raise PatchError(f"validate: `{shown}` cannot run: {describe(error)}; {OLD_STATE}") from error
        if result.returncode:
            tail = result.stdout.decode("utf-8", "replace").strip()[-2000:]
            raise PatchError(f"validate: `{shown}` failed with {result.returncode}; {OLD_STATE}. Output: {tail}")

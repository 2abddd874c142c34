# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Durable file operations. Everything that changes the disk goes through here."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import typing as t

from .errors import PatchError

_NO_XATTR = frozenset({errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL})


class Owner(t.NamedTuple):
    uid: int
    gid: int
    mode: int


def write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def sync_directory(directory: str) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def create_file(path: str, data: bytes, like: str | None = None, owner: Owner | None = None) -> None:
    """A new file, on disk when this returns; `like`: takes owner, mode, ACL and labels of that file."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        try:
            write_all(descriptor, data)
            if like is not None:
                copy_metadata(like, descriptor)
            elif owner is not None:
                give(descriptor, owner)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except BaseException:
        remove(path)
        raise


def replace_file(path: str, data: bytes) -> None:
    """Write a file of the store: atomically, and on disk when this returns."""
    temporary = path + ".tmp"
    remove(temporary)
    create_file(temporary, data)
    try:
        os.rename(temporary, path)
    except BaseException:
        remove(temporary)
        raise
    sync_directory(os.path.dirname(path))


def write_in_place(path: str, data: bytes) -> None:
    """Overwrite the bytes of a file that cannot be renamed over. Not atomic."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        write_all(descriptor, data)
        os.ftruncate(descriptor, len(data))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove(path: str) -> bool:
    """Remove a file that may not be there; asks first, since a read-only file system refuses even that."""
    if not os.path.lexists(path):
        return False
    os.unlink(path)
    return True


def make_directories(path: str, mode: int = 0o700) -> list[str]:
    """Create a directory and what is missing above it; returns what was created, outermost first."""
    missing: list[str] = []
    while not os.path.isdir(path):
        missing.append(path)
        path = os.path.dirname(path)
    created: list[str] = []
    for directory in reversed(missing):
        try:
            os.mkdir(directory, mode)
        except FileExistsError:
            continue
        created.append(directory)
        sync_directory(os.path.dirname(directory))
    return created


def remove_directories(directories: t.Sequence[str]) -> None:
    """Remove directories that are empty, innermost first."""
    for directory in reversed(directories):
        with contextlib.suppress(OSError):
            os.rmdir(directory)


def copy_metadata(source: str, descriptor: int) -> None:
    """Owner, mode, ACL, SELinux label and other extended attributes; refuses what it cannot keep."""
    wanted = os.stat(source)
    found = os.fstat(descriptor)
    if (wanted.st_uid, wanted.st_gid) != (found.st_uid, found.st_gid):
        try:
            os.fchown(
                descriptor,
                wanted.st_uid if wanted.st_uid != found.st_uid else -1,
                wanted.st_gid if wanted.st_gid != found.st_gid else -1,
            )
        except PermissionError as error:
            raise PatchError(
                f"{source}: it belongs to user {wanted.st_uid} and group {wanted.st_gid}, which user {os.geteuid()} "
                "cannot keep; run as the owner or as root (become)"
            ) from error
    os.fchmod(descriptor, stat.S_IMODE(wanted.st_mode))
    _copy_attributes(source, descriptor)


def _copy_attributes(source: str, descriptor: int) -> None:
    if not hasattr(os, "listxattr"):
        return
    try:
        names = os.listxattr(source)
    except OSError as error:
        if error.errno in _NO_XATTR:
            return
        raise
    for name in set(os.listxattr(descriptor)) - set(names):
        # A default ACL of the directory is not the file's own.
        os.removexattr(descriptor, name)
    for name in names:
        value = os.getxattr(source, name)
        try:
            os.setxattr(descriptor, name, value)
        except OSError as error:
            if error.errno in _NO_XATTR or _has(descriptor, name, value):
                continue
            raise PatchError(f"{source}: its attribute {name} cannot be kept: {error.strerror}") from error


def _has(descriptor: int, name: str, value: bytes) -> bool:
    try:
        return os.getxattr(descriptor, name) == value
    except OSError:
        return False


def owner_in(directory: str) -> Owner:
    """What a new file or directory takes from the directory it is made in."""
    status = os.stat(directory)
    return Owner(status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode) & 0o777)


def give(path: str | int, owner: Owner) -> None:
    """Mode, and owner where we may, of something new."""
    if os.geteuid() == 0:
        os.chown(path, owner.uid, owner.gid)
    os.chmod(path, owner.mode)

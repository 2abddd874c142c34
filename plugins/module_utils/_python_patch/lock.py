# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One writer at a time: flock on the tree's own directory (no file is left there) and on the store's lock file."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import time
import typing as t

from .errors import PatchError

_UNSUPPORTED = frozenset({errno.EBADF, errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS})
_PAUSE_SECONDS = 0.1
# A lock whose holder is not in the list was given back a moment ago; where that stays so, the holder cannot be seen.
_GRACE_SECONDS = 0.5


@contextlib.contextmanager
def held(
    path: str, what: str, timeout_seconds: float, *, shared: bool = False, create: bool = False
) -> t.Iterator[None]:
    """Hold the lock on a directory or file; waits up to a limit, then names the holder."""
    flags = os.O_CLOEXEC | (os.O_RDWR | os.O_CREAT if create else os.O_RDONLY)
    try:
        descriptor = os.open(path, flags, 0o600)
    except OSError as error:
        raise PatchError(f"cannot lock {what} {path}: {error.strerror}") from error
    try:
        _acquire(descriptor, path, what, timeout_seconds, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _acquire(descriptor: int, path: str, what: str, timeout_seconds: float, kind: int) -> None:
    deadline = time.monotonic() + timeout_seconds
    while True:
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            pass
        except OSError as error:
            if error.errno in _UNSUPPORTED:
                # Some network file systems lock no directories; the store's lock still holds.
                return
            raise PatchError(f"cannot lock {what} {path}: {error.strerror}") from error
        late = time.monotonic() - deadline
        by = holder(descriptor) if late >= 0 else None
        if by is not None or late >= _GRACE_SECONDS:
            by = by or "a process that cannot be seen from here"
            raise PatchError(
                f"{what} {path} is locked by {by}; waited {timeout_seconds:g} seconds "
                "(lock_timeout_seconds). Let that run end, then run again"
            )
        time.sleep(_PAUSE_SECONDS)


def holder(descriptor: int) -> str | None:
    """The process that holds a lock, from the kernel's own list; None where that names nobody."""
    status = os.fstat(descriptor)
    wanted = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
    try:
        with open("/proc/locks", encoding="ascii", errors="replace") as file:
            for line in file:
                fields = line.split()
                # 1: FLOCK  ADVISORY  WRITE 4711 08:01:1234 0 EOF; waiters have -> in the second field.
                if len(fields) > 5 and fields[1] == "FLOCK" and fields[5] == wanted:
                    return _process(fields[4])
    except OSError:
        pass
    return None


def _process(pid: str) -> str:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            command = file.read().replace(b"\0", b" ").decode("utf-8", "replace").strip()
    except OSError:
        command = ""
    return f"process {pid}" + (f" ({command[:120]})" if command else "")

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""May another account reach a path? Asked of the kernel where possible, so access control lists count too."""

from __future__ import annotations

import json
import os
import pwd
import stat
import typing as t
from pathlib import Path


def accessible(path: Path) -> str:
    """Empty when this process may read `path`; else the first part of the way that stops it, and how."""
    for part in [*reversed(path.parents), path]:
        try:
            mode = part.stat().st_mode
        except OSError as error:
            return f"{part}: {error.strerror}"
        if stat.S_ISDIR(mode) and not os.access(part, os.X_OK):
            return f"{part} may not be entered (mode {stat.S_IMODE(mode):04o})"
    return "" if os.access(path, os.R_OK) else f"{path} may not be read (mode {stat.S_IMODE(path.stat().st_mode):04o})"


def accessible_to_others(path: Path) -> str:
    """The same for an account that does not exist yet: only the bits for others can be counted on."""
    for part in [*reversed(path.parents), path]:
        try:
            mode = part.stat().st_mode
        except OSError as error:
            return f"{part}: {error.strerror}"
        if stat.S_ISDIR(mode) and not mode & stat.S_IXOTH:
            return f"{part} may not be entered (mode {stat.S_IMODE(mode):04o})"
    mode = path.stat().st_mode
    return "" if mode & stat.S_IROTH else f"{path} may not be read (mode {stat.S_IMODE(mode):04o})"


def account(user: str) -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam(user)
    except KeyError:
        return None


def blocked(paths: t.Sequence[Path], user: str) -> str:
    """What keeps `user` from reading any of `paths`; empty when nothing does.

    Without root it is asked for the account that runs the play, which then is the one that serves.
    """
    if os.geteuid() != 0 or user == "root":
        return _first(accessible(path) for path in paths)
    entry = account(user)
    if entry is None:
        return _first(accessible_to_others(path) for path in paths)
    return _as_account(entry, paths)


def _first(answers: t.Iterable[str]) -> str:
    return next((answer for answer in answers if answer), "")


def _as_account(entry: pwd.struct_passwd, paths: t.Sequence[Path]) -> str:
    """Ask in a child process that has become the account."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        answer = "the question could not be asked"
        try:
            os.setgroups(os.getgrouplist(entry.pw_name, entry.pw_gid))
            os.setgid(entry.pw_gid)
            os.setuid(entry.pw_uid)
            answer = _first(accessible(path) for path in paths)
        except OSError as error:
            answer = f"could not become {entry.pw_name}: {error.strerror}"
        finally:
            os.write(writer, json.dumps(answer).encode("utf-8"))
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return str(json.loads(said))

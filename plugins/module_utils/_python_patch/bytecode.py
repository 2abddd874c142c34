# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiled files that Python could import instead of a source that changed.

A pyc is taken as fresh by the source's size and whole-second time, or by nothing at all
(unchecked hash, PEP 552). So what belongs to a changed source is removed.
"""

from __future__ import annotations

import glob
import os
import sys

from .errors import PatchError
from .files import sync_directory

_UNCHECKED_HASH = 1


def candidates(source: str) -> list[str]:
    """Every pyc of a source file, of all Pythons and optimization levels, beside it and below a cache prefix."""
    if not source.endswith(".py"):
        return []
    directory, name = os.path.split(source)
    stem = glob.escape(name[: -len(".py")])
    caches = [os.path.join(directory, "__pycache__")]
    for prefix in {sys.pycache_prefix, os.environ.get("PYTHONPYCACHEPREFIX")}:
        if prefix:
            caches.append(os.path.join(os.path.abspath(prefix), directory.lstrip("/")))
    found: list[str] = []
    for cache in caches:
        found.extend(glob.glob(os.path.join(glob.escape(cache), stem + ".*.pyc")))
    return sorted(found)


def drop(source: str) -> None:
    """Remove the bytecode of a source that has just changed or gone."""
    directories: set[str] = set()
    for path in candidates(source):
        try:
            os.unlink(path)
            directories.add(os.path.dirname(path))
        except FileNotFoundError:
            continue
        except OSError as error:
            if _could_be_imported(path, source):
                raise PatchError(
                    f"{source}: its old bytecode {path} would still be imported and cannot be removed: {error.strerror}"
                ) from error
    for directory in sorted(directories):
        sync_directory(directory)


def _could_be_imported(path: str, source: str) -> bool:
    """Whether Python would take this pyc as fresh for the source as it is now."""
    try:
        with open(path, "rb") as file:
            header = file.read(16)
        status = os.stat(source)
    except OSError:
        return False
    flags = int.from_bytes(header[4:8], "little")
    if flags:
        return not flags & 2 and bool(flags & _UNCHECKED_HASH)
    modified = int.from_bytes(header[8:12], "little")
    size = int.from_bytes(header[12:16], "little")
    return modified == int(status.st_mtime) & 0xFFFFFFFF and size == status.st_size & 0xFFFFFFFF

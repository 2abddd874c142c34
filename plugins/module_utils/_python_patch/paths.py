# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths of a recipe, kept inside the tree."""

from __future__ import annotations

import os
import stat
import typing as t

from .errors import PatchError


class Target(t.NamedTuple):
    """`path` as given; `key`: the real file, relative to the real root, its identity in the manifest."""

    path: str
    key: str
    real: str


def real_root(root: str) -> str:
    real = os.path.realpath(root)
    if not os.path.isdir(real):
        raise PatchError(f"root {root} is not a directory on this host")
    return real


def inside(root: str, path: str) -> bool:
    return path == root or path.startswith(root.rstrip("/") + "/")


def resolve(root: str, path: str) -> Target:
    """The real file behind a path; symlinks are followed as long as they stay inside the tree."""
    parts = path.split("/")
    if not path or "\0" in path or path.startswith("/") or ".." in parts:
        raise PatchError(f"{path}: a path is relative to root ({root}) and may not leave it")
    full = os.path.join(root, os.path.normpath(path))
    real = os.path.realpath(full)
    if not inside(root, real) or real == root:
        raise PatchError(f"{path}: it leads to {real}, which is outside root ({root})")
    if os.path.islink(full) and not os.path.exists(full):
        raise PatchError(f"{path}: it is a symbolic link to {real}, which does not exist")
    return Target(path, os.path.relpath(real, root), real)


def read_file(target: Target) -> bytes | None:
    """The bytes of a regular file, None where there is none."""
    try:
        descriptor = os.open(target.real, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise PatchError(f"{target.path}: cannot read {target.real}: {error.strerror}") from error
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise PatchError(f"{target.path}: {target.real} is not a regular file")
        with open(descriptor, "rb", closefd=False) as file:
            return file.read()
    except OSError as error:
        raise PatchError(f"{target.path}: cannot read {target.real}: {error.strerror}") from error
    finally:
        os.close(descriptor)


def missing_directories(root: str, target: Target) -> list[str]:
    """Directories that a new file needs, relative to root, outermost first."""
    missing: list[str] = []
    directory = os.path.dirname(target.real)
    while not os.path.isdir(directory):
        missing.insert(0, os.path.relpath(directory, root))
        directory = os.path.dirname(directory)
    return missing


def way_back(root: str, target: Target) -> str:
    """How a person gets the pristine bytes of a file back that we have no backup of."""
    directory = os.path.dirname(target.real)
    while inside(root, directory) or os.path.dirname(root) == directory:
        if os.path.exists(os.path.join(directory, ".git")):
            return f"`git -C {directory} checkout -- {os.path.relpath(target.real, directory)}`"
        directory = os.path.dirname(directory)
    package = _distribution(root, target.key)
    if package:
        return f"reinstall the wheel: `pip install --force-reinstall --no-deps {package}`"
    return "`git checkout -- FILE` in a checkout; else reinstall the wheel, or unpack or build the release anew"


def _distribution(root: str, key: str) -> str | None:
    """`name==version` of the installed wheel that owns a file."""
    package = key.split("/")[0]
    for name in sorted(os.listdir(root)):
        if name.endswith(".dist-info") and name.replace("-", "_").lower().startswith(package.lower() + "_"):
            stem = name[: -len(".dist-info")]
            return "==".join(stem.rsplit("-", 1))
    return None

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a source tree of SGLang says about itself, read and never imported."""

from __future__ import annotations

import ast
import subprocess
import typing as t
from pathlib import Path

PACKAGE = "sglang"
# Where the package lies below a directory that people may name instead of the root.
NEARBY = ("python", "src", "src/python", "src/sglang/python")
GIT_TIMEOUT_SECONDS = 30


class Tree(t.NamedTuple):
    """`package` is empty where the root holds none; `version` is empty where nothing states it."""

    package: str
    version: str
    version_source: str
    nearby: list[str]


def read_tree(root: Path) -> Tree:
    """The package below `root` and its version, from the first place that states one."""
    package = root / PACKAGE
    if not (package / "__init__.py").is_file():
        return Tree("", "", "", roots_near(root))
    for read in (version_from_literal, version_from_metadata, version_from_git):
        version, source = read(root)
        if version:
            return Tree(str(package), version, source, [])
    return Tree(str(package), "", "", [])


def roots_near(root: Path) -> list[str]:
    """Directories close to `root` that do hold the package: its parent, or the usual places in a checkout."""
    candidates = [root.parent, *(root / name for name in NEARBY)]
    return [str(path) for path in candidates if (path / PACKAGE / "__init__.py").is_file()]


def version_from_literal(root: Path) -> tuple[str, str]:
    """`__version__ = "…"` at the top level of _version.py (setuptools_scm writes it) or version.py.

    Newer version.py files compute it and keep literals for the case that they cannot: those stand deeper.
    """
    for name in (f"{PACKAGE}/_version.py", f"{PACKAGE}/version.py"):
        try:
            module = ast.parse((root / name).read_bytes())
        except (OSError, SyntaxError, ValueError):
            continue
        for node in module.body:
            if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Constant):
                continue
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            if "__version__" in names and isinstance(node.value.value, str):
                return node.value.value, name
    return "", ""


def version_from_metadata(root: Path) -> tuple[str, str]:
    """The field Version of the metadata beside the package: installed, unpacked or built in place."""
    found = [
        *sorted(root.glob(f"{PACKAGE}-*.dist-info/METADATA")),
        *sorted(root.glob(f"{PACKAGE}.egg-info/PKG-INFO")),
        root / "PKG-INFO",
    ]
    for path in found:
        try:
            lines = path.read_text("utf-8", "replace").splitlines()
        except OSError:
            continue
        header = lines[: lines.index("")] if "" in lines else lines
        fields = dict(line.split(": ", 1) for line in header if ": " in line)
        if fields.get("Name", "").lower() == PACKAGE and fields.get("Version"):
            return fields["Version"], str(path.relative_to(root))
    return "", ""


def version_from_git(root: Path) -> tuple[str, str]:
    """The release tag of the commit that is checked out, where git tracks this very package.

    Behind a tag, or in a shallow clone that has none, the version is unknown. Without the first check the tag of
    any repository that happens to lie around the tree would count.
    """
    if _git(root, "ls-files", "--error-unmatch", f"{PACKAGE}/__init__.py") is None:
        return "", ""
    tag = _git(root, "describe", "--tags", "--exact-match", "--match", "v[0-9]*")
    return (tag[1:], f"git tag {tag}") if tag else ("", "")


def _git(root: Path, *arguments: str) -> str | None:
    # The tree may belong to another account, which git refuses unless told.
    argv = ["git", "-c", "safe.directory=*", "-C", str(root), *arguments]
    try:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=GIT_TIMEOUT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else None

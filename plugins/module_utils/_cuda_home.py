# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One CUDA_HOME out of NVIDIA's wheels.

The wheels unpack to `nvidia/cu13/{bin,include,lib,nvvm}` (CUDA 13) or to one such tree per component (CUDA 12:
`nvidia/cuda_runtime/...`). nvcc finds everything relative to the directory that it is called in, so it must be a
real file beside real siblings: a link to it alone does not work. Compilers and flashinfer look in `lib64`, and link
`-lcudart`, for which the wheels have no name.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import typing as t
from pathlib import Path

MARKER = "toolkit.json"
_DIRECTORY = re.compile(r"^(?P<name>.+)-(?P<version>[^-]+)\.dist-info$")
_LIBRARY = re.compile(r"^(?P<link>lib\w+\.so)\.\d[\d.]*$")


class ToolkitError(Exception):
    """The wheels hold no usable toolkit."""


def read_marker(home: Path) -> dict[str, t.Any]:
    """What a complete CUDA_HOME of ours says about itself, else empty."""
    try:
        marker = json.loads((home / MARKER).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return marker if isinstance(marker, dict) and os.access(home / "bin/nvcc", os.X_OK) else {}


def packages_in(site: Path) -> dict[str, str]:
    """Installed distributions and their versions."""
    found = filter(None, (_DIRECTORY.match(path.name) for path in site.iterdir()))
    return {match["name"].replace("_", "-"): match["version"] for match in sorted(found, key=lambda m: m["name"])}


def component_trees(site: Path) -> list[Path]:
    """The trees to merge: every directory below `nvidia` that holds a part of a toolkit."""
    parts = {"bin", "include", "lib", "nvvm"}
    return [path for path in sorted((site / "nvidia").glob("*/")) if any((path / part).is_dir() for part in parts)]


def merge(source: Path, into: Path) -> None:
    """Move everything below `source` into `into`; what is there already stays."""
    into.mkdir(parents=True, exist_ok=True)
    for entry in sorted(source.iterdir()):
        target = into / entry.name
        if entry.is_dir() and not entry.is_symlink():
            merge(entry, target)
        elif not os.path.lexists(target):
            entry.replace(target)


def add_links(home: Path) -> None:
    """lib64, and for each `libx.so.13` the name that `-lx` looks for."""
    libraries = home / "lib"
    for path in sorted(libraries.glob("lib*.so.*")) if libraries.is_dir() else []:
        match = _LIBRARY.match(path.name)
        if match and not os.path.lexists(libraries / match["link"]):
            (libraries / match["link"]).symlink_to(path.name)
    if libraries.is_dir() and not os.path.lexists(home / "lib64"):
        (home / "lib64").symlink_to("lib")


def assemble(site: Path, dest: Path, version: str) -> dict[str, t.Any]:
    """Turn `site` (wheels unpacked by pip or uv, on the file system of `dest`) into the CUDA_HOME `dest`.

    `dest` appears with one rename, complete with its marker. Returns the marker.
    """
    packages = packages_in(site)
    home = site.parent / "home"
    for tree in component_trees(site):
        merge(tree, home)
    nvcc = home / "bin/nvcc"
    if not nvcc.is_file():
        names = ", ".join(f"{name} {number}" for name, number in packages.items()) or "none"
        raise ToolkitError(f"these wheels bring no bin/nvcc: {names}")
    nvcc.chmod(0o755)
    add_links(home)
    for licence in sorted(site.glob("*.dist-info")):
        merge(licence, home / "share/doc" / licence.name)
    marker = {"version": version, "packages": packages}
    (home / MARKER).write_text(json.dumps(marker, indent=2) + "\n", encoding="utf-8")
    if dest.exists():
        shutil.rmtree(dest)  # incomplete: without marker or without nvcc
    home.replace(dest)
    return marker

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The model's directory on disk: complete or as it was."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import typing as t
from pathlib import Path

from ansible_collections.inferops.blackwell.plugins.module_utils._tiny_model.model import FORMAT, as_json, model_files

MARKER = ".tiny_model.json"


class ForeignModelError(Exception):
    """The directory holds something that this module did not make."""


def read_marker(path: Path) -> dict[str, t.Any]:
    try:
        marker = json.loads((path / MARKER).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return marker if isinstance(marker, dict) else {}


def present_digests(path: Path, names: t.Iterable[str]) -> dict[str, str]:
    """sha256 of those files that exist."""
    return {name: hashlib.sha256((path / name).read_bytes()).hexdigest() for name in names if (path / name).is_file()}


def is_current(path: Path, seed: int) -> bool:
    """Whether the directory holds this seed's model, every byte of it; makes no weights to find out."""
    marker = read_marker(path)
    files = marker.get("files")
    return (
        isinstance(files, dict)
        and (marker.get("format"), marker.get("seed")) == (FORMAT, seed)
        and present_digests(path, files) == files
    )


def refuse_foreign(path: Path) -> None:
    if path.is_dir() and any(path.iterdir()) and not (path / MARKER).is_file():
        raise ForeignModelError(
            f"{path} is not empty and holds no model of this module (no {MARKER}): it is left alone. "
            "Give another path, or, to serve what is there, use it as it is."
        )


def make(seed: int) -> tuple[dict[str, bytes], dict[str, t.Any]]:
    """The files, and the marker that vouches for them."""
    files = model_files(seed)
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    return files, {"format": FORMAT, "seed": seed, "files": digests}


def write(path: Path, files: dict[str, bytes], marker: dict[str, t.Any]) -> None:
    """Everything beside `path` first, then one rename."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for abandoned in path.parent.glob(f".{path.name}.new-*"):  # of a run that was killed
        shutil.rmtree(abandoned, ignore_errors=True)
    staging = Path(tempfile.mkdtemp(prefix=f".{path.name}.new-", dir=path.parent))
    try:
        for name, content in {**files, MARKER: as_json(marker)}.items():
            (staging / name).write_bytes(content)
            (staging / name).chmod(0o644)
        staging.chmod(0o755)
        if path.exists():
            old = Path(tempfile.mkdtemp(prefix=f".{path.name}.new-", dir=path.parent))
            path.replace(old)
            staging.replace(path)
            shutil.rmtree(old, ignore_errors=True)
        else:
            staging.replace(path)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise

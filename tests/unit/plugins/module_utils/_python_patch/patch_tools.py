# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Small tools for the engine's tests: one source and its edits, and one tree with its store."""

from __future__ import annotations

import hashlib
import os
import sys
import typing as t
from pathlib import Path

import pytest
from ansible_collections.inferops.blackwell.plugins.module_utils._python_patch import engine, plan, recipe, report
from ansible_collections.inferops.blackwell.plugins.module_utils._python_patch.errors import PatchError

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "bed"))

from sampling import PROOF as PROOF  # noqa: E402
from sampling import sample as sample  # noqa: E402


def edit(source: str | bytes, *edits: dict[str, t.Any], expect: t.Sequence[dict[str, t.Any]] = ()) -> t.Any:
    """The result of edits on one source, bytes where the source is bytes."""
    data = source.encode() if isinstance(source, str) else source
    raw = {"path": "m.py", "edits": list(edits), "expect": list(expect)}
    layer = plan.Layer("test", recipe.parse_file(raw), fresh=True)
    result = plan.compose("m.py", data, [layer], plan.Words("git checkout", "the store")).data
    assert result is not None
    return result.decode() if isinstance(source, str) else result


def lines(source: str | bytes, *edits: dict[str, t.Any]) -> list[tuple[int | None, int | None]]:
    data = source.encode() if isinstance(source, str) else source
    layer = plan.Layer("test", recipe.parse_file({"path": "m.py", "edits": list(edits)}), fresh=True)
    return [tuple(item) for item in plan.compose("m.py", data, [layer]).lines["test"]]


def refusal(source: str | bytes, *edits: dict[str, t.Any], expect: t.Sequence[dict[str, t.Any]] = ()) -> str:
    """The message with which edits are refused."""
    with pytest.raises(PatchError) as caught:
        edit(source, *edits, expect=expect)
    return str(caught.value)


class Workspace:
    """A tree and its store below one temporary directory."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.root = base / "root"
        self.store = base / "store"
        self.root.mkdir()

    def write(self, path: str, content: str | bytes) -> Path:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
        return target

    def read(self, path: str) -> str:
        return (self.root / path).read_bytes().decode()

    def request(self, files: t.Sequence[dict[str, t.Any]] = (), name: str = "set", **more: t.Any) -> engine.Request:
        return engine.Request(name=name, root=str(self.root), store=str(self.store), files=files, **more)

    def present(self, *files: dict[str, t.Any], name: str = "set", **more: t.Any) -> engine.Result:
        return engine.present(self.request(files, name, **more))

    def absent(self, name: str = "set", **more: t.Any) -> engine.Result:
        return engine.absent(self.request((), name, **more))

    def info(self, name: str | None = None) -> list[dict[str, t.Any]]:
        return report.patches(str(self.root), str(self.store), name, 1)

    def status(self, name: str = "set") -> str:
        return str(self.info(name)[0]["status"])

    def refused(self, *files: dict[str, t.Any], name: str = "set", **more: t.Any) -> PatchError:
        with pytest.raises(PatchError) as caught:
            self.present(*files, name=name, **more)
        return caught.value

    def snapshot(self) -> dict[str, tuple[str, int]]:
        """Every file of tree and store with the hash of its content and its mode; locks left out."""
        found: dict[str, tuple[str, int]] = {}
        for directory, _names, files in os.walk(self.base):
            for name in files:
                path = Path(directory, name)
                if path != self.store / "lock":
                    digest = hashlib.sha256(path.read_bytes()).hexdigest()
                    found[str(path.relative_to(self.base))] = (digest, path.stat().st_mode & 0o7777)
        return found

    def tree(self) -> dict[str, str]:
        """Every file of the tree, hidden ones too, with its content."""
        return {
            str(path.relative_to(self.root)): path.read_bytes().decode("latin-1")
            for path in sorted(self.root.rglob("*"))
            if path.is_file()
        }

    def objects(self) -> list[str]:
        directory = self.store / "objects"
        return sorted(path.name for path in directory.iterdir()) if directory.is_dir() else []


def sha256(content: str | bytes) -> str:
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()

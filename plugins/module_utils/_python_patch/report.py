# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read-only views: what is applied on a tree, and where a pattern stands in a file."""

from __future__ import annotations

import os
import typing as t

from .errors import PatchError
from .journal import Journal, is_committed
from .locate import find_matches
from .lock import held
from .paths import real_root
from .pattern import parse_pattern
from .scope import Scope, find_scope
from .source import Source
from .store import Store
from .tree import Tree, text_of


def patches(root: str, store_directory: str, name: str | None, lock_timeout_seconds: float) -> list[dict[str, t.Any]]:
    """Every patch set that the store knows for a tree; `name` asks for one, known or not."""
    real = real_root(root)
    store = Store(store_directory, real)
    with held(real, "the tree", lock_timeout_seconds, shared=True):
        store.check()
        tree = Tree(store)
        journal = t.cast("Journal | None", store.journal())
        if journal is not None and is_committed(store, journal):
            journal = None
        names = list(tree.manifest["patches"])
        if journal is not None and journal["name"] not in names:
            names.append(journal["name"])
        if name is not None:
            names = [name]
        return [_patch(tree, item, journal) for item in names]


def _patch(tree: Tree, name: str, journal: Journal | None) -> dict[str, t.Any]:
    record = tree.manifest["patches"].get(name) or {"status": "pristine", "files": []}
    files: list[dict[str, t.Any]] = []
    for file in record["files"]:
        target = tree.target(file)
        state = tree.state(target) if record["status"] == "applied" else _given_back(tree, file)
        files.append(text_of(tree.store, tree.manifest, name, file["key"], file["path"], state))
        files[-1]["sha256"] = tree.digest(target)
    status = _overall(record["status"], [file["status"] for file in files])
    if journal is not None and journal["name"] == name:
        status = "interrupted"
        known = {file["path"] for file in files}
        files.extend([_interrupted(tree, entry) for entry in journal["entries"] if entry["path"] not in known])
    return {
        "name": name,
        "status": status,
        "files": files,
        **{key: record.get(key) for key in ("applied_at", "applied_by", "host", "python", "removed_at", "removed_by")},
    }


def _given_back(tree: Tree, file: dict[str, t.Any]) -> str:
    found = tree.digest(tree.target(file))
    if found == file["pristine"]:
        return "pristine"
    return "missing" if found is None else "drifted"


def _overall(recorded: str, states: list[str]) -> str:
    if recorded != "applied":
        return recorded
    for status in ("drifted", "missing"):
        if status in states:
            return status
    if all(status == "applied" for status in states):
        return "applied"
    # Put back to pristine by something else: wholly, or in part, which is neither of the two.
    return "pristine" if all(status == "pristine" for status in states) else "drifted"


def _interrupted(tree: Tree, entry: t.Any) -> dict[str, t.Any]:
    target = tree.target(entry)
    return {
        "path": entry["path"],
        "status": "interrupted",
        "sha256_before": entry["old"],
        "sha256_after": entry["new"],
        "sha256": tree.digest(target),
        "backup": tree.store.backup_path(entry["old"]) if entry["old"] else None,
        "edits": [],
    }


def query(path: str, queries: t.Sequence[dict[str, t.Any]]) -> list[dict[str, t.Any]]:
    """Count and lines of each pattern; without `in` the whole file is searched, nested scopes too."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise PatchError(f"cannot read {path}: {error.strerror}") from error
    source = Source(data, os.path.basename(path))
    whole = Scope(source.tree, None, nested=True)
    results: list[dict[str, t.Any]] = []
    for number, item in enumerate(queries, 1):
        where = f"query {number}"
        pattern = parse_pattern(item["pattern"], f"{path}: {where}")
        name = item.get("in") or None
        scope = find_scope(source.tree, name, path, where) if name is not None else whole
        lines = [match.line for match in find_matches(scope, pattern)]
        results.append({"pattern": item["pattern"], "in": name, "count": len(lines), "lines": lines})
    return results

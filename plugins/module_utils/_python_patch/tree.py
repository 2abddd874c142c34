# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One tree as the manifest and the disk show it."""

from __future__ import annotations

import os
import typing as t

from .errors import PatchError
from .journal import Journal
from .paths import Target, read_file
from .plan import Layer
from .recipe import parse_file
from .store import Store, sha256


class Tree:
    """Reads each file once. `interrupted`: a journal that check mode may not settle; its files then
    read as they will after recovery."""

    def __init__(self, store: Store, interrupted: Journal | None = None) -> None:
        self.store = store
        self.manifest: dict[str, t.Any] = store.manifest()
        self.overlay: dict[str, bytes | None] = {}
        self._read: dict[str, bytes | None] = {}
        for entry in interrupted["entries"] if interrupted is not None else []:
            target = Target(entry["path"], entry["key"], os.path.join(store.root, entry["key"]))
            found = read_file(target)
            if (None if found is None else sha256(found)) != entry["old"]:
                self.overlay[entry["key"]] = None if entry["old"] is None else store.get(entry["old"])

    def read(self, target: Target) -> bytes | None:
        if target.key in self.overlay:
            return self.overlay[target.key]
        if target.key not in self._read:
            self._read[target.key] = read_file(target)
        return self._read[target.key]

    def digest(self, target: Target) -> str | None:
        data = self.read(target)
        return None if data is None else sha256(data)

    def patch(self, name: str) -> dict[str, t.Any] | None:
        """The record of a patch set that is applied."""
        record: dict[str, t.Any] | None = self.manifest["patches"].get(name)
        return record if record is not None and record["status"] == "applied" else None

    def targets(self, name: str) -> list[Target]:
        record = self.patch(name)
        return [self.target(file) for file in record["files"]] if record is not None else []

    def target(self, file: dict[str, t.Any]) -> Target:
        return Target(file["path"], file["key"], os.path.join(self.store.root, file["key"]))

    def file(self, key: str) -> dict[str, t.Any] | None:
        found: dict[str, t.Any] | None = self.manifest["files"].get(key)
        return found

    def layers(self, key: str, without: str) -> list[Layer]:
        """The other patch sets of a file, in the order in which they came."""
        known = self.file(key)
        result: list[Layer] = []
        for name in known["layers"] if known is not None else []:
            if name != without:
                files = self.manifest["patches"][name]["files"]
                result.append(Layer(name, parse_file(next(file for file in files if file["key"] == key)["recipe"])))
        return result

    def pristine(self, target: Target) -> bytes | None:
        """The bytes before the first patch set: from disk where they stand there, else the backup."""
        known = self.file(target.key)
        digest = known["pristine"] if known is not None else None
        if digest is None:
            return None
        return self.read(target) if self.digest(target) == digest else self.store.get(digest)

    def untouched(self, targets: t.Iterable[Target]) -> bool:
        """Every file is what the last run left."""
        return all((self.file(target.key) or {}).get("current") == self.digest(target) for target in targets)

    def refuse_drift(self, name: str, targets: t.Sequence[Target], *, returning: bool = False) -> None:
        """Stop where a file is neither as we left it nor pristine: someone changed it since."""
        problems: list[str] = []
        status = "missing"
        for target in targets:
            known = self.file(target.key)
            found = self.digest(target)
            if known is None or found in (known["current"], known["pristine"]):
                self._refuse_half_returned(name, target, known, found, returning)
                continue
            if found is not None:
                status = "drifted"
            problems.append(self._problem(target, known, found))
        if problems:
            states = [
                text_of(self.store, self.manifest, name, target.key, target.path, self.state(target))
                for target in targets
            ]
            raise PatchError(
                "; ".join(problems)
                + ". Nothing was changed. Give the file one of the two contents back (the first is the backup), then "
                "run again. Where the tree below was upgraded on purpose, move our record of the old one away: "
                f"{self.store.tree}",
                status=status,
                files=states,
            )

    def _refuse_half_returned(
        self, name: str, target: Target, known: dict[str, t.Any] | None, found: str | None, returning: bool
    ) -> None:
        others = [layer for layer in known["layers"] if layer != name] if known is not None else []
        if known is not None and others and found != known["current"] and not returning:
            raise PatchError(
                f"{target.path}: patch set {others[0]} is recorded on this file, but the file was given back to its "
                f"pristine content by something else; run {others[0]} with state present or absent first",
                status="drifted",
            )

    def _problem(self, target: Target, known: dict[str, t.Any], found: str | None) -> str:
        backup = self.store.backup_path(known["pristine"]) if known["pristine"] else "none, the file is new"
        is_now = f"has sha256 {found}" if found is not None else "is missing"
        return (
            f"{target.path}: the file {is_now}; expected {known['current']} (patched) or {known['pristine']} "
            f"(pristine; backup: {backup}). Someone changed it since the patch"
        )

    def state(self, target: Target) -> str:
        """applied, pristine, missing or drifted, by content."""
        known = self.file(target.key)
        found = self.digest(target)
        if known is None or found == known["pristine"]:
            return "pristine"
        if found == known["current"]:
            return "applied"
        return "missing" if found is None else "drifted"


def text_of(store: Store, manifest: dict[str, t.Any], name: str, key: str, path: str, status: str) -> dict[str, t.Any]:
    """One file as the modules return it."""
    patch = manifest["patches"].get(name) or {"files": []}
    file = next((item for item in patch["files"] if item["key"] == key), None) or {}
    pristine = file.get("pristine")
    return {
        "path": path,
        "status": status,
        "sha256_before": pristine,
        "sha256_after": file.get("current"),
        "backup": store.backup_path(pristine) if pristine else None,
        "edits": [{"first_line": lines[0], "last_line": lines[1]} for lines in file.get("lines", [])],
    }

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A recipe as the module receives it, checked and with one canonical digest."""

from __future__ import annotations

import hashlib
import json
import typing as t

from .errors import PatchError
from .insertion import Insertion
from .pattern import Pattern, parse_pattern

# Part of every digest: a recipe applied by an engine that lays text out differently is planned again.
ENGINE = 1
PLACES = ("after", "before", "replace", "at")


class Edit(t.NamedTuple):
    """One edit. `kind` is one of PLACES; `at` has no pattern but `start` or `end`."""

    scope: str | None
    kind: str
    pattern: Pattern | None
    at: str | None
    insertion: Insertion
    where: str


class Expectation(t.NamedTuple):
    scope: str | None
    pattern: Pattern
    times: int
    where: str


class FileRecipe(t.NamedTuple):
    """What one patch set does to one file. `raw` is its plain form, as kept in the manifest."""

    path: str
    content: str | None
    edits: list[Edit]
    expectations: list[Expectation]
    raw: dict[str, t.Any]


def parse_file(raw: dict[str, t.Any]) -> FileRecipe:
    path = raw.get("path") or ""
    content, edits = raw.get("content"), raw.get("edits")
    if not path:
        raise PatchError("a file of the recipe has no `path`")
    if (content is None) == (edits is None):
        raise PatchError(f"{path}: give either `content` or `edits`")
    if edits is not None and not edits:
        raise PatchError(f"{path}: the list of `edits` is empty")
    plain: dict[str, t.Any] = {"path": path}
    if content is not None:
        plain["content"] = content
    else:
        plain["edits"] = [{key: value for key, value in edit.items() if value is not None} for edit in edits or []]
    plain["expect"] = [
        {key: value for key, value in item.items() if value is not None} for item in raw.get("expect") or []
    ]
    return FileRecipe(
        path,
        content,
        [_parse_edit(path, number, edit) for number, edit in enumerate(plain.get("edits", []), 1)],
        [_parse_expectation(path, number, item) for number, item in enumerate(plain["expect"], 1)],
        plain,
    )


def _parse_edit(path: str, number: int, raw: dict[str, t.Any]) -> Edit:
    where = f"edit {number}"
    given = [place for place in PLACES if place in raw]
    if len(given) != 1:
        found = ", ".join(given) or "none"
        raise PatchError(f"{path}: {where}: give exactly one of after, before, replace and at; found {found}")
    kind = given[0]
    scope = raw.get("in") or None
    at = None
    pattern = None
    if kind == "at":
        at = raw["at"]
        if at not in ("start", "end"):
            raise PatchError(f"{path}: {where}: `at` is start or end, not {at!r}")
        where += f" (at the {at} of {scope or 'the module'})"
    else:
        pattern = parse_pattern(raw[kind], f"{path}: {where}: `{kind}`")
        where += f" ({kind} {pattern} in {scope or 'the module'})"
    insertion = Insertion(raw.get("insert") or "", f"{path}: {where}")
    if insertion.empty and kind != "replace":
        raise PatchError(f"{path}: {where}: `insert` is empty, which only `replace` may have")
    return Edit(scope, kind, pattern, at, insertion, where)


def _parse_expectation(path: str, number: int, raw: dict[str, t.Any]) -> Expectation:
    where = f"expect {number}"
    if "pattern" not in raw:
        raise PatchError(f"{path}: {where}: there is no `pattern`")
    count = raw.get("count", 1)
    if not isinstance(count, int) or count < 0:
        raise PatchError(f"{path}: {where}: `count` is a number from 0, not {count!r}")
    return Expectation(raw.get("in") or None, parse_pattern(raw["pattern"], f"{path}: {where}"), count, where)


def digest(files: t.Sequence[FileRecipe]) -> str:
    """The identity of a recipe, whatever the order of its files."""
    plain = sorted([json.dumps(file.raw, sort_keys=True) for file in files])
    return hashlib.sha256(json.dumps([ENGINE, plain]).encode()).hexdigest()

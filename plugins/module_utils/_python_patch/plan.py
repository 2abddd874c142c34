# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The planned bytes of one file: the pristine bytes plus the edits of all its patch sets."""

from __future__ import annotations

import hashlib
import typing as t

from .edit import Planner, ordered, spliced
from .errors import PatchError
from .foreign import refuse_before_planning, refuse_foreign
from .proof import check_expectations, prove
from .recipe import FileRecipe
from .source import Source


class Lines(t.NamedTuple):
    """Lines of one edit in the new file; None where nothing was inserted."""

    first: int | None
    last: int | None


class Planned(t.NamedTuple):
    """`data` is None where the file does not exist. `lines`: per patch set, per edit."""

    data: bytes | None
    lines: dict[str, list[Lines]]


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def compose(
    path: str,
    pristine: bytes | None,
    layers: t.Sequence[tuple[str, FileRecipe]],
    *,
    fresh: str | None = None,
    way_back: str = "",
    store: str = "",
) -> Planned:
    """All patch sets of a file, each located on the pristine bytes.

    `fresh` names the set that is new on this file: what it inserts must not be there yet.
    """
    if not layers:
        return Planned(pristine, {})
    owners = [name for name, recipe in layers if recipe.content is not None]
    if owners:
        return _new_file(path, layers, owners)
    if pristine is None:
        raise PatchError(f"{path}: there is no such file in the tree, and an edit needs one")
    source = Source(pristine, path)
    planner = Planner(source)
    splices = []
    owner_of: dict[int, tuple[str, int]] = {}
    for name, recipe in layers:
        if name == fresh:
            refuse_before_planning(planner, recipe.edits, way_back, store)
        for number, edit in enumerate(recipe.edits):
            splice = planner.splice(edit)
            owner_of[id(splice)] = (name, number)
            splices.append(splice)
    if fresh is not None:
        refuse_foreign(planner, [item for item in splices if owner_of[id(item)][0] == fresh], way_back, store)
    splices = ordered(source, splices)
    data = spliced(pristine, splices)
    after = prove(source, data, splices)
    for _name, recipe in layers:
        check_expectations(after, recipe.expectations)
    lines: dict[str, list[Lines]] = {name: [Lines(None, None)] * len(recipe.edits) for name, recipe in layers}
    shift = 0
    for splice in splices:
        name, number = owner_of[id(splice)]
        start = splice.start + shift
        text = splice.text
        if text:
            opening = (
                len(text) - len(text.lstrip(b"\r\n")) if text[:1] in b"\r\n" and _opens(splice.start, pristine) else 0
            )
            first = after.line_of(start + min(opening, 2 if text.startswith(b"\r\n") else 1))
            stripped = text.rstrip(b"\r\n") or text
            last = max(first, after.line_of(start + len(stripped) - 1))
            lines[name][number] = Lines(first, last)
        shift += len(text) - (splice.end - splice.start)
    return Planned(data, lines)


def _opens(offset: int, pristine: bytes) -> bool:
    return offset == len(pristine) and bool(pristine) and pristine[-1:] not in (b"\n", b"\r")


def _new_file(path: str, layers: t.Sequence[tuple[str, FileRecipe]], owners: list[str]) -> Planned:
    if len(layers) > 1:
        others = [name for name, _recipe in layers if name != owners[0]]
        raise PatchError(
            f"{path}: it is a new file of patch set {owners[0]}, so patch set {others[0]} cannot change it too"
        )
    name, recipe = layers[0]
    data = (recipe.content or "").encode("utf-8")
    if path.endswith((".py", ".pyi")):
        source = Source(data, path, "the new file")
        prove(source, data, [])
        check_expectations(source, recipe.expectations)
    elif recipe.expectations:
        raise PatchError(f"{path}: `expect` needs a Python file, and the name does not end in .py")
    count = len(data.splitlines())
    return Planned(data, {name: [Lines(1, count) if count else Lines(None, None)]})

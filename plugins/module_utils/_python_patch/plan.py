# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The planned bytes of one file: the pristine bytes plus the edits of all its patch sets."""

from __future__ import annotations

import typing as t

from .edit import Planner, Splice, ordered, spliced
from .errors import PatchError
from .foreign import collision, refuse_foreign, refuse_unlocated
from .locate import find_matches
from .proof import check_expectations, prove
from .recipe import Edit, FileRecipe
from .scope import find_scope
from .source import Source


class Lines(t.NamedTuple):
    """Lines of one edit in the new file; None where nothing was inserted."""

    first: int | None
    last: int | None


class Planned(t.NamedTuple):
    """`data` is None where the file does not exist. `lines`: per patch set, per edit."""

    data: bytes | None
    lines: dict[str, list[Lines]]


class Layer(t.NamedTuple):
    """One patch set's part in a file. `fresh`: what it inserts must not stand there yet."""

    name: str
    recipe: FileRecipe
    fresh: bool = False


class Words(t.NamedTuple):
    """For the messages about a tree that was patched by hand."""

    way_back: str = ""
    store: str = "the store"


def compose(path: str, pristine: bytes | None, layers: t.Sequence[Layer], words: Words | None = None) -> Planned:
    """All patch sets of a file, each located on the pristine bytes, so that they can come off in any order."""
    if not layers:
        return Planned(pristine, {})
    if any(layer.recipe.content is not None for layer in layers):
        return _new_file(path, layers)
    if pristine is None:
        raise PatchError(f"{path}: there is no such file in the tree, and an edit needs one")
    source = Source(pristine, path)
    planner = Planner(source)
    located: list[tuple[Layer, int, Splice]] = []
    for layer in layers:
        others = [other for other in layers if other is not layer]
        for number, edit in enumerate(layer.recipe.edits):
            located.append((layer, number, _located(planner, edit, layer, others, words or Words())))
    _refuse_collisions(path, located)
    splices = ordered(source, [splice for _layer, _number, splice in located])
    data = spliced(pristine, splices)
    after = prove(source, data, splices)
    for layer in layers:
        check_expectations(after, layer.recipe.expectations)
    return Planned(data, _lines(after, splices, located))


def _located(planner: Planner, edit: Edit, layer: Layer, others: list[Layer], words: Words) -> Splice:
    try:
        splice = planner.splice(edit)
    except PatchError as error:
        if layer.fresh:
            refuse_unlocated(planner, edit, *words)
        raise PatchError(f"{error}{_among_others(planner.source, edit, others)}") from error
    if layer.fresh:
        refuse_foreign(planner, splice, *words)
    return splice


def _among_others(source: Source, edit: Edit, others: list[Layer]) -> str:
    """Whether the pattern would match in what other patch sets insert."""
    if edit.pattern is None:
        return ""
    for other in others:
        try:
            text = compose(source.path, source.data, [other._replace(fresh=False)]).data or b""
            scope = find_scope(Source(text, source.path).tree, edit.scope, source.path, edit.where)
        except PatchError:
            continue
        if find_matches(scope, edit.pattern):
            return (
                f". It matches in what patch set {other.name} inserts; each patch set is located on the pristine file, "
                "so that it can come off alone. Put both into one patch set"
            )
    return ""


def _refuse_collisions(path: str, located: list[tuple[Layer, int, Splice]]) -> None:
    for index, (layer, _number, splice) in enumerate(located):
        for other, _other_number, other_splice in located[:index]:
            if layer is not other and collision(splice, other_splice):
                raise PatchError(
                    f"{path}: {splice.edit.where} of patch set {layer.name} inserts what {other_splice.edit.where} "
                    f"of patch set {other.name} inserts; take {other.name} off first (state absent)"
                )


def _lines(after: Source, splices: list[Splice], located: list[tuple[Layer, int, Splice]]) -> dict[str, list[Lines]]:
    found: dict[int, Lines] = {}
    shift = 0
    for splice in splices:
        start = splice.start + shift
        if splice.text:
            first = after.line_of(start + splice.opening)
            found[id(splice)] = Lines(first, after.line_of(start + len(splice.text) - 1))
        shift += len(splice.text) - (splice.end - splice.start)
    result: dict[str, list[Lines]] = {}
    for layer, _number, splice in located:
        result.setdefault(layer.name, []).append(found.get(id(splice), Lines(None, None)))
    return result


def _new_file(path: str, layers: t.Sequence[Layer]) -> Planned:
    if len(layers) > 1:
        maker = next(layer.name for layer in layers if layer.recipe.content is not None)
        other = next(layer.name for layer in layers if layer.name != maker)
        raise PatchError(f"{path}: it is a new file of patch set {maker}, so patch set {other} cannot change it too")
    recipe = layers[0].recipe
    try:
        data = (recipe.content or "").encode("utf-8")
    except UnicodeEncodeError as error:
        raise PatchError(f"{path}: `content` is not Unicode text: {error.reason}") from error
    if path.endswith((".py", ".pyi")):
        source = Source(data, path)
        if source.encoding not in ("utf-8", "utf-8-sig"):
            raise PatchError(f"{path}:1: `content` is written as UTF-8, but its comment says {source.encoding}")
        check_expectations(prove(source, data, []), recipe.expectations)
    elif recipe.expectations:
        raise PatchError(f"{path}: `expect` needs a Python file, and the name does not end in .py")
    count = len(data.splitlines())
    return Planned(data, {layers[0].name: [Lines(1, count) if count else Lines(None, None)]})

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run would do to a tree: changes, the manifest that holds afterwards, and the answer."""

from __future__ import annotations

import copy
import getpass
import os
import socket
import sys
import time
import typing as t

from .errors import PatchError
from .paths import Target, missing_directories, resolve, way_back
from .plan import Layer, Lines, Words, compose
from .recipe import FileRecipe, digest
from .store import Store, sha256
from .transaction import Change
from .tree import Tree, text_of


class Request(t.NamedTuple):
    """The module's options, apart from state."""

    name: str
    root: str
    store: str
    files: t.Sequence[dict[str, t.Any]] = ()
    validate: t.Sequence[str] = ()
    lock_timeout_seconds: float = 60
    prune: bool = False
    unsafe_writes: bool = False
    check: bool = False


class Planned(t.NamedTuple):
    changes: list[Change]
    manifest: dict[str, t.Any]
    files: list[dict[str, t.Any]]
    status: str


def plan_present(request: Request, recipes: t.Sequence[FileRecipe], tree: Tree) -> Planned:
    name, store = request.name, tree.store
    manifest = tree.manifest
    targets = [resolve(store.root, recipe.path) for recipe in recipes]
    wanted: dict[str, tuple[Target, FileRecipe]] = {}
    for target, recipe in zip(targets, recipes):
        if target.key in wanted:
            raise PatchError(
                f"{recipe.path}: the same file as {wanted[target.key][1].path}; put its edits in one entry"
            )
        wanted[target.key] = (target, recipe)
    record = tree.patch(name)
    identity = digest(recipes)
    old_targets = tree.targets(name)
    everything = {**{target.key: target for target in old_targets}, **{key: pair[0] for key, pair in wanted.items()}}
    tree.refuse_drift(name, list(everything.values()))
    if record is not None and record["recipe"] == identity and tree.untouched(everything.values()):
        return Planned([], manifest, _report(store, manifest, name, "applied", targets), "applied")
    new = copy.deepcopy(manifest)
    changes: list[Change] = []
    lines: dict[str, list[Lines]] = {}
    for key, target in everything.items():
        change, lines[key] = _plan_file(request, tree, new, target, wanted[key][1] if key in wanted else None)
        if change is not None:
            changes.append(change)
    # What a set no longer touches goes back first; the record then lists the recipe's order.
    new["patches"][name] = {
        "status": "applied",
        "recipe": identity,
        "applied_at": _now() if changes or record is None else record["applied_at"],
        "applied_by": _user(),
        "host": socket.gethostname(),
        "python": f"{sys.executable} {sys.version.split()[0]}",
        "files": [
            {
                "path": target.path,
                "key": target.key,
                "recipe": wanted[target.key][1].raw,
                "pristine": new["files"][target.key]["pristine"],
                "current": new["files"][target.key]["current"],
                "lines": lines[target.key],
            }
            for target in targets
        ],
    }
    files = _report(store, new, name, "applied", targets)
    files.extend(
        [_file(store, manifest, name, target, "pristine") for target in old_targets if target.key not in wanted]
    )
    return Planned(changes, new, files, "applied")


def _plan_file(
    request: Request, tree: Tree, new: dict[str, t.Any], target: Target, recipe: FileRecipe | None
) -> tuple[Change | None, list[Lines]]:
    """The change of one file and its lines; brings `new` up to date."""
    name, store = request.name, tree.store
    found = tree.read(target)
    known = tree.file(target.key)
    others = tree.layers(target.key, without=name)
    if recipe is not None and recipe.content is not None:
        _refuse_existing(tree, target, found, known)
    pristine = found if known is None else tree.pristine(target)
    layers = list(others)
    if recipe is not None:
        order = known["layers"] if known else []
        place = order.index(name) if name in order else len(layers)
        layers.insert(place, Layer(name, recipe, fresh=True))
    words = Words(way_back(store.root, target), f"the store {store.directory}")
    planned = compose(target.path, pristine, layers, words)
    if layers:
        new["files"][target.key] = {
            "pristine": None if pristine is None else sha256(pristine),
            "current": None if planned.data is None else sha256(planned.data),
            "layers": [layer.name for layer in layers],
            "made": known["made"] if known is not None else missing_directories(store.root, target),
        }
        _update_lines(new, target.key, planned.lines, name)
    else:
        new["files"].pop(target.key, None)
    change = Change(target, found, planned.data) if planned.data != found else None
    return change, planned.lines.get(name, [])


def _update_lines(new: dict[str, t.Any], key: str, lines: dict[str, list[Lines]], name: str) -> None:
    """Another set's lines move when this one comes or goes."""
    for other, found in lines.items():
        if other == name:
            continue
        for file in new["patches"][other]["files"]:
            if file["key"] == key:
                file["lines"] = found
                file["current"] = new["files"][key]["current"]


def _refuse_existing(tree: Tree, target: Target, found: bytes | None, known: dict[str, t.Any] | None) -> None:
    if found is None or (known is not None and known["pristine"] is None):
        return
    raise PatchError(
        f"{target.path}:1: the recipe makes this file new, but it exists already and {tree.store.directory} has no "
        "record of making it. It was put there by hand, by another tool or by a newer release. Remove it, or give back "
        f"the pristine tree ({way_back(tree.store.root, target)}), then run again"
    )


def plan_absent(request: Request, tree: Tree) -> Planned:
    name = request.name
    record = tree.patch(name)
    if record is None:
        return Planned([], tree.manifest, [], "pristine")
    targets = tree.targets(name)
    tree.refuse_drift(name, targets, returning=True)
    new = copy.deepcopy(tree.manifest)
    changes: list[Change] = []
    for target in targets:
        change, _lines = _plan_file(request, tree, new, target, None)
        if change is not None:
            changes.append(change)
    files = [_file(tree.store, tree.manifest, name, target, "pristine") for target in targets]
    patch = new["patches"][name]
    patch.update({"status": "pristine", "removed_at": _now(), "removed_by": _user()})
    return Planned(changes, new, files, "pristine")


def _report(
    store: Store, manifest: dict[str, t.Any], name: str, status: str, targets: t.Sequence[Target]
) -> list[dict[str, t.Any]]:
    return [_file(store, manifest, name, target, status) for target in targets]


def _file(store: Store, manifest: dict[str, t.Any], name: str, target: Target, status: str) -> dict[str, t.Any]:
    return text_of(store, manifest, name, target.key, target.path, status)


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return str(os.geteuid())

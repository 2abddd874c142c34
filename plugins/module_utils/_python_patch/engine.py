# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""present and absent: read, plan and prove everything, then one transaction."""

from __future__ import annotations

import contextlib
import os
import typing as t

from .errors import PatchError
from .journal import Journal, is_committed, settle
from .lock import held
from .paths import real_root
from .planning import Planned, Request, plan_absent, plan_present
from .recipe import parse_file
from .source import encoding_of
from .store import Store
from .transaction import Change, Transaction, describe
from .tree import Tree


class Result(t.NamedTuple):
    changed: bool
    status: str
    files: list[dict[str, t.Any]]
    diff: list[dict[str, str]]
    warnings: list[str]


def present(request: Request) -> Result:
    recipes = [parse_file(raw) for raw in request.files]
    if not recipes:
        raise PatchError("state present needs `files`")
    return _run(request, lambda tree: plan_present(request, recipes, tree))


def absent(request: Request) -> Result:
    return _run(request, lambda tree: plan_absent(request, tree))


def _run(request: Request, plan: t.Callable[[Tree], Planned]) -> Result:
    try:
        return _run_locked(request, plan)
    except OSError as error:
        raise PatchError(describe(error)) from error
    except RecursionError as error:
        raise PatchError("a source is nested too deeply for this interpreter; nothing was changed") from error


def _run_locked(request: Request, plan: t.Callable[[Tree], Planned]) -> Result:
    root = real_root(request.root)
    store = Store(request.store, root)
    if store.directory == root or store.directory.startswith(root.rstrip("/") + "/"):
        raise PatchError(f"the store {store.directory} lies inside root ({root}); backups stand outside the tree")
    with held(root, "the tree", request.lock_timeout_seconds, shared=request.check):
        store.check()
        warnings: list[str] = []
        journal = t.cast("Journal | None", store.journal())
        returned: list[str] = []
        if journal is not None and not request.check:
            with store.locked(request.lock_timeout_seconds):
                returned = settle(store, journal)
            warnings.append(_recovered(journal, returned))
            journal = None
        if not request.check:
            store.sweep()
        tree = Tree(store, journal if journal is not None and not is_committed(store, journal) else None)
        planned = plan(tree)
        diff = [_diff(change) for change in planned.changes]
        if not request.check:
            warnings.extend(_apply(request, store, planned))
        changed = bool(planned.changes) or bool(returned) or bool(tree.overlay)
        return Result(changed, planned.status, planned.files, diff, warnings)


def _recovered(journal: Journal, returned: t.Sequence[str]) -> str:
    what = "taken back: " + ", ".join(returned) if returned else "no file had to change"
    return f"an earlier run of patch set {journal['name']} (process {journal['pid']}) was interrupted; {what}"


def _apply(request: Request, store: Store, planned: Planned) -> list[str]:
    current = store.manifest()
    same = _comparable(current) == _comparable(planned.manifest)
    if not planned.changes and same and not request.prune:
        return []
    if not planned.changes and same and not os.path.isdir(store.tree):
        return []
    new = store.create()
    try:
        with store.locked(request.lock_timeout_seconds):
            warnings: list[str] = []
            if planned.changes:
                warnings = Transaction(
                    store,
                    request.name,
                    planned.changes,
                    planned.manifest,
                    validate=request.validate,
                    unsafe_writes=request.unsafe_writes,
                ).run()
            elif not same:
                store.write_manifest(planned.manifest)
            if request.prune:
                warnings.extend(_pruned(store))
            return warnings
    except BaseException:
        _remove_new_store(store, new)
        raise


def _pruned(store: Store) -> list[str]:
    """Tidying up never turns a run that did its work into a failure."""
    try:
        store.prune()
    except (OSError, PatchError) as error:
        return [f"pruning the store failed: {describe(error)}"]
    return []


def _remove_new_store(store: Store, new: t.Sequence[str]) -> None:
    """A run that failed leaves no store where there was none, unless it holds something, or another run uses it."""
    inner = [store.tree, os.path.dirname(store.tree), store.objects]
    for path in inner:
        if path in new:
            with contextlib.suppress(OSError):
                os.rmdir(path)
    if store.directory in new and not any(os.path.exists(path) for path in inner):
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(store.directory, "lock"))
    for path in reversed(new):
        with contextlib.suppress(OSError):
            os.rmdir(path)


def _comparable(manifest: dict[str, t.Any]) -> dict[str, t.Any]:
    return {key: value for key, value in manifest.items() if key != "transaction"}


def _diff(change: Change) -> dict[str, str]:
    return {
        "before_header": change.target.path if change.old is not None else "/dev/null",
        "after_header": change.target.path if change.new is not None else "/dev/null",
        "before": _shown(change.old, change.target.path),
        "after": _shown(change.new, change.target.path),
    }


def _shown(data: bytes | None, path: str) -> str:
    if data is None:
        return ""
    try:
        encoding = encoding_of(data, path)
    except PatchError:
        encoding = "utf-8"
    return data.decode(encoding, "replace")

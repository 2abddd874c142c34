# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The three states of module source_manifest; each takes a request and returns the module's result."""

from __future__ import annotations

import dataclasses
import time
import typing as t
from pathlib import Path

from ansible_collections.inferops.blackwell.plugins.module_utils._source_manifest import (
    Differences,
    Entry,
    ManifestError,
    build,
    compare,
    compare_to_record,
    is_excepted,
    load,
    save,
    scan,
    tree_digest,
)
from ansible_collections.inferops.blackwell.plugins.module_utils._source_manifest_restore import (
    Plan,
    make_plan,
    read_archive,
    restore,
)

# Beyond this a text diff helps nobody.
_DIFF_BYTES = 1 << 20


@dataclasses.dataclass(frozen=True)
class Request:
    root: Path
    package: str
    manifest: Path
    archive: Path | None = None
    excepted: t.Sequence[str] = ()
    files: t.Sequence[str] | None = None
    remove_extra: bool = False
    aside: Path | None = None
    check_mode: bool = False


def record(request: Request) -> Entry:
    """A record that exists stays; it is made anew only where its archive is wanted and gone."""
    if request.manifest.exists() and (request.archive is None or request.archive.exists()):
        return {**_summary(load(request.manifest)), "changed": False, "matches": True}
    if request.check_mode:
        files = scan(request.root, request.package)
        manifest = {
            "files": files,
            "digest": tree_digest(files),
            "record": compare_to_record(request.root, request.package, files),
        }
    else:
        manifest = build(request.root, request.package, request.archive)
        # Last: a manifest promises that its archive is whole.
        save(manifest, request.manifest)
    summary = _summary(manifest)
    after = f"{summary['file_count']} files, digest {summary['digest']}\n"
    diff = {"before": "", "after": after, "after_header": str(request.manifest)}
    return {**summary, "changed": True, "matches": True, "diff": [diff]}


def verify(request: Request) -> Entry:
    manifest = load(request.manifest)
    differences = _differences(request, manifest)
    return {**_summary(manifest), "changed": False, **_listed(differences)}


def restored(request: Request) -> Entry:
    archive = request.archive
    if archive is None:
        raise ManifestError("state=restored needs archive, the file that holds the recorded bytes.")
    manifest = load(request.manifest)
    differences = _differences(request, manifest)
    plan = make_plan(differences, manifest["files"], _wanted(request), request.remove_extra)
    aside = request.aside or request.manifest.parent / time.strftime("aside-%Y%m%dT%H%M%SZ", time.gmtime())
    result: Entry = {
        **_summary(manifest),
        "changed": bool(plan.paths()),
        "restored": plan.paths(),
        "aside": str(aside) if plan.paths() else "",
        "diff": _diffs(request.root, plan, archive, manifest),
    }
    if plan.paths() and not request.check_mode:
        restore(request.root, plan, archive, manifest["files"], aside)
        differences = _differences(request, manifest)
    return {**result, **_listed(differences)}


def _wanted(request: Request) -> t.Sequence[str] | None:
    clash = sorted(path for path in request.files or () if is_excepted(path, request.excepted))
    if clash:
        raise ManifestError(f"asked to restore and to leave alone at once: {', '.join(clash)}. Drop one of the two.")
    return request.files


def _differences(request: Request, manifest: Entry) -> Differences:
    return compare(manifest["files"], scan(request.root, request.package), request.excepted)


def _summary(manifest: Entry) -> Entry:
    return {
        "digest": manifest["digest"],
        "file_count": len(manifest["files"]),
        "record": manifest["record"],
    }


def _listed(differences: Differences) -> Entry:
    return {
        "matches": not differences.all(),
        "changed_files": differences.changed,
        "missing_files": differences.missing,
        "extra_files": differences.extra,
    }


def _diffs(root: Path, plan: Plan, archive: Path, manifest: Entry) -> list[Entry]:
    """One before/after per file, the same in check mode and for real."""
    if not plan.paths():
        return []
    contents = read_archive(archive, plan.give_back, manifest["files"])
    diffs = []
    for path in plan.paths():
        before = (root / path).read_bytes() if (root / path).is_file() else b""
        after = contents[path][1] if path in contents else b""
        diffs.append({"before": _text(before), "after": _text(after), "before_header": path, "after_header": path})
    return diffs


def _text(data: bytes) -> str:
    if len(data) > _DIFF_BYTES:
        return f"<{len(data)} bytes>\n"
    try:
        return data.decode()
    except UnicodeDecodeError:
        return f"<{len(data)} bytes that are not text>\n"

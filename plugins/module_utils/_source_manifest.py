# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the files of a Python package were when it was built: hashes, and an archive of the bytes.

A manifest is JSON: `format`, `package`, `digest` (one sha256 for the whole tree), `archive_sha256`,
`record` (how the tree compares to the wheel's own RECORD, null without one) and `files`: path below
the root -> `{sha256, size}`, or `{link}` for a symbolic link.
"""

from __future__ import annotations

import base64
import contextlib
import csv
import fnmatch
import gzip
import hashlib
import json
import os
import tarfile
import tempfile
import typing as t
from pathlib import Path

FORMAT = 1
_CHUNK = 1 << 20

Entry = dict[str, t.Any]
Files = dict[str, Entry]


class ManifestError(Exception):
    """Something a person has to act on; the message says what, where and what to do."""


class Differences(t.NamedTuple):
    """How a tree differs from its manifest. Hashes are null where there is no file."""

    changed: list[Entry]
    missing: list[Entry]
    extra: list[Entry]

    def all(self) -> list[Entry]:
        return [*self.changed, *self.missing, *self.extra]


def file_sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as stream:
        for chunk in iter(lambda: stream.read(_CHUNK), b""):
            digest.update(chunk)
    return digest.hexdigest()


def is_bytecode(relative: str) -> bool:
    """Bytecode is made from the sources by whoever runs them: it is never part of a manifest."""
    return relative.endswith((".pyc", ".pyo")) or "__pycache__" in Path(relative).parts


def describe_file(path: Path) -> Entry:
    if path.is_symlink():
        return {"link": str(path.readlink())}
    return {"sha256": file_sha256(path), "size": path.stat().st_size}


def package_paths(root: Path, package: str) -> list[str]:
    """Every file of the package, relative to root, sorted; no bytecode."""
    top = root / package
    if not top.is_dir():
        raise ManifestError(
            f"there is no package directory {package!r} in {root}. root is the directory that contains the package."
        )
    found = []
    for directory, subdirectories, names in os.walk(top):
        here = Path(directory)
        # A link to a directory is an entry of its own: what it points to may lie anywhere.
        linked = [name for name in subdirectories if (here / name).is_symlink()]
        subdirectories[:] = sorted(set(subdirectories) - {"__pycache__", *linked})
        found += [str((here / name).relative_to(root)) for name in (*names, *linked)]
    return sorted(path for path in found if not is_bytecode(path))


def scan(root: Path, package: str) -> Files:
    return {path: describe_file(root / path) for path in package_paths(root, package)}


def tree_digest(files: Files) -> str:
    lines = [f"{_identity(entry)}  {path}\n" for path, entry in sorted(files.items())]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _identity(entry: Entry) -> str:
    return t.cast(str, entry["sha256"] if "sha256" in entry else "link:" + entry["link"])


def is_excepted(path: str, patterns: t.Sequence[str]) -> bool:
    """A pattern is a path relative to root, or a glob over it."""
    return any(path == pattern or fnmatch.fnmatchcase(path, pattern) for pattern in patterns)


def compare(expected: Files, found: Files, excepted: t.Sequence[str] = ()) -> Differences:
    differences = Differences([], [], [])
    for path in sorted({*expected, *found}):
        if is_excepted(path, excepted):
            continue
        before, after = expected.get(path), found.get(path)
        if before == after:
            continue
        entry = {
            "path": path,
            "sha256_expected": _identity(before) if before else None,
            "sha256_found": _identity(after) if after else None,
        }
        if after is None:
            differences.missing.append(entry)
        elif before is None:
            differences.extra.append(entry)
        else:
            differences.changed.append(entry)
    return differences


def compare_to_record(root: Path, package: str, files: Files) -> Entry | None:
    """A wheel's RECORD holds the hash of every file it installed; null where none names the package.

    An editable install has a RECORD too, which names only its own hook.
    """
    distribution = package.replace("-", "_")
    for record in sorted(root.glob(f"{distribution}-*.dist-info/RECORD")):
        hashes = _record_hashes(record, package)
        if hashes:
            differing = sorted(
                path
                for path in {*hashes, *files}
                if path not in files or path not in hashes or hashes[path] != files[path].get("sha256")
            )
            return {"path": str(record), "compared": len(hashes), "differing": differing}
    return None


def _record_hashes(record: Path, package: str) -> dict[str, str]:
    hashes = {}
    with open(record, encoding="utf-8", newline="") as stream:
        for row in csv.reader(stream):
            if len(row) < 2 or not row[0].startswith(package + "/") or is_bytecode(row[0]):
                continue
            algorithm, _, value = row[1].partition("=")
            if algorithm == "sha256":
                padded = value + "=" * (-len(value) % 4)
                hashes[row[0]] = base64.urlsafe_b64decode(padded).hex()
    return hashes


@contextlib.contextmanager
def atomic_write(target: Path, mode: int = 0o644) -> t.Iterator[t.BinaryIO]:
    """All of the file or nothing: written beside the target, fsynced, then renamed over it."""
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    temporary = Path(name)
    try:
        with open(descriptor, "wb") as stream:
            yield stream
            stream.flush()
            os.fchmod(stream.fileno(), mode)
            os.fsync(stream.fileno())
        temporary.replace(target)
    except BaseException:
        temporary.unlink()
        raise


def write_archive(root: Path, paths: t.Iterable[str], archive: Path) -> None:
    """The same bytes in give the same archive out: no times, no names of accounts."""

    def plain(info: tarfile.TarInfo) -> tarfile.TarInfo:
        info.uid = info.gid = 0
        info.uname = info.gname = ""
        info.mtime = 0
        return info

    with contextlib.ExitStack() as stack:
        raw = stack.enter_context(atomic_write(archive))
        packed = stack.enter_context(gzip.GzipFile(filename="", mode="wb", fileobj=raw, compresslevel=6, mtime=0))
        tar = stack.enter_context(tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT))
        for path in paths:
            tar.add(str(root / path), arcname=path, recursive=False, filter=plain)


def build(root: Path, package: str, archive: Path | None) -> Entry:
    """The manifest of the tree as it is now; writes the archive where one is wanted."""
    files = scan(root, package)
    if archive is not None:
        write_archive(root, files, archive)
    return {
        "format": FORMAT,
        "package": package,
        "digest": tree_digest(files),
        "archive_sha256": file_sha256(archive) if archive is not None else None,
        "record": compare_to_record(root, package, files),
        "files": files,
    }


def save(manifest: Entry, path: Path) -> None:
    with atomic_write(path) as stream:
        stream.write(json.dumps(manifest, indent=1, sort_keys=True).encode() + b"\n")


def load(path: Path) -> Entry:
    try:
        manifest = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise ManifestError(
            f"there is no manifest {path}: the tree was never recorded, so there is nothing to compare it with. "
            "Record it while it is pristine (state=recorded)."
        ) from None
    except ValueError as exc:
        raise ManifestError(f"the manifest {path} is not readable JSON ({exc}). Build the release again.") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ManifestError(f"the manifest {path} is not of format {FORMAT}. Build the release again.")
    return manifest

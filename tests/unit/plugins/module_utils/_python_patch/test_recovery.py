# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Killed or failed at every single change of the disk: all old or all new, and the record tells the truth.

Every mutating call of the engine goes through one gate here. A kill lets no later call through,
as if the process were gone; a failure raises one OSError and lets the engine clean up.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import typing as t
from pathlib import Path

import pytest
from ansible_collections.inferops.blackwell.plugins.module_utils._python_patch.errors import PatchError
from patch_tools import Workspace, sample

CALLS = (
    "open",
    "write",
    "rename",
    "link",
    "unlink",
    "mkdir",
    "rmdir",
    "fsync",
    "fchmod",
    "chmod",
    "chown",
    "ftruncate",
)
FILES = (
    {"path": "a.py", "edits": [{"after": "a = 1", "insert": "x = 10"}]},
    {"path": "pkg/b.py", "edits": [{"after": "b = 1", "insert": "x = 20"}]},
    {"path": "pkg/new/c.py", "content": "NEW = 1\n"},
)
OLD = {"a.py": "a = 1\n", "pkg/b.py": "b = 1\n"}
APPLIED = {"a.py": "a = 1\nx = 10\n", "pkg/b.py": "b = 1\nx = 20\n", "pkg/new/c.py": "NEW = 1\n"}


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of runs: what reaches the disk is another test's matter, the calls count here too."""
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)


class Killed(BaseException):
    """The process is gone."""


class Gate:
    """Counts mutating calls; stops at one of them."""

    def __init__(self, stop_at: int | None = None, error: int | None = None) -> None:
        self.stop_at = stop_at
        self.error = error
        self.count = 0
        self.dead = False
        self.real = {name: getattr(os, name) for name in CALLS}

    def __enter__(self) -> Gate:
        for name in CALLS:
            setattr(os, name, self._wrapped(name))
        return self

    def __exit__(self, *_exception: object) -> None:
        for name, function in self.real.items():
            setattr(os, name, function)

    def _wrapped(self, name: str) -> t.Callable[..., t.Any]:
        def call(*arguments: t.Any, **keywords: t.Any) -> t.Any:
            mutates = name != "open" or arguments[1] & os.O_CREAT
            if mutates:
                self._pass(arguments)
            return self.real[name](*arguments, **keywords)

        return call

    def _pass(self, arguments: tuple[t.Any, ...]) -> None:
        if self.dead:
            raise Killed
        self.count += 1
        if self.count == self.stop_at:
            if self.error is None:
                self.dead = True
                raise Killed
            path = arguments[0] if isinstance(arguments[0], str) else None
            raise OSError(self.error, os.strerror(self.error), path)


def fresh(base: Path) -> Workspace:
    shutil.rmtree(base, ignore_errors=True)
    base.mkdir()
    workspace = Workspace(base)
    for path, content in OLD.items():
        workspace.write(path, content)
    return workspace


def apply(workspace: Workspace) -> None:
    workspace.present(*FILES)


def give_back(workspace: Workspace) -> None:
    workspace.absent()


def prepared(
    base: Path, action: str
) -> tuple[Workspace, t.Callable[[Workspace], None], dict[str, str], dict[str, str]]:
    """(workspace, the run to disturb, tree before it, tree after it)."""
    workspace = fresh(base)
    if action == "apply":
        return workspace, apply, OLD, APPLIED
    apply(workspace)
    if action == "absent":
        return workspace, give_back, APPLIED, OLD
    changed = ({"path": "a.py", "edits": [{"before": "a = 1", "insert": "y = 1"}]}, FILES[2])
    after = {"a.py": "y = 1\na = 1\n", "pkg/b.py": "b = 1\n", "pkg/new/c.py": "NEW = 1\n"}
    return workspace, lambda item: item.present(*changed) and None, APPLIED, after


def points(base: Path, action: str) -> int:
    workspace, run, _before, after = prepared(base, action)
    with Gate() as gate:
        run(workspace)
    assert workspace.tree() == after
    return gate.count


ACTIONS = ("apply", "absent", "change")


@pytest.mark.parametrize("action", ACTIONS)
def test_there_are_many_points_to_stop_at(tmp_path: Path, action: str) -> None:
    assert points(tmp_path / "w", action) > 30


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("then", ["present", "absent"])
def test_killed_at_every_change_the_next_run_recovers(tmp_path: Path, action: str, then: str) -> None:
    for point in sample(range(1, points(tmp_path / "w", action) + 1), 40):
        workspace, run, before, after = prepared(tmp_path / "w", action)
        with Gate(point), pytest.raises(Killed):
            run(workspace)
        status = workspace.status()
        tree = workspace.tree()
        if status != "interrupted":
            # Whatever info calls settled is wholly old or wholly new, hidden second names aside.
            visible = {path: text for path, text in tree.items() if ".inferops-" not in path}
            assert visible in (before, after), (point, tree)
            assert (status == "applied") == (visible != OLD), point
        check = workspace.present(*FILES, check=True)
        assert workspace.tree() == tree, point
        if then == "present":
            result = workspace.present(*FILES)
            assert check.files == result.files
            assert workspace.tree() == APPLIED, point
            assert workspace.status() == "applied"
        else:
            workspace.absent()
            assert workspace.tree() == OLD, point
            assert not (workspace.root / "pkg/new").exists()
            assert workspace.status() == "pristine"
        assert_clean(workspace)


@pytest.mark.parametrize("action", ACTIONS)
def test_recovery_itself_can_be_killed_at_every_change(tmp_path: Path, action: str) -> None:
    total = points(tmp_path / "w", action)
    for point in sample(range(1, total + 1), 7):
        for second in sample(range(1, 20), 4):
            workspace, run, _before, _after = prepared(tmp_path / "w", action)
            with Gate(point), pytest.raises(Killed):
                run(workspace)
            with Gate(second), contextlib.suppress(Killed):
                workspace.absent()
            workspace.absent()
            assert workspace.tree() == OLD, (point, second)
            assert_clean(workspace)


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EACCES, errno.EROFS])
def test_a_failing_call_leaves_the_old_state_and_no_litter(tmp_path: Path, action: str, code: int) -> None:
    total = points(tmp_path / "w", action)
    refused = 0
    chosen = sample(range(1, total + 1), 20)
    for point in chosen:
        workspace, run, before, after = prepared(tmp_path / "w", action)
        objects = workspace.objects()
        try:
            with Gate(point, code):
                run(workspace)
        except PatchError as error:
            refused += 1
            assert os.strerror(code) in str(error), point
            assert workspace.tree() == before, (point, str(error))
            assert workspace.objects() == objects, point
            assert_clean(workspace)
            assert workspace.status() == ("pristine" if before == OLD else "applied")
        else:
            # After the commit a failure only leaves cleaning up to the next run.
            visible = {path: text for path, text in workspace.tree().items() if ".inferops-" not in path}
            assert visible == after, point
            workspace.absent()
            assert workspace.tree() == OLD
            assert_clean(workspace)
    assert refused > len(chosen) // 2


def assert_clean(workspace: Workspace) -> None:
    assert not [path for path in workspace.tree() if ".inferops-" in path]
    assert not list(workspace.store.rglob("journal.json"))
    assert not list(workspace.store.rglob("*.tmp"))


def interrupted(base: Path) -> Workspace:
    """Killed right after the second of three renames."""
    workspace, run, _before, _after = prepared(base, "apply")
    total = points(base, "apply")
    for point in range(1, total + 1):
        workspace, run, _before, _after = prepared(base, "apply")
        with Gate(point), pytest.raises(Killed):
            run(workspace)
        if workspace.read("pkg/b.py") != OLD["pkg/b.py"] and not (workspace.root / "pkg/new/c.py").exists():
            return workspace
    raise AssertionError("no such point")


def test_info_shows_an_interrupted_set_and_changes_nothing(tmp_path: Path) -> None:
    workspace = interrupted(tmp_path / "w")
    before = workspace.snapshot()
    (patch,) = workspace.info()
    assert (patch["name"], patch["status"]) == ("set", "interrupted")
    assert [file["path"] for file in patch["files"]] == ["a.py", "pkg/b.py", "pkg/new/c.py"]
    assert workspace.snapshot() == before


def test_recovery_is_said_and_counts_as_a_change(tmp_path: Path) -> None:
    workspace = interrupted(tmp_path / "w")
    assert workspace.absent(check=True).changed
    result = workspace.absent()
    assert result.changed
    assert result.warnings == [
        f"an earlier run of patch set set (process {os.getpid()}) was interrupted; taken back: a.py, pkg/b.py"
    ]


def test_without_the_second_name_the_backup_gives_the_file_back(tmp_path: Path) -> None:
    workspace = interrupted(tmp_path / "w")
    for path in workspace.root.rglob(".inferops-*.old"):
        path.unlink()
    workspace.absent()
    assert workspace.tree() == OLD


def test_a_file_changed_after_the_interruption_is_left_and_named(tmp_path: Path) -> None:
    workspace = interrupted(tmp_path / "w")
    workspace.write("a.py", "a = 'mine'\n")
    for _attempt in range(2):
        error = workspace.refused(*FILES)
        assert error.status == "interrupted"
        assert "a.py: it changed since the interruption" in str(error)
        assert workspace.read("a.py") == "a = 'mine'\n"
    workspace.write("a.py", OLD["a.py"])
    workspace.present(*FILES)
    assert workspace.tree() == APPLIED


def test_where_hard_links_are_impossible_a_copy_serves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_link(*_arguments: object, **_keywords: object) -> None:
        raise OSError(errno.EPERM, "no links here")

    workspace = fresh(tmp_path / "w")
    monkeypatch.setattr(os, "link", no_link)
    workspace.refused(*FILES, validate=["false"])
    assert workspace.tree() == OLD
    workspace.present(*FILES)
    assert workspace.tree() == APPLIED
    assert_clean(workspace)


def test_what_a_rename_shows_is_on_disk_before_it_and_the_directory_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = fresh(tmp_path / "w")
    events: list[tuple[str, str]] = []
    rename = os.rename

    def record_fsync(descriptor: int) -> None:
        events.append(("fsync", str(Path(f"/proc/self/fd/{descriptor}").readlink())))

    def record_rename(source: str, target: str) -> None:
        events.append(("rename", f"{source} {target}"))
        rename(source, target)

    monkeypatch.setattr(os, "fsync", record_fsync)
    monkeypatch.setattr(os, "rename", record_rename)
    apply(workspace)
    synced: set[str] = set()
    renames = [event for event in events if event[0] == "rename"]
    for number, (kind, text) in enumerate(events):
        if kind == "fsync":
            synced.add(text)
            continue
        source, target = text.split()
        assert source in synced, text
        assert ("fsync", str(Path(target).parent)) in events[number:], text
    first_in_tree = next(number for number, event in enumerate(events) if f" {workspace.root}" in event[1])
    manifest = next(number for number, event in enumerate(events) if event[1].endswith("manifest.json"))
    assert ("fsync", str(workspace.store / "objects")) in events[:first_in_tree]
    assert any(text.endswith("journal.json") for _kind, text in events[:first_in_tree])
    for directory in (workspace.root, workspace.root / "pkg", workspace.root / "pkg/new"):
        assert ("fsync", str(directory)) in events[first_in_tree:manifest]
    assert len([text for _kind, text in renames if f" {workspace.root}" in text]) == len(FILES)

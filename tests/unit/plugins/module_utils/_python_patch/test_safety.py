# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a recipe, a store or another process could do to a tree, and cannot."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
import time
import typing as t
from pathlib import Path

import pytest
from ansible_collections.inferops.blackwell.plugins.module_utils._python_patch import lock
from ansible_collections.inferops.blackwell.plugins.module_utils._python_patch.errors import PatchError
from patch_tools import Workspace, sha256

EDITS = [{"after": "a = 1", "insert": "x = 10"}]
A = {"path": "a.py", "edits": EDITS}


@pytest.fixture
def tree(workspace: Workspace) -> Workspace:
    workspace.write("a.py", "a = 1\n")
    return workspace


class TestPaths:
    @pytest.mark.parametrize("path", ["../out.py", "/etc/passwd", "pkg/../../out.py", "a/../a.py", "", "..", "."])
    def test_may_not_leave_root(self, tree: Workspace, path: str) -> None:
        tree.write("../out.py", "a = 1\n")
        before = tree.snapshot()
        tree.refused({"path": path, "edits": EDITS})
        tree.refused({"path": path, "content": "x = 1\n"})
        assert tree.snapshot() == before

    @pytest.mark.parametrize("link", ["file", "directory", "dangling"])
    def test_a_link_that_leads_outside_is_refused(self, tree: Workspace, link: str) -> None:
        outside = tree.base / "outside"
        outside.mkdir()
        (outside / "a.py").write_text("a = 1\n")
        target = {"file": outside / "a.py", "directory": outside, "dangling": outside / "new.py"}[link]
        (tree.root / "link").symlink_to(target)
        path = "link/a.py" if link == "directory" else "link"
        expected = {"file": outside / "a.py", "directory": outside / "a.py", "dangling": outside / "new.py"}[link]
        for recipe in ({"path": path, "edits": EDITS}, {"path": path, "content": "x = 1\n"}):
            assert str(tree.refused(recipe)) == (f"{path}: it leads to {expected}, which is outside root ({tree.root})")
        assert (outside / "a.py").read_text() == "a = 1\n"
        assert not (outside / "new.py").exists()

    def test_what_is_no_regular_file_is_refused_at_once(self, tree: Workspace) -> None:
        os.mkfifo(tree.root / "pipe.py")
        (tree.root / "dir.py").mkdir()
        assert "is not a regular file" in str(tree.refused({"path": "pipe.py", "edits": EDITS}))
        assert "is not a regular file" in str(tree.refused({"path": "dir.py", "edits": EDITS}))

    def test_the_store_may_not_lie_in_the_tree(self, tree: Workspace) -> None:
        tree.store = tree.root / "store"
        assert "backups stand outside the tree" in str(tree.refused(A))
        assert not tree.store.exists()

    def test_root_must_be_a_directory(self, tree: Workspace) -> None:
        tree.root = tree.root / "a.py"
        assert "is not a directory on this host" in str(tree.refused(A))


class TestTamperedStore:
    @pytest.fixture
    def applied(self, tree: Workspace) -> Workspace:
        tree.present(A)
        return tree

    def backup(self, applied: Workspace) -> Path:
        return applied.store / "objects" / sha256("a = 1\n")

    def test_a_changed_backup_is_refused(self, applied: Workspace) -> None:
        self.backup(applied).write_text("import os  # evil\n")
        with pytest.raises(PatchError, match="was tampered with: its content has sha256"):
            applied.absent()
        assert applied.read("a.py") == "a = 1\nx = 10\n"

    def test_a_missing_backup_is_named(self, applied: Workspace) -> None:
        self.backup(applied).unlink()
        with pytest.raises(PatchError, match="cannot be read: No such file"):
            applied.absent()
        applied.write("a.py", "a = 1\n")
        applied.absent()

    @pytest.mark.parametrize("name", ["manifest.json", "journal.json"])
    def test_a_changed_record_is_refused(self, applied: Workspace, name: str) -> None:
        (directory,) = (applied.store / "trees").iterdir()
        content = json.loads((directory / "manifest.json").read_text())
        content["content"]["files"]["a.py"]["pristine"] = sha256("evil")
        (directory / name).write_text(json.dumps(content))
        for run in (applied.absent, applied.info, lambda: applied.present(A)):
            with pytest.raises(PatchError, match="was tampered with: it does not carry the hash"):
                run()
        assert applied.read("a.py") == "a = 1\nx = 10\n"

    def test_garbage_in_a_record_is_refused(self, applied: Workspace) -> None:
        (directory,) = (applied.store / "trees").iterdir()
        for garbage in ("", "{}", "[]", '{"sha256": "x", "content": {}}', "\0"):
            (directory / "manifest.json").write_text(garbage)
            with pytest.raises(PatchError, match="was tampered with"):
                applied.absent()

    def test_a_store_that_others_can_write_is_refused(self, applied: Workspace) -> None:
        (applied.store / "objects").chmod(0o777)
        with pytest.raises(PatchError, match="cannot be trusted"):
            applied.absent()

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
    def test_a_store_of_another_user_is_refused(self, applied: Workspace) -> None:
        os.chown(applied.store / "objects", 4242, 4242)
        with pytest.raises(PatchError, match="belongs to user 4242"):
            applied.absent()

    def test_a_link_in_place_of_the_objects_is_refused(self, applied: Workspace) -> None:
        objects = applied.store / "objects"
        objects.rename(applied.base / "elsewhere")
        objects.symlink_to(applied.base / "elsewhere")
        with pytest.raises(PatchError, match="is not a directory"):
            applied.absent()


def hold(path: str, seconds: float, ready: t.Any) -> None:
    with lock.held(path, "the tree", 1):
        ready.set()
        time.sleep(seconds)


class TestLock:
    @pytest.fixture
    def busy(self, tree: Workspace) -> t.Iterator[t.Callable[[float], int]]:
        """Hold the tree in another process for some seconds; returns its pid."""
        context = multiprocessing.get_context("fork")
        processes: list[t.Any] = []

        def start(seconds: float) -> int:
            ready = context.Event()
            processes.append(context.Process(target=hold, args=(str(tree.root), seconds, ready)))
            processes[-1].start()
            assert ready.wait(10)
            return int(processes[-1].pid)

        yield start
        for process in processes:
            process.terminate()
            process.join()

    def test_a_second_writer_waits_up_to_the_limit_and_names_the_holder(
        self, tree: Workspace, busy: t.Callable[[float], int]
    ) -> None:
        pid = busy(60)
        message = str(tree.refused(A, lock_timeout_seconds=0.3))
        assert message.startswith(f"the tree {tree.root} is locked by process {pid} (")
        assert "waited 0.3 seconds (lock_timeout_seconds)" in message
        assert tree.read("a.py") == "a = 1\n"

    def test_a_second_writer_goes_on_once_the_first_is_done(
        self, tree: Workspace, busy: t.Callable[[float], int]
    ) -> None:
        busy(0.3)
        assert tree.present(A, lock_timeout_seconds=30).changed

    def test_a_holder_that_the_kernel_does_not_list_any_more_has_given_the_lock_back(
        self, tree: Workspace, busy: t.Callable[[float], int], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(lock, "holder", lambda descriptor: None)
        monkeypatch.setattr(lock, "_GRACE_SECONDS", 60)
        busy(0.3)
        assert tree.present(A, lock_timeout_seconds=0).changed

    def test_a_holder_that_cannot_be_seen_is_called_that(
        self, tree: Workspace, busy: t.Callable[[float], int], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(lock, "holder", lambda descriptor: None)
        busy(60)
        assert "is locked by a process that cannot be seen from here; waited 0 sec" in str(
            tree.refused(A, lock_timeout_seconds=0)
        )

    def test_readers_do_not_wait_for_each_other(self, tree: Workspace) -> None:
        with lock.held(str(tree.root), "the tree", 1, shared=True):
            tree.present(A, check=True, lock_timeout_seconds=0)
            tree.info()

    def test_the_store_is_locked_too(self, tree: Workspace) -> None:
        tree.present(A)
        locked = pytest.raises(PatchError, match=r"the store .*/lock is locked by process")
        with lock.held(str(tree.store / "lock"), "the store", 1), locked:
            tree.absent(lock_timeout_seconds=0)
        assert tree.read("a.py") == "a = 1\nx = 10\n"

    def test_several_runs_at_once_end_in_one_patched_tree(self, tree: Workspace) -> None:
        code = (
            "import sys; sys.path.insert(0, sys.argv[1]); from _python_patch import engine;"
            f"r = engine.present(engine.Request('set', {str(tree.root)!r}, {str(tree.store)!r}, [{A!r}]));"
            "print(r.changed)"
        )
        utils = Path(lock.__file__).resolve().parents[1]
        runs = [
            subprocess.Popen([sys.executable, "-c", code, str(utils)], stdout=subprocess.PIPE, text=True)
            for _ in range(6)
        ]
        outputs = [run.communicate()[0].strip() for run in runs]
        assert sorted(outputs) == ["False"] * 5 + ["True"]
        assert tree.read("a.py") == "a = 1\nx = 10\n"
        assert tree.status() == "applied"


def test_a_file_named_twice_is_refused(tree: Workspace) -> None:
    (tree.root / "link.py").symlink_to("a.py")
    assert str(tree.refused(A, {"path": "link.py", "edits": EDITS})) == (
        "link.py: the same file as a.py; put its edits in one entry"
    )

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All files or none, in check mode nothing, and absent gives back every byte."""

from __future__ import annotations

import os
import stat
import sys
import typing as t
from pathlib import Path

import pytest
from ansible_collections.inferops.blackwell.plugins.module_utils._python_patch import files, transaction
from ansible_collections.inferops.blackwell.plugins.module_utils._python_patch.errors import PatchError
from patch_tools import Workspace, sha256

A = {"path": "pkg/a.py", "edits": [{"after": "a = 1", "insert": "x = 10"}]}
B = {"path": "pkg/b.py", "edits": [{"in": "f", "at": "start", "insert": "x = 20"}]}
NEW = {"path": "pkg/sub/new.py", "content": "NEW = 1\n"}


@pytest.fixture
def tree(workspace: Workspace) -> Workspace:
    workspace.write("pkg/a.py", "a = 1\r\n")
    workspace.write("pkg/b.py", "def f():\n\treturn 1")
    return workspace


def test_present_changes_all_files_and_says_what_it_did(tree: Workspace) -> None:
    result = tree.present(A, B, NEW)
    assert (result.changed, result.status, result.warnings) == (True, "applied", [])
    assert tree.tree() == {
        "pkg/a.py": "a = 1\r\nx = 10\r\n",
        "pkg/b.py": "def f():\n\tx = 20\n\treturn 1",
        "pkg/sub/new.py": "NEW = 1\n",
    }
    assert result.files == [
        {
            "path": "pkg/a.py",
            "status": "applied",
            "sha256_before": sha256("a = 1\r\n"),
            "sha256_after": sha256("a = 1\r\nx = 10\r\n"),
            "backup": str(tree.store / "objects" / sha256("a = 1\r\n")),
            "edits": [{"first_line": 2, "last_line": 2}],
        },
        {
            "path": "pkg/b.py",
            "status": "applied",
            "sha256_before": sha256("def f():\n\treturn 1"),
            "sha256_after": sha256("def f():\n\tx = 20\n\treturn 1"),
            "backup": str(tree.store / "objects" / sha256("def f():\n\treturn 1")),
            "edits": [{"first_line": 2, "last_line": 2}],
        },
        {
            "path": "pkg/sub/new.py",
            "status": "applied",
            "sha256_before": None,
            "sha256_after": sha256("NEW = 1\n"),
            "backup": None,
            "edits": [{"first_line": 1, "last_line": 1}],
        },
    ]
    assert Path(result.files[0]["backup"]).read_bytes() == b"a = 1\r\n"


def test_a_second_run_changes_nothing_and_returns_the_same(tree: Workspace) -> None:
    first = tree.present(A, B, NEW)
    before = tree.snapshot()
    second = tree.present(A, B, NEW)
    assert not second.changed
    assert second.files == first.files
    assert second.diff == []
    assert tree.snapshot() == before


def test_absent_gives_back_every_byte_and_removes_what_is_new(tree: Workspace) -> None:
    before = tree.tree()
    tree.present(A, B, NEW)
    result = tree.absent()
    assert (result.changed, result.status) == (True, "pristine")
    assert [file["status"] for file in result.files] == ["pristine"] * 3
    assert tree.tree() == before
    assert not (tree.root / "pkg/sub").exists()
    again = tree.absent()
    assert (again.changed, again.status) == (False, "pristine")


def test_absent_leaves_a_directory_that_holds_something_else(tree: Workspace) -> None:
    tree.present(A, NEW)
    tree.write("pkg/sub/other.txt", "mine")
    tree.absent()
    assert tree.read("pkg/sub/other.txt") == "mine"


def test_absent_of_what_was_never_applied_succeeds_and_writes_nothing(tree: Workspace) -> None:
    before = tree.snapshot()
    result = tree.absent()
    assert (result.changed, result.status, result.files) == (False, "pristine", [])
    assert tree.snapshot() == before
    assert not tree.store.exists()


def test_check_mode_writes_nothing_and_predicts_everything(tree: Workspace) -> None:
    before = tree.snapshot()
    check = tree.present(A, B, NEW, check=True)
    assert tree.snapshot() == before
    assert not tree.store.exists()
    real = tree.present(A, B, NEW)
    assert check == real
    assert check.diff[0] == {
        "before_header": "pkg/a.py",
        "after_header": "pkg/a.py",
        "before": "a = 1\r\n",
        "after": "a = 1\r\nx = 10\r\n",
    }
    assert check.diff[2]["before_header"] == "/dev/null"
    before = tree.snapshot()
    check = tree.absent(check=True)
    assert tree.snapshot() == before
    assert check == tree.absent()


@pytest.mark.parametrize("second", ["def f(:\n", "def g():\n    return 1\n", "def f():\n    x = 20\n"])
def test_a_second_file_that_cannot_be_patched_leaves_the_first_alone(tree: Workspace, second: str) -> None:
    tree.write("pkg/b.py", second)
    before = tree.snapshot()
    assert str(tree.refused(A, B)).startswith("pkg/b.py")
    assert tree.snapshot() == before
    assert not tree.store.exists()


def test_text_meant_for_the_inside_of_another_call_cannot_get_there(tree: Workspace) -> None:
    source = 'parser.add_argument(\n    "--one",\n    type=int,\n)\n'
    tree.write("pkg/b.py", source)
    before = tree.snapshot()
    inside = {
        "path": "pkg/b.py",
        "edits": [{"replace": '"--one"', "insert": '"--one",\nparser.add_argument("--two"),'}],
    }
    message = str(tree.refused(A, inside))
    assert message.startswith("pkg/b.py:")
    assert tree.snapshot() == before
    tree.present(A, {"path": "pkg/b.py", "edits": [{"after": '"--one"', "insert": 'parser.add_argument("--two")'}]})
    assert tree.read("pkg/b.py") == source + 'parser.add_argument("--two")\n'


class TestValidate:
    def test_runs_in_root_with_the_files_in_place(self, tree: Workspace) -> None:
        code = "import sys; sys.exit(open('pkg/a.py').read().count('x = 10') != 1)"
        tree.present(A, validate=[f'{sys.executable} -c "{code}"'])

    def test_a_failure_gives_all_files_back_and_shows_the_output(self, tree: Workspace) -> None:
        before = tree.tree()
        error = tree.refused(A, B, NEW, validate=["true", "sh -c 'echo broken; exit 3'"])
        assert str(error) == (
            "validate: `sh -c 'echo broken; exit 3'` failed with 3; every file has its old content. Output: broken"
        )
        assert tree.tree() == before
        assert tree.objects() == []
        assert tree.status() == "pristine"

    def test_a_failure_keeps_the_old_file_itself(self, tree: Workspace) -> None:
        path = tree.root / "pkg/a.py"
        os.utime(path, (1, 1))
        before = path.stat()
        tree.refused(A, validate=["false"])
        assert (path.stat().st_ino, path.stat().st_mtime, path.stat().st_nlink) == (before.st_ino, 1, 1)

    def test_no_shell_reads_a_command(self, tree: Workspace) -> None:
        tree.present(A, validate=["echo $(touch owned) ; touch owned | false"])
        assert not (tree.root / "owned").exists()

    def test_a_command_that_does_not_exist(self, tree: Workspace) -> None:
        error = tree.refused(A, validate=["/no/such/program"])
        assert str(error) == (
            "validate: `/no/such/program` cannot run: No such file or directory: /no/such/program; "
            "every file has its old content"
        )

    @pytest.mark.parametrize("command", ["", "a 'b"])
    def test_a_command_that_cannot_be_split_is_refused_before_anything_is_written(
        self, tree: Workspace, command: str
    ) -> None:
        before = tree.snapshot()
        assert str(tree.refused(A, validate=[command])).startswith("validate: ")
        assert tree.snapshot() == before

    def test_is_not_run_in_check_mode_or_without_a_change(self, tree: Workspace) -> None:
        tree.present(A, validate=["false"], check=True)
        tree.present(A)
        tree.present(A, validate=["false"])


class TestMetadata:
    def test_mode_is_kept_both_ways(self, tree: Workspace) -> None:
        path = tree.root / "pkg/a.py"
        path.chmod(0o751)
        tree.present(A)
        assert stat.S_IMODE(path.stat().st_mode) == 0o751
        tree.absent()
        assert stat.S_IMODE(path.stat().st_mode) == 0o751

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
    def test_owner_is_kept_and_a_new_file_belongs_to_its_directory_s_owner(self, tree: Workspace) -> None:
        os.chown(tree.root / "pkg", 4242, 4343)
        os.chown(tree.root / "pkg/a.py", 4244, 4343)
        tree.present(A, NEW)
        assert (tree.root / "pkg/a.py").stat().st_uid == 4244
        assert (tree.root / "pkg/a.py").stat().st_gid == 4343
        assert (tree.root / "pkg/sub").stat().st_uid == 4242
        assert (tree.root / "pkg/sub/new.py").stat().st_uid == 4242

    def test_a_new_file_is_as_readable_as_its_directory(self, tree: Workspace) -> None:
        (tree.root / "pkg").chmod(0o750)
        tree.present(A, NEW)
        assert stat.S_IMODE((tree.root / "pkg/sub").stat().st_mode) == 0o750
        assert stat.S_IMODE((tree.root / "pkg/sub/new.py").stat().st_mode) == 0o640

    def test_extended_attributes_are_kept(self, tree: Workspace) -> None:
        path = tree.root / "pkg/a.py"
        try:
            os.setxattr(path, "user.note", b"mine")
        except OSError:
            pytest.skip("no extended attributes here")
        tree.present(A)
        assert os.getxattr(path, "user.note") == b"mine"
        tree.absent()
        assert os.getxattr(path, "user.note") == b"mine"

    def test_the_store_is_readable_by_its_owner_only(self, tree: Workspace) -> None:
        tree.present(A, NEW)
        for path in [tree.store, *tree.store.rglob("*")]:
            assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


def test_no_litter_beside_the_files(tree: Workspace) -> None:
    tree.present(A, B, NEW)
    assert sorted(path.name for path in (tree.root / "pkg").iterdir()) == ["a.py", "b.py", "sub"]
    assert not list(tree.store.rglob("journal.json"))
    assert not list(tree.store.rglob("*.tmp"))


def test_a_file_that_changes_while_the_run_plans_is_not_overwritten(
    tree: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = transaction.Transaction._prepare

    def change_meanwhile(self: transaction.Transaction) -> None:
        original(self)
        tree.write("pkg/b.py", "b = 'meanwhile'\n")

    monkeypatch.setattr(transaction.Transaction, "_prepare", change_meanwhile)
    with pytest.raises(PatchError, match=r"pkg/b.py"):
        tree.present(A, B)
    assert tree.read("pkg/a.py") == "a = 1\r\n"
    assert tree.read("pkg/b.py") == "b = 'meanwhile'\n"


def test_what_comes_back_from_disk_is_proved_once_more(tree: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that keeps other bytes than were written: all files go back and the proof is named."""
    before = tree.tree()
    create = files.create_file

    def create_other(path: str, data: bytes, **more: t.Any) -> None:
        create(path, data.replace(b"x = 20", b"x = 21") if path.endswith(".new") else data, **more)

    monkeypatch.setattr(files, "create_file", create_other)
    assert str(tree.refused(A, B)) == "pkg/b.py: proof failed: read back from disk it is not what was written"
    assert tree.tree() == before
    assert tree.status() == "pristine"

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""States by content hash: drift, half-returned trees, changed recipes, shared files, pruning."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.inferops.blackwell.plugins.module_utils._python_patch.errors import PatchError
from patch_tools import Workspace, sha256

A = {"path": "a.py", "edits": [{"after": "a = 1", "insert": "x = 10"}]}
B = {"path": "b.py", "edits": [{"after": "b = 1", "insert": "x = 20"}]}
NEW = {"path": "new.py", "content": "NEW = 1\n"}


@pytest.fixture
def tree(workspace: Workspace) -> Workspace:
    workspace.write("a.py", "a = 1\n")
    workspace.write("b.py", "b = 1\n")
    return workspace


@pytest.fixture
def applied(tree: Workspace) -> Workspace:
    tree.present(A, B, NEW)
    return tree


class TestDrift:
    def test_a_changed_file_is_refused_by_both_states_with_both_hashes(self, applied: Workspace) -> None:
        applied.write("a.py", "a = 1\nx = 10\n# mine\n")
        before = applied.snapshot()
        for run in (lambda: applied.refused(A, B, NEW), lambda: absent_refused(applied)):
            error = run()
            assert error.status == "drifted"
            pristine, patched = sha256("a = 1\n"), sha256("a = 1\nx = 10\n")
            mine = sha256("a = 1\nx = 10\n# mine\n")
            assert str(error) == (
                f"a.py: the file has sha256 {mine}; expected {patched} (patched) or {pristine} (pristine; "
                f"backup: {applied.store / 'objects' / pristine}). "
                "Someone changed it since the patch. Nothing was changed. Give the file one of the two contents back "
                "(the first is the backup), then run again. Where the tree below was upgraded on purpose, move our "
                f"record of the old one away: {manifest_directory(applied)}"
            )
            assert [file["status"] for file in error.files or []] == ["drifted", "applied", "applied"]
        assert applied.snapshot() == before
        assert applied.status() == "drifted"

    def test_the_same_holds_in_check_mode_and_with_a_changed_recipe(self, applied: Workspace) -> None:
        applied.write("a.py", "a = 1\nx = 11\n")
        assert applied.refused(A, B, NEW, check=True).status == "drifted"
        assert applied.refused({"path": "a.py", "edits": [{"after": "a = 1", "insert": "y = 1"}]}).status == "drifted"

    def test_a_missing_file_is_refused(self, applied: Workspace) -> None:
        (applied.root / "a.py").unlink()
        assert applied.refused(A, B, NEW).status == "missing"
        assert "a.py: the file is missing; expected" in str(absent_refused(applied))
        assert applied.status() == "missing"

    def test_a_changed_new_file_is_refused(self, applied: Workspace) -> None:
        applied.write("new.py", "NEW = 2\n")
        assert "backup: none, the file is new" in str(absent_refused(applied))
        assert applied.status() == "drifted"

    def test_an_upgrade_below_is_noticed_and_the_way_on_works(self, applied: Workspace) -> None:
        applied.write("a.py", "a = 1\nupgraded = True\n")
        applied.write("b.py", "b = 1\nupgraded = True\n")
        (applied.root / "new.py").unlink()
        message = str(applied.refused(A, B, NEW))
        assert "a.py: the file has" in message
        assert "b.py: the file has" in message
        manifest_directory(applied).rename(applied.base / "moved-away")
        assert applied.present(A, B, NEW).changed
        assert applied.read("a.py") == "a = 1\nx = 10\nupgraded = True\n"


def absent_refused(workspace: Workspace) -> PatchError:
    with pytest.raises(PatchError) as caught:
        workspace.absent()
    return caught.value


def manifest_directory(workspace: Workspace) -> Path:
    return next((workspace.store / "trees").iterdir())


class TestHalfReturned:
    def test_absent_goes_forward_to_pristine(self, applied: Workspace) -> None:
        applied.write("a.py", "a = 1\n")
        (applied.root / "new.py").unlink()
        assert applied.status() == "drifted"
        assert applied.absent().changed
        assert applied.tree() == {"a.py": "a = 1\n", "b.py": "b = 1\n"}
        assert applied.status() == "pristine"

    def test_absent_on_a_tree_given_back_by_hand_only_updates_the_record(self, applied: Workspace) -> None:
        applied.write("a.py", "a = 1\n")
        applied.write("b.py", "b = 1\n")
        (applied.root / "new.py").unlink()
        assert applied.status() == "pristine"
        result = applied.absent()
        assert (result.changed, result.status) == (False, "pristine")
        assert applied.info()[0]["removed_at"] is not None

    def test_present_goes_forward_to_applied(self, applied: Workspace) -> None:
        applied.write("a.py", "a = 1\n")
        (applied.root / "new.py").unlink()
        assert applied.present(A, B, NEW).changed
        assert applied.status() == "applied"
        assert applied.read("new.py") == "NEW = 1\n"


class TestChangedRecipe:
    def test_goes_from_pristine_never_patch_on_patch(self, applied: Workspace) -> None:
        changed = {"path": "a.py", "edits": [{"before": "a = 1", "insert": "y = 1"}]}
        result = applied.present(changed, B, NEW)
        assert result.changed
        assert applied.read("a.py") == "y = 1\na = 1\n"
        assert result.files[0]["sha256_before"] == sha256("a = 1\n")
        applied.absent()
        assert applied.tree() == {"a.py": "a = 1\n", "b.py": "b = 1\n"}

    def test_a_file_that_left_the_recipe_goes_back(self, applied: Workspace) -> None:
        result = applied.present(B)
        assert [(file["path"], file["status"]) for file in result.files] == [
            ("b.py", "applied"),
            ("a.py", "pristine"),
            ("new.py", "pristine"),
        ]
        assert applied.tree() == {"a.py": "a = 1\n", "b.py": "b = 1\nx = 20\n"}

    def test_new_content_replaces_ours(self, applied: Workspace) -> None:
        assert applied.present(A, B, {"path": "new.py", "content": "NEW = 2\n"}).changed
        assert applied.read("new.py") == "NEW = 2\n"
        applied.absent()
        assert not (applied.root / "new.py").exists()

    def test_the_first_backup_is_never_overwritten(self, applied: Workspace) -> None:
        before = {name: (applied.store / "objects" / name).stat().st_mtime_ns for name in applied.objects()}
        applied.present({"path": "a.py", "edits": [{"before": "a = 1", "insert": "y = 1"}]}, B)
        applied.present(A, B, NEW)
        assert {name: (applied.store / "objects" / name).stat().st_mtime_ns for name in applied.objects()} == before

    def test_only_what_the_run_needs_stays_in_the_store(self, applied: Workspace) -> None:
        assert applied.objects() == sorted([sha256("a = 1\n"), sha256("b = 1\n")])


class TestShared:
    ONE = {"path": "a.py", "edits": [{"after": "a = 1", "insert": "one = 1"}]}
    TWO = {"path": "a.py", "edits": [{"before": "a = 1", "insert": "two = 1\ntwo += 1"}]}

    @pytest.mark.parametrize("first", ["one", "two"])
    def test_two_sets_come_off_in_any_order(self, tree: Workspace, first: str) -> None:
        tree.present(self.ONE, name="one")
        result = tree.present(self.TWO, name="two")
        assert tree.read("a.py") == "two = 1\ntwo += 1\na = 1\none = 1\n"
        assert result.files[0]["edits"] == [{"first_line": 1, "last_line": 2}]
        again = tree.present(self.ONE, name="one")
        assert not again.changed
        assert again.files[0]["edits"] == [{"first_line": 4, "last_line": 4}]
        second = "two" if first == "one" else "one"
        tree.absent(first)
        assert tree.read("a.py") == {"one": "two = 1\ntwo += 1\na = 1\n", "two": "a = 1\none = 1\n"}[first]
        assert [patch["status"] for patch in tree.info()] == [
            "pristine" if first == name else "applied" for name in ("one", "two")
        ]
        tree.absent(second)
        assert tree.read("a.py") == "a = 1\n"

    def test_a_changed_recipe_below_another(self, tree: Workspace) -> None:
        tree.present(self.ONE, name="one")
        tree.present(self.TWO, name="two")
        tree.present({"path": "a.py", "edits": [{"after": "a = 1", "insert": "eins = 1"}]}, name="one")
        assert tree.read("a.py") == "two = 1\ntwo += 1\na = 1\neins = 1\n"

    def test_an_anchor_in_what_the_other_inserts_is_refused_with_the_reason(self, tree: Workspace) -> None:
        tree.present(self.ONE, name="one")
        before = tree.snapshot()
        change = {"path": "a.py", "edits": [{"after": "one = 1", "insert": "b = 1"}]}
        assert "It matches in what patch set one inserts" in str(tree.refused(change, name="two"))
        assert tree.snapshot() == before

    def test_overlaps_are_refused(self, tree: Workspace) -> None:
        tree.present({"path": "a.py", "edits": [{"replace": "a = 1", "insert": "a = 3"}]}, name="one")
        change = {"path": "a.py", "edits": [{"replace": "1", "insert": "2"}]}
        assert "overlaps edit 1 (replace `a = 1`" in str(tree.refused(change, name="two"))

    def test_the_same_insertion_twice_is_refused(self, tree: Workspace) -> None:
        tree.write("a.py", "a = 1\nf()\n")
        flag = {"path": "a.py", "edits": [{"after": "a = 1", "insert": "add('--x')"}]}
        tree.present(flag, name="one")
        other = {"path": "a.py", "edits": [{"after": "f()", "insert": "add('--x', 1)"}]}
        assert "of patch set two inserts what edit 1" in str(tree.refused(other, name="two"))

    def test_a_new_file_of_one_set_cannot_be_changed_by_another(self, tree: Workspace) -> None:
        tree.present(NEW, name="one")
        change = {"path": "new.py", "edits": [{"after": "NEW = 1", "insert": "b = 1"}]}
        assert str(tree.refused(change, name="two")) == (
            "new.py: it is a new file of patch set one, so patch set two cannot change it too"
        )

    def test_a_file_given_back_under_another_set_is_refused(self, tree: Workspace) -> None:
        tree.present(self.ONE, name="one")
        tree.write("a.py", "a = 1\n")
        assert "patch set one is recorded on this file" in str(tree.refused(self.TWO, name="two"))

    def test_a_drifted_file_is_refused_for_the_other_set_too(self, tree: Workspace) -> None:
        tree.present(self.ONE, name="one")
        tree.write("a.py", "a = 1\nmine = 1\n")
        assert tree.refused(self.TWO, name="two").status == "drifted"


class TestStore:
    def test_identical_contents_are_kept_once(self, tree: Workspace) -> None:
        tree.write("b.py", "a = 1\n")
        tree.present(A, {"path": "b.py", "edits": [{"after": "a = 1", "insert": "x = 20"}]})
        assert tree.objects() == [sha256("a = 1\n")]

    def test_pruning_drops_only_what_nothing_refers_to(self, applied: Workspace) -> None:
        applied.present(A, B, NEW, prune=True)
        assert len(applied.objects()) == 2
        applied.absent()
        assert len(applied.objects()) == 2
        applied.absent(prune=True)
        assert applied.objects() == []

    def test_pruning_keeps_what_another_tree_needs_and_forgets_a_tree_that_is_gone(self, applied: Workspace) -> None:
        first = applied.root
        applied.root = applied.base / "second"
        applied.write("a.py", "a = 1\n")
        applied.present(A, name="other")
        applied.absent(name="other", prune=True)
        assert applied.objects() == sorted([sha256("a = 1\n"), sha256("b = 1\n")])
        first.rename(applied.base / "gone")
        applied.absent(name="other", prune=True)
        assert applied.objects() == []

    def test_a_failed_pruning_is_only_a_warning(self, applied: Workspace) -> None:
        (applied.store / "trees/broken").mkdir()
        (applied.store / "trees/broken/manifest.json").write_text("{}")
        result = applied.absent(prune=True)
        assert result.changed
        assert "pruning the store failed" in result.warnings[0]
        assert "was tampered with" in result.warnings[0]

    def test_two_trees_in_one_store_do_not_mix(self, applied: Workspace) -> None:
        applied.root = applied.base / "second"
        applied.write("a.py", "a = 1\n")
        assert applied.info() == []
        applied.present(A)
        applied.absent()
        applied.root = applied.base / "root"
        assert applied.status() == "applied"


def test_info_knows_who_when_and_a_set_that_was_never_applied(applied: Workspace) -> None:
    (patch,) = applied.info()
    assert (patch["name"], patch["status"]) == ("set", "applied")
    assert patch["applied_at"].endswith("Z")
    assert patch["applied_by"]
    assert [file["sha256"] == file["sha256_after"] for file in patch["files"]] == [True, True, True]
    assert applied.status("unknown") == "pristine"

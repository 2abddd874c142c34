# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""File systems that fill up, refuse writes, or pin a file; and trees that belong to someone else."""

from __future__ import annotations

import os
import tempfile
import typing as t
from pathlib import Path

import pytest
from evidence import Figures
from mounted import IS_ROOT, Case
from mounted_case import Answer
from sampling import sample

NOBODY = 65534
A = {"path": "a.py", "edits": [{"replace": "V = 1", "insert": "V = 2"}]}
FILLER = "# filler filler filler filler filler filler filler filler filler\n" * 1500
BIG = {"a.py": f"V = 1\n{FILLER}", "pkg/b.py": f"V = 1\n{FILLER}{FILLER}"}
BIG_FILES = (A, {**A, "path": "pkg/b.py"}, {"path": "pkg/new/c.py", "content": f"NEW = 1\n{FILLER}"})
BIG_PATCHED = {
    **{path: text.replace("V = 1", "V = 2") for path, text in BIG.items()},
    "pkg/new/c.py": f"NEW = 1\n{FILLER}",
}
MIB = 1 << 20
NO_SPACE = "No space left on device"
OLD_STATE = "every file has its old content"


def applied(answer: Answer) -> bool:
    return bool(answer.get("changed") and answer.get("status") == "applied")


class TestBindMountedFile:
    @pytest.fixture
    def real(self, case: Case, tmp_path: Path) -> Path:
        real = tmp_path / "outside" / "real.py"
        real.parent.mkdir()
        real.write_text("V = 1\n")
        (case.root / "a.py").touch()
        case.mount("--bind", real, case.root / "a.py")
        return real

    def test_it_is_refused_with_the_way_out(self, case: Case, real: Path) -> None:
        case.present(A)
        case.tree()
        case.status()
        refused, tree, status = case.run()
        words = "cannot be replaced by a rename (Device or resource busy; a bind mount?); unsafe_writes=true"
        assert words in refused["error"]
        assert (tree, status) == ({"a.py": "V = 1\n"}, "pristine")
        assert real.read_text() == "V = 1\n"

    def test_it_is_written_in_place_when_asked_and_comes_back(self, case: Case, real: Path) -> None:
        inode = real.stat().st_ino
        case.present(A, {"path": "b.py", "content": "B = 1\n"}, unsafe_writes=True)
        case.tree()
        case.tree(real.parent)
        case.status()
        case.absent(unsafe_writes=True)
        case.tree()
        case.status()
        present, patched, outside, status, absent, pristine, status_then = case.run()
        assert applied(present)
        assert (patched, status) == ({"a.py": "V = 2\n", "b.py": "B = 1\n"}, "applied")
        assert outside == {"real.py": "V = 2\n"}
        assert absent["changed"]
        assert (pristine, status_then) == ({"a.py": "V = 1\n"}, "pristine")
        assert (real.read_text(), real.stat().st_ino) == ("V = 1\n", inode)

    def test_a_failed_validation_gives_it_back_in_place(self, case: Case, real: Path) -> None:
        case.present({"path": "b.py", "content": "B = 1\n"}, A, unsafe_writes=True, validate=["false"])
        case.tree()
        case.status()
        refused, tree, status = case.run()
        assert OLD_STATE in refused["error"]
        assert (tree, status) == ({"a.py": "V = 1\n"}, "pristine")
        assert real.read_text() == "V = 1\n"


class TestReadOnly:
    @pytest.fixture(params=["the tree", "the store"])
    def where(self, request: pytest.FixtureRequest, case: Case) -> Path:
        (case.root / "a.py").write_text("V = 1\n")
        path = case.root if request.param == "the tree" else case.store
        case.mount("--bind", path, path)
        return path

    def test_nothing_is_patched_info_and_check_still_answer(self, case: Case, where: Path) -> None:
        case.remount("-o", "remount,ro,bind", where)
        case.present(A)
        case.present(A, check=True)
        case.status()
        case.tree()
        case.remount("-o", "remount,rw,bind", where)
        case.present(A)
        case.tree()
        refused, check, status, tree, after, patched = case.run()
        assert "Read-only file system" in refused["error"]
        assert applied(check)
        assert (tree, status) == ({"a.py": "V = 1\n"}, "pristine")
        assert applied(after)
        assert after["warnings"] == []
        assert patched == {"a.py": "V = 2\n"}

    def test_nothing_is_taken_off(self, case: Case, where: Path) -> None:
        case.present(A)
        case.remount("-o", "remount,ro,bind", where)
        case.absent()
        case.present(A)
        case.status()
        case.tree()
        case.remount("-o", "remount,rw,bind", where)
        case.absent()
        case.tree()
        present, refused, again, status, tree, after, pristine = case.run()
        assert applied(present)
        assert "Read-only file system" in refused["error"]
        assert (again["changed"], again["status"]) == (False, "applied")
        assert (tree, status) == ({"a.py": "V = 2\n"}, "applied")
        assert (after["changed"], after["warnings"]) == (True, [])
        assert pristine == {"a.py": "V = 1\n"}


class TestFull:
    """1 MiB, and every amount of free space around what a run needs."""

    def big(self, case: Case) -> None:
        for path, text in BIG.items():
            case.write(path, text)

    def check_refused(self, refused: Answer) -> None:
        assert NO_SPACE in refused["error"]
        assert OLD_STATE in refused["error"] or "nothing was changed" in refused["error"].lower()

    @pytest.mark.parametrize("where", ["root", "store"])
    def test_whatever_space_is_left_it_is_all_or_nothing(self, tmp_path: Path, where: str, figures: Figures) -> None:
        outcomes = {"applied": 0, "refused": 0}
        # From nothing to more than both patched files: in steps of one page.
        for number, pages in enumerate(sample(range(0, 130), 16)):
            base = tmp_path / str(number)
            base.mkdir()
            case = Case(base)
            case.mount("-t", "tmpfs", "-o", "size=1m,mode=0700", "tmpfs", getattr(case, where))
            self.big(case)
            case.fill(getattr(case, where), pages * 4096)
            case.present(*BIG_FILES)
            case.tree()
            case.status()
            case.tree(case.store / "objects")
            case.remove(getattr(case, where) / "ballast")
            case.present(*BIG_FILES)
            case.tree()
            left, present, tree, status, objects, again, patched = case.run()
            assert left <= MIB
            if "error" in present:
                outcomes["refused"] += 1
                self.check_refused(present)
                assert (tree, status, objects) == (BIG, "pristine", {}), pages
                assert applied(again)
            else:
                outcomes["applied"] += 1
                assert (tree, status) == (BIG_PATCHED, "applied"), pages
                assert not again["changed"]
            assert again["warnings"] == []
            assert patched == BIG_PATCHED
        assert min(outcomes.values()) > 1
        figures.add(f"full file system, {where}", outcomes)

    def test_a_full_file_system_never_keeps_half_of_a_patch(self, tmp_path: Path, figures: Figures) -> None:
        outcomes = {"taken off": 0, "refused": 0}
        for number, pages in enumerate(sample(range(0, 100), 12)):
            base = tmp_path / str(number)
            base.mkdir()
            case = Case(base)
            case.mount("-t", "tmpfs", "-o", "size=2m,mode=0700", "tmpfs", case.root)
            self.big(case)
            case.present(*BIG_FILES)
            case.fill(case.root, pages * 4096)
            case.absent()
            case.tree()
            case.status()
            case.remove(case.root / "ballast")
            case.absent()
            case.tree()
            present, _left, absent, tree, status, _again, pristine = case.run()
            assert applied(present)
            if "error" in absent:
                outcomes["refused"] += 1
                self.check_refused(absent)
                assert (tree, status) == (BIG_PATCHED, "applied"), pages
            else:
                outcomes["taken off"] += 1
                assert (tree, status) == (BIG, "pristine"), pages
            assert pristine == BIG
        assert min(outcomes.values()) > 1
        figures.add("full file system, taking off", outcomes)

    def test_no_name_left_in_the_file_system(self, tmp_path: Path) -> None:
        """tmpfs counts names: a new file, a second name and a directory each need one."""
        outcomes = {"applied": 0, "refused": 0}
        for number in range(4, 14):
            base = tmp_path / str(number)
            base.mkdir()
            case = Case(base)
            case.mount("-t", "tmpfs", "-o", f"size=2m,mode=0700,nr_inodes={number}", "tmpfs", case.root)
            self.big(case)
            case.present(*BIG_FILES)
            case.tree()
            case.status()
            present, tree, status = case.run()
            if "error" in present:
                outcomes["refused"] += 1
                self.check_refused(present)
                assert (tree, status) == (BIG, "pristine"), number
            else:
                outcomes["applied"] += 1
                assert (tree, status) == (BIG_PATCHED, "applied"), number
        assert min(outcomes.values()) > 1


root_only = pytest.mark.skipif(not IS_ROOT, reason="only root can act as another user")


@root_only
class TestOtherUsers:
    @pytest.fixture
    def public(self) -> t.Iterator[Case]:
        """A case in a place that every user can reach; its file belongs to root."""
        with tempfile.TemporaryDirectory() as base:
            Path(base).chmod(0o755)
            case = Case(Path(base))
            (case.root / "a.py").write_text("V = 1\n")
            yield case

    def as_nobody(self, case: Case) -> None:
        case.user = NOBODY
        os.chown(case.store, NOBODY, NOBODY)

    def test_a_tree_of_root_is_not_patched_by_another_user(self, public: Case) -> None:
        self.as_nobody(public)
        public.present(A)
        public.present(A, check=True)
        public.status()
        refused, check, status = public.run()
        assert "Permission denied" in refused["error"]
        assert OLD_STATE in refused["error"]
        assert applied(check)
        assert status == "pristine"
        assert [(path.name, path.read_text()) for path in public.root.iterdir()] == [("a.py", "V = 1\n")]
        assert not [path for path in public.store.rglob("*") if path.is_file() and path.name != "lock"]

    def test_a_file_whose_owner_cannot_be_kept_is_not_replaced(self, public: Case) -> None:
        """The directory lets everyone make files, so only the owner's name stands in the way."""
        self.as_nobody(public)
        public.root.chmod(0o777)
        (public.root / "a.py").chmod(0o666)
        public.present({"path": "b.py", "content": "B = 1\n"}, A)
        public.tree()
        refused, tree = public.run()
        words = "belongs to user 0 and group 0, which user 65534 cannot keep; run as the owner or as root (become)"
        assert words in refused["error"]
        assert tree == {"a.py": "V = 1\n"}

    def test_root_keeps_the_owner_of_a_tree_of_another_user(self, public: Case) -> None:
        for path in (public.root, public.root / "a.py"):
            os.chown(path, NOBODY, NOBODY)
        (public.root / "a.py").chmod(0o640)
        public.present(A, {"path": "new/b.py", "content": "B = 1\n"})
        for path in ("a.py", "new", "new/b.py"):
            public.owner(path)
        public.absent()
        public.owner("a.py")
        present, patched, directory, new, _absent, pristine = public.run()
        assert applied(present)
        assert patched == pristine == [NOBODY, NOBODY, 0o640]
        assert directory[:2] == new[:2] == [NOBODY, NOBODY]

    def test_records_of_root_are_for_root_only(self, public: Case) -> None:
        public.present(A)
        public.run()
        public.forget()
        public.user = NOBODY
        public.status()
        public.present(A)
        public.absent()
        status, present, absent = public.run()
        for message in (status, present["error"], absent["error"]):
            assert "Permission denied" in message
        assert (public.root / "a.py").read_text() == "V = 2\n"

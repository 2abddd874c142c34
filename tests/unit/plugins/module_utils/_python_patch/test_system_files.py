# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files as the system has them: links, foreign owners, mounts, bytecode."""

from __future__ import annotations

import importlib.util
import os
import py_compile
import shutil
import subprocess
import sys
import tempfile
import typing as t
from pathlib import Path

import pytest
from ansible_collections.inferops.blackwell.plugins.module_utils._python_patch import files
from patch_tools import Workspace

A = {"path": "a.py", "edits": [{"replace": "V = 1", "insert": "V = 2"}]}


@pytest.fixture
def tree(workspace: Workspace) -> Workspace:
    workspace.write("a.py", "V = 1\n")
    return workspace


class TestLinks:
    def test_a_link_inside_root_is_followed_and_stays_a_link(self, tree: Workspace) -> None:
        (tree.root / "pkg").mkdir()
        (tree.root / "pkg/link.py").symlink_to("../a.py")
        tree.present({**A, "path": "pkg/link.py"})
        assert (tree.root / "pkg/link.py").is_symlink()
        assert tree.read("a.py") == "V = 2\n"
        assert tree.status() == "applied"
        tree.absent()
        assert tree.read("a.py") == "V = 1\n"

    def test_root_may_be_a_link(self, tree: Workspace) -> None:
        real = tree.root
        (tree.base / "current").symlink_to(real)
        tree.root = tree.base / "current"
        tree.present(A)
        tree.root = real
        assert tree.status() == "applied"

    def test_the_other_name_of_a_hard_link_keeps_the_old_content(self, tree: Workspace) -> None:
        cache = tree.base / "cache.py"
        os.link(tree.root / "a.py", cache)
        tree.present(A)
        assert cache.read_text() == "V = 1\n"
        assert (cache.stat().st_nlink, (tree.root / "a.py").stat().st_nlink) == (1, 1)
        tree.absent()
        assert cache.read_text() == "V = 1\n"
        assert tree.read("a.py") == "V = 1\n"

    def test_a_hard_link_survives_a_failed_run(self, tree: Workspace) -> None:
        os.link(tree.root / "a.py", tree.base / "cache.py")
        tree.refused(A, validate=["false"])
        assert (tree.base / "cache.py").samefile(tree.root / "a.py")


def imported(tree: Workspace, **environment: str) -> str:
    """What an import of a.py sees in a fresh process."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    command = [sys.executable, "-c", "import a; print(a.V)"]
    result = subprocess.run(
        command, cwd=tree.root, env={**clean, **environment}, capture_output=True, text=True, check=True
    )
    return result.stdout.strip()


class TestBytecode:
    """V = 1 and V = 2 have one size, and both states can share one second: the pyc alone cannot tell."""

    @pytest.fixture(autouse=True)
    def one_second(self, monkeypatch: pytest.MonkeyPatch) -> None:
        original = files.create_file

        def same_time(path: str, *arguments: t.Any, **keywords: t.Any) -> None:
            original(path, *arguments, **keywords)
            os.utime(path, (1_700_000_000, 1_700_000_000))

        monkeypatch.setattr(files, "create_file", same_time)

    @pytest.fixture
    def timed(self, tree: Workspace) -> Workspace:
        os.utime(tree.root / "a.py", (1_700_000_000, 1_700_000_000))
        return tree

    def test_old_bytecode_is_not_imported(self, timed: Workspace) -> None:
        assert imported(timed) == "1"
        timed.present(A)
        assert imported(timed) == "2"
        timed.absent()
        assert imported(timed) == "1"

    def test_nor_bytecode_that_is_never_checked(self, timed: Workspace) -> None:
        source = str(timed.root / "a.py")
        py_compile.compile(source, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH, doraise=True)
        timed.present(A)
        assert imported(timed) == "2"

    def test_nor_bytecode_below_a_cache_prefix(self, timed: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
        prefix = str(timed.base / "cache")
        assert imported(timed, PYTHONPYCACHEPREFIX=prefix) == "1"
        monkeypatch.setenv("PYTHONPYCACHEPREFIX", prefix)
        timed.present(A)
        assert imported(timed, PYTHONPYCACHEPREFIX=prefix) == "2"

    def test_nor_after_a_failed_validation_that_imported(self, timed: Workspace) -> None:
        code = "import importlib, py_compile, sys; py_compile.compile('a.py'); sys.exit(1)"
        timed.refused(A, validate=[f'{sys.executable} -c "{code}"'])
        assert imported(timed) == "1"

    def test_bytecode_of_other_files_and_names_stays(self, timed: Workspace) -> None:
        cache = timed.root / "__pycache__"
        cache.mkdir()
        for name in ("ab.cpython-311.pyc", "a.txt", "b.cpython-311.pyc"):
            (cache / name).write_bytes(b"x")
        for name in ("a.cpython-39.pyc", "a.cpython-313.opt-2.pyc"):
            (cache / name).write_bytes(b"x")
        timed.present(A)
        assert sorted(path.name for path in cache.iterdir()) == ["a.txt", "ab.cpython-311.pyc", "b.cpython-311.pyc"]

    def test_bytecode_that_cannot_be_removed_and_would_be_imported_stops_the_run(
        self, timed: Workspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        source = str(timed.root / "a.py")
        py_compile.compile(source, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH, doraise=True)
        unlink = os.unlink

        def refuse(path: str) -> None:
            if str(path).endswith(".pyc"):
                raise PermissionError(13, "Permission denied", path)
            unlink(path)

        monkeypatch.setattr(os, "unlink", refuse)
        message = str(timed.refused(A))
        assert f"its old bytecode {importlib.util.cache_from_source(source)} would still be imported" in message
        assert timed.read("a.py") == "V = 1\n"


root_only = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


@pytest.fixture
def mount() -> t.Iterator[t.Callable[..., None]]:
    """mount(8) with its arguments; unmounted in the end, skipped where it is not allowed."""
    points: list[str] = []

    def run(*arguments: str) -> None:
        if subprocess.run(["mount", *arguments], capture_output=True, check=False).returncode:
            pytest.skip("mount is not allowed here")
        if arguments[-1] not in points:
            points.append(arguments[-1])

    yield run
    for point in reversed(points):
        subprocess.run(["umount", point], check=True)


@root_only
class TestMounts:
    def test_a_bind_mounted_file_is_refused_unless_asked(self, tree: Workspace, mount: t.Callable[..., None]) -> None:
        real = tree.base / "real.py"
        real.write_text("V = 1\n")
        mount("--bind", str(real), str(tree.root / "a.py"))
        message = str(tree.refused(A))
        assert "cannot be replaced by a rename (Device or resource busy; a bind mount?); unsafe_writes=true" in message
        assert real.read_text() == "V = 1\n"
        assert [path.name for path in tree.root.iterdir()] == ["a.py"]
        tree.present(A, unsafe_writes=True)
        assert real.read_text() == "V = 2\n"
        tree.refused({**A, "edits": [{"replace": "V = 1", "insert": "V = 3"}]}, unsafe_writes=True, validate=["false"])
        assert real.read_text() == "V = 2\n"
        tree.absent(unsafe_writes=True)
        assert real.read_text() == "V = 1\n"
        assert [path.name for path in tree.root.iterdir()] == ["a.py"]

    def test_a_read_only_tree(self, tree: Workspace, mount: t.Callable[..., None]) -> None:
        mount("--bind", str(tree.root), str(tree.root))
        mount("-o", "remount,ro,bind", str(tree.root))
        message = str(tree.refused(A))
        assert "Read-only file system" in message
        assert "every file has its old content" in message
        assert tree.read("a.py") == "V = 1\n"
        assert tree.status() == "pristine"

    def test_a_file_system_that_fills_up(self, tree: Workspace, mount: t.Callable[..., None]) -> None:
        mount("-t", "tmpfs", "-o", "size=64k", "tmpfs", str(tree.root))
        tree.write("a.py", "V = 1\n" + "# filler\n" * 3000)
        tree.write("b.py", "V = 1\n")
        before = tree.tree()
        recipe = ({**A, "path": "b.py"}, A, {"path": "c.py", "content": "# " + "x" * 30000})
        assert "No space left on device" in str(tree.refused(*recipe))
        assert tree.tree() == before

    def test_a_store_without_space(self, tree: Workspace, mount: t.Callable[..., None]) -> None:
        tree.store.mkdir()
        mount("-t", "tmpfs", "-o", "size=16k", "tmpfs", str(tree.store))
        tree.write("a.py", "V = 1\n" + "# filler\n" * 3000)
        before = tree.tree()
        assert "No space left on device" in str(tree.refused(A))
        assert tree.tree() == before
        assert tree.objects() == []


@root_only
def test_another_user_cannot_patch_a_tree_of_root() -> None:
    """As uid 65534 in a child: refused, nothing changed, the reason named."""
    python = "/usr/bin/python3"
    if not Path(python).exists():
        pytest.skip("no interpreter that every user can run")
    with tempfile.TemporaryDirectory() as base:
        Path(base).chmod(0o755)
        tree = Workspace(Path(base))
        tree.write("a.py", "V = 1\n")
        package = Path(files.__file__).resolve().parent
        shutil.copytree(package, tree.base / package.name, ignore=shutil.ignore_patterns("__pycache__"))
        home = tree.base / "home"
        home.mkdir()
        os.chown(home, 65534, 65534)
        code = (
            "import os, sys; os.setgid(65534); os.setuid(65534); sys.path.insert(0, sys.argv[1])\n"
            "from _python_patch import engine, errors\n"
            f"try: engine.present(engine.Request('set', {str(tree.root)!r}, {str(home / 'store')!r}, [{A!r}]))\n"
            "except errors.PatchError as error: print(error)\n"
        )
        result = subprocess.run([python, "-c", code, base], capture_output=True, text=True, check=True)
        assert "Permission denied" in result.stdout
        assert "every file has its old content" in result.stdout
        assert tree.tree() == {"a.py": "V = 1\n"}
        assert list(home.iterdir()) == []

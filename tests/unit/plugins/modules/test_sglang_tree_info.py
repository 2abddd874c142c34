# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import subprocess
import typing as t
from pathlib import Path

import pytest
from ansible_collections.inferops.blackwell.plugins.modules import sglang_tree_info
from module_tools import run

# What setuptools_scm writes.
WRITTEN = """
__version__: str
version: str
__version__ = version = '0.5.9'
__version_tuple__ = version_tuple = (0, 5, 9)
"""
# 0.5.9 computes its version and keeps a literal for the case that it cannot.
COMPUTED = """
try:
    from sglang._version import __version__
except ImportError:
    __version__ = "0.0.0.dev0"
"""
METADATA = "Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n\nVersion: 9.9.9 of the description\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "sglang").mkdir()
    (tmp_path / "sglang" / "__init__.py").write_text("raise RuntimeError('imported')\n")
    (tmp_path / "sglang" / "version.py").write_text(COMPUTED)
    return tmp_path


def read(root: Path) -> tuple[str, str]:
    result = run(sglang_tree_info, root=str(root))
    assert (result["rc"], result["changed"]) == (0, False)
    return result["version"], result["version_source"]


def git(root: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=n", "-c", "user.email=e@example.com", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)


def commit(root: Path, tag: str = "") -> None:
    git(root, "add", "-A")
    git(root, "commit", "--allow-empty", "-m", "m")
    if tag:
        git(root, "tag", tag)


def test_the_literal_that_setuptools_scm_writes(root: Path) -> None:
    (root / "sglang" / "_version.py").write_text(WRITTEN)
    assert read(root) == ("0.5.9", "sglang/_version.py")


def test_the_literal_of_old_versions(root: Path) -> None:
    (root / "sglang" / "version.py").write_text('__version__ = "0.5.3"\n')
    assert read(root) == ("0.5.3", "sglang/version.py")


def test_a_fallback_inside_the_code_is_no_version(root: Path) -> None:
    assert read(root) == ("", "")


@pytest.mark.parametrize("path", ["sglang-0.5.9.dist-info/METADATA", "sglang.egg-info/PKG-INFO", "PKG-INFO"])
def test_the_metadata_beside_the_package(root: Path, path: str) -> None:
    (root / path).parent.mkdir(exist_ok=True)
    (root / path).write_text(METADATA.format(name="sglang", version="0.5.9"))
    assert read(root) == ("0.5.9", path)


def test_metadata_of_another_project_does_not_count(root: Path) -> None:
    (root / "PKG-INFO").write_text(METADATA.format(name="something", version="1.0"))
    assert read(root) == ("", "")


def test_a_broken_version_file_is_passed_by(root: Path) -> None:
    (root / "sglang" / "_version.py").write_text("__version__ = (\n")
    (root / "PKG-INFO").write_text(METADATA.format(name="sglang", version="0.5.9"))
    assert read(root) == ("0.5.9", "PKG-INFO")


def test_the_tag_of_the_commit(root: Path) -> None:
    git(root, "init")
    commit(root, tag="v0.5.9")
    assert read(root) == ("0.5.9", "git tag v0.5.9")


def test_a_commit_behind_the_tag_names_no_release(root: Path) -> None:
    git(root, "init")
    commit(root, tag="v0.5.9")
    commit(root)
    assert read(root) == ("", "")


def test_the_tag_of_a_repository_around_the_tree_does_not_count(root: Path) -> None:
    git(root, "init")
    (root / ".gitignore").write_text("/sglang/\n")
    commit(root, tag="v3.0")
    assert read(root) == ("", "")


def test_without_git_the_version_is_unknown(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(root, "init")
    commit(root, tag="v0.5.9")
    monkeypatch.setenv("PATH", "/nonexistent")
    assert read(root) == ("", "")


@pytest.mark.parametrize(("asked", "package_at"), [("checkout", "checkout/python"), ("root/sglang", "root")])
def test_a_directory_close_to_the_package_is_told(tmp_path: Path, asked: str, package_at: str) -> None:
    package = tmp_path / package_at / "sglang"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    result: dict[str, t.Any] = run(sglang_tree_info, root=str(tmp_path / asked))
    assert (result["package"], result["nearby"]) == ("", [str(tmp_path / package_at)])


def test_nothing_at_all(tmp_path: Path) -> None:
    result = run(sglang_tree_info, root=str(tmp_path / "missing"), check=True)
    assert (result["package"], result["version"], result["nearby"]) == ("", "", [])

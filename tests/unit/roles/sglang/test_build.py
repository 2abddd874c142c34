# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a user can rely on when a release is built: by every method, twice, in check mode, and when it fails."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest


def git(project, *arguments):
    command = ["git", "-C", project / "repository", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def origin(release):
    code = "import importlib.util; print(importlib.util.find_spec('sglang').origin)"
    return subprocess.run([release["python"], "-I", "-c", code], capture_output=True, text=True, check=True).stdout


def releases(prefix):
    return sorted(path.name for path in (prefix / "releases").iterdir())


@pytest.fixture
def sdist(play, project):
    def run(*arguments, **variables):
        return play(
            *arguments,
            **{"sglang_method": "sdist", "sglang_sdist": str(project / "sglang-0.5.9.tar.gz"), **variables},
        )

    return run


@pytest.fixture
def serving(prefix):
    """A release that serves: no build may touch the link."""
    (prefix / "releases/old").mkdir(parents=True)
    (prefix / "current").symlink_to("releases/old")
    return prefix / "current"


def test_an_sdist_becomes_a_release_and_the_second_run_changes_nothing(sdist, prefix, serving):
    predicted = sdist("--check")
    assert predicted.rc == 0, predicted.output
    assert predicted.changed > 0
    assert releases(prefix) == ["old"]

    first = sdist()
    assert first.rc == 0, first.output
    directory = prefix / "releases" / first.release["id"]
    assert json.loads((directory / "release.json").read_text()) == first.release
    assert json.loads((prefix / "state/sglang.json").read_text()) == first.release
    assert {key: first.release[key] for key in predicted.release} == predicted.release
    assert origin(first.release).startswith(f"{directory}/src/sglang/")
    assert first.release["archive_sha256"]
    assert (directory / "source.tar.gz").exists()
    assert list((directory / "src/sglang/srt/__pycache__").glob("server_args.*.pyc"))
    assert str(serving.readlink()) == "releases/old"

    second = sdist()
    assert second.rc == 0, second.output
    assert second.changed == 0
    assert second.release == first.release


def test_a_tag_of_a_repository_gives_the_version_though_no_tag_is_seen(play, project):
    done = play(sglang_method="git", sglang_git_url=f"file://{project}/repository")
    assert done.rc == 0, done.output
    assert done.release["commit"] == git(project, "rev-parse", "v0.5.9")
    assert done.release["root"] == f"{done.release['directory']}/src/python"
    assert done.release["id"].startswith("0.5.9-")
    assert origin(done.release).startswith(done.release["root"] + "/sglang/")


def test_a_commit_names_the_release_and_pip_builds_it_too(play, project):
    commit = git(project, "rev-parse", "HEAD")
    done = play(
        sglang_method="git",
        sglang_git_url=f"file://{project}/repository",
        sglang_git_commit=commit,
        sglang_version="0.5.10",
        sglang_installer="pip",
    )
    assert done.rc == 0, done.output
    assert done.release["id"].startswith(commit[:12] + "-")
    assert done.release["commit"] == commit
    assert done.release["version"] == "0.5.10"
    assert done.release["installer"]["name"] == "pip"


def test_what_sglang_needs_is_compiled_before_a_server_may_start(sdist, prefix):
    done = sdist(sglang_extra_packages=["needed"], _sglang_imported_packages=["needed", "needed_template", "absent"])
    assert done.rc == 0, done.output
    directory = prefix / "releases" / done.release["id"]
    counts = json.loads((directory / "bytecode.json").read_text())
    assert (counts["compiled"], counts["no_python"]) == (1, 1)
    assert list((directory / "venv").rglob("site-packages/__pycache__/needed.*.pyc"))


def test_a_release_whose_compiling_was_cut_short_is_compiled_by_the_next_run(sdist, prefix):
    directory = prefix / "releases" / sdist().release["id"]
    (directory / "bytecode.json").unlink()
    again = sdist()
    assert again.rc == 0, again.output
    assert again.changed == 1
    assert (directory / "bytecode.json").exists()


def test_a_wheel_is_installed_and_its_root_is_where_it_landed(play, project):
    done = play(sglang_method="wheel")
    assert done.rc == 0, done.output
    assert done.release["root"].endswith("/site-packages")
    assert list(Path(done.release["root"]).glob("sglang/srt/__pycache__/server_args.*.pyc"))
    assert origin(done.release).startswith(done.release["root"] + "/sglang/")


def test_a_failed_build_leaves_current_alone_and_the_next_run_goes_on(sdist, prefix, serving):
    failed = sdist(sglang_extra_packages=["no-such-package"])
    assert failed.rc != 0
    assert "no-such-package" in failed.text
    assert str(serving.readlink()) == "releases/old"
    assert not list(prefix.glob("releases/*/release.json"))

    left = next(path for path in prefix.glob("releases/*/src"))
    (left / "half-written").write_text("from the failed build")
    again = sdist()
    assert again.rc == 0, again.output
    assert again.release["directory"] == str(left.parent)
    assert not (left / "half-written").exists()
    assert str(serving.readlink()) == "releases/old"


def test_another_method_makes_a_second_release_beside_the_first(sdist, play, prefix):
    first = sdist().release
    second = play(sglang_method="wheel").release
    assert second["id"].startswith(first["id"] + "-")
    assert releases(prefix) == sorted([first["id"], second["id"]])
    again = sdist()
    assert again.changed <= 1  # only state/sglang.json, which names the release of this run
    assert again.release["id"] == first["id"]


def test_a_release_that_calls_itself_another_version_is_refused(sdist, prefix):
    done = sdist(sglang_version="0.5.8", sglang_sdist_sha256="")
    assert done.rc == 0, done.output  # the build takes the version it is told

    (prefix / "releases" / done.release["id"] / "src/sglang/_version.py").write_text("__version__ = '0.5.7'\n")
    again = sdist(sglang_version="0.5.8")
    assert again.rc != 0
    assert "calls itself 0.5.7 and 0.5.8, but sglang_version is 0.5.8" in again.text


def test_an_archive_with_another_hash_is_refused_before_anything_is_installed(sdist, prefix):
    done = sdist(sglang_sdist_sha256="0" * 64)
    assert done.rc != 0
    assert "was asked for" in done.text
    assert not list(prefix.glob("releases/*/src"))


class TestExisting:
    @pytest.fixture
    def by_hand(self, play, project, tmp_path):
        environment = tmp_path / "environment"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
        site = next(environment.glob("lib/python*/site-packages"))
        (site / "by-hand.pth").write_text(f"{project}/sglang-0.5.9\n")

        def run(*arguments, **variables):
            values = {
                "sglang_method": "existing",
                "sglang_existing_root": str(project / "sglang-0.5.9"),
                "sglang_existing_python": str(environment / "bin/python"),
            }
            return play(*arguments, **{**values, **variables})

        return run

    def test_is_described_and_not_built(self, by_hand, project, prefix):
        done = by_hand()
        assert done.rc == 0, done.output
        assert done.release["root"] == str(project / "sglang-0.5.9")
        assert sorted(path.name for path in (prefix / "releases" / done.release["id"]).iterdir()) == [
            "release.json",
            "source-manifest.json",
            "source.tar.gz",
        ]
        assert by_hand().changed == 0

    def test_an_interpreter_that_imports_another_tree_is_refused(self, by_hand, project, tmp_path):
        done = by_hand(sglang_existing_root=str(tmp_path))
        assert done.rc != 0
        assert f"imports sglang from {project}/sglang-0.5.9/sglang/__init__.py, not from {tmp_path}" in done.text

    def test_another_version_than_asked_for_is_refused(self, by_hand, prefix):
        done = by_hand(sglang_version="0.5.10")
        assert done.rc != 0
        assert "Set sglang_version to the version of the tree" in done.text
        assert not (prefix / "releases").exists()


def test_all_that_is_wrong_is_said_at_once(play):
    done = play(sglang_method="git", sglang_git_commit="main", sglang_version="latest", sglang_python="")
    assert done.rc != 0
    for name in ("sglang_git_commit is 'main'", "sglang_version is 'latest'", "set sglang_python"):
        assert name in done.text


def test_an_index_with_a_password_shows_it_nowhere(sdist, prefix, project):
    secret = "p4ss-w0rd"
    done = sdist("-v", sglang_index_url=f"https://user:{secret}@mirror.example.com/simple")
    assert done.rc == 0, done.output
    assert secret not in done.output
    kept = [path for path in prefix.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]
    assert kept == []


def test_old_releases_go_but_never_what_serves_served_or_is_in_use(play, prefix):
    for number in range(1, 7):
        directory = prefix / f"releases/r{number}"
        directory.mkdir(parents=True)
        (directory / "release.json").write_text(json.dumps({"id": directory.name, "built_at": f"2026-01-0{number}"}))
        (prefix / f"cache/r{number}").mkdir(parents=True)
    (prefix / "releases/half").mkdir()
    (prefix / "releases/r1/healthy.json").write_text('{"healthy_at": "2026-01-01"}')
    (prefix / "releases/r2/healthy.json").write_text('{"healthy_at": "2026-01-02"}')
    (prefix / "current").symlink_to("releases/r3")
    waiting = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    with subprocess.Popen(waiting, stdin=subprocess.PIPE, cwd=prefix / "releases/r4"):
        done = play(entry="prune", sglang_keep_releases="1")
    assert done.rc == 0, done.output
    # r2 was healthy last, r3 serves, r4 is in use, r6 is the newest.
    assert releases(prefix) == ["r2", "r3", "r4", "r6"]
    assert sorted(path.name for path in (prefix / "cache").iterdir()) == ["r2", "r3", "r4", "r6"]

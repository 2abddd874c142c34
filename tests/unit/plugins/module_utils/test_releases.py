# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which releases a prefix holds, and who uses them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import ansible_collections.inferops as inferops
import pytest
from ansible_collections.inferops.blackwell.plugins.module_utils._releases import current_id, list_releases


@pytest.fixture
def prefix(tmp_path):
    """Two complete releases, the older one healthy and serving, and one that was never finished."""
    for name, built_at in (("0.5.9-aaa", "2026-01-02T00:00:00Z"), ("0.5.10-bbb", "2026-01-01T00:00:00Z")):
        directory = tmp_path / "releases" / name
        directory.mkdir(parents=True)
        (directory / "release.json").write_text(json.dumps({"id": name, "built_at": built_at}))
    (tmp_path / "releases/0.5.10-bbb/healthy.json").write_text('{"healthy_at": "2026-01-01T01:00:00Z"}')
    (tmp_path / "releases/0.5.11-ccc/venv").mkdir(parents=True)
    (tmp_path / "current").symlink_to("releases/0.5.10-bbb")
    return tmp_path


def by_id(prefix):
    return {release["id"]: release for release in list_releases(prefix)}


def test_the_newest_build_comes_last_and_incomplete_ones_first(prefix):
    assert [release["id"] for release in list_releases(prefix)] == ["0.5.11-ccc", "0.5.10-bbb", "0.5.9-aaa"]


def test_a_release_without_its_last_file_is_incomplete(prefix):
    assert not by_id(prefix)["0.5.11-ccc"]["complete"]
    assert by_id(prefix)["0.5.11-ccc"]["release"] is None


def test_a_release_with_half_a_file_is_incomplete(prefix):
    (prefix / "releases/0.5.9-aaa/release.json").write_text('{"id": "0.5')
    assert not by_id(prefix)["0.5.9-aaa"]["complete"]


def test_current_and_health_are_told(prefix):
    assert current_id(prefix) == "0.5.10-bbb"
    serving = by_id(prefix)["0.5.10-bbb"]
    assert serving["current"]
    assert serving["healthy_at"] == "2026-01-01T01:00:00Z"
    assert not by_id(prefix)["0.5.9-aaa"]["current"]


def test_a_link_that_leads_nowhere_is_no_current_release(prefix):
    (prefix / "current").unlink()
    (prefix / "current").symlink_to("releases/gone")
    assert current_id(prefix) == ""


def test_a_prefix_that_is_not_there_has_no_release(tmp_path):
    assert list_releases(tmp_path / "none") == []


def test_a_process_is_seen_by_its_arguments_and_by_its_working_directory(prefix):
    releases = prefix / "releases"
    waiting = "import sys; sys.stdin.read()"
    by_argument = [sys.executable, "-c", waiting, f"--target={releases}/0.5.11-ccc/venv"]
    by_directory = [sys.executable, "-c", waiting]
    with (
        subprocess.Popen(by_argument, stdin=subprocess.PIPE) as first,
        subprocess.Popen(by_directory, stdin=subprocess.PIPE, cwd=releases / "0.5.9-aaa") as second,
    ):
        found = by_id(prefix)
    assert [process["pid"] for process in found["0.5.11-ccc"]["processes"]] == [first.pid]
    assert [process["pid"] for process in found["0.5.9-aaa"]["processes"]] == [second.pid]
    assert found["0.5.10-bbb"]["processes"] == []


def test_who_asks_does_not_count(prefix):
    code = (
        "import sys; from pathlib import Path\n"
        "from ansible_collections.inferops.blackwell.plugins.module_utils._releases import list_releases\n"
        "print([r['processes'] for r in list_releases(Path(sys.argv[1])) if r['id'] == '0.5.9-aaa'])"
    )
    root = Path(next(iter(inferops.__path__))).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", code, str(prefix), f"{prefix}/releases/0.5.9-aaa/x"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    assert done.stdout.strip() == "[[]]"

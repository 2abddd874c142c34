# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""After the patch: the lines of the contract, nothing else, and a way back."""

from __future__ import annotations

import pytest

SERVER_ARGS = "sglang/srt/server_args.py"
WORKER = "sglang/srt/speculative/eagle_worker_v2.py"
LINES = {
    476: "    speculative_disable_batch_threshold: int = 0  # 0 = always speculate",
    3985: '            "--speculative-disable-batch-threshold",',
    3986: "            type=int,",
    3987: "            default=ServerArgs.speculative_disable_batch_threshold,",
}


@pytest.fixture(scope="module")
def root(variables):
    return variables["threshold_patch_root"]


@pytest.fixture(scope="module")
def patches(module, root):
    return module("python_patch_info", root=root)["patches"]


@pytest.mark.parametrize("number", LINES)
def test_the_lines_stand_where_the_repaired_file_has_them(host, root, number):
    assert host.check_output("sed -n %sp %s", str(number), f"{root}/{SERVER_ARGS}") == LINES[number].strip("\n")


def test_the_syntax_tree_shows_the_field_and_the_flag_once_each(module, root):
    queries = [
        {"pattern": "speculative_disable_batch_threshold: int = 0", "in": "ServerArgs"},
        {
            "pattern": 'parser.add_argument("--speculative-disable-batch-threshold", ...)',
            "in": "ServerArgs.add_cli_args",
        },
    ]
    results = module("python_source_info", path=f"{root}/{SERVER_ARGS}", queries=queries)["results"]
    assert [(result["count"], result["lines"]) for result in results] == [(1, [476]), (1, [3984])]


def test_the_manifest_and_the_disk_agree_and_nothing_else_changed(patches, hashes, unlike_record, root):
    assert [patch["status"] for patch in patches] == ["applied"]
    claimed = {file["path"]: file["sha256_after"] for file in patches[0]["files"]}
    assert {SERVER_ARGS, WORKER} <= claimed.keys()
    assert unlike_record(root) == claimed.keys()
    now = hashes(root)
    assert {path: now.get(path) for path in claimed} == claimed


def test_the_backups_are_the_pristine_bytes_outside_the_tree(host, patches, root, variables, records):
    backups = {file["path"]: file["backup"] for file in patches[0]["files"] if file["backup"]}
    assert {SERVER_ARGS, WORKER} <= backups.keys()
    for path, backup in backups.items():
        assert not backup.startswith(f"{root}/")
        assert host.file(backup).sha256sum == records[variables["archive"]][path]


def test_owner_and_mode_are_kept_and_new_files_are_readable(host, patches, root):
    for file in patches[0]["files"]:
        on_disk = host.file(f"{root}/{file['path']}")
        assert (on_disk.user, on_disk.group, on_disk.mode) == ("root", "root", 0o644), file["path"]


def test_every_patched_file_compiles(host, patches, root):
    for file in patches[0]["files"]:
        program = "import ast, sys; ast.parse(open(sys.argv[1], 'rb').read())"
        host.check_output("python3 -c %s %s", program, f"{root}/{file['path']}")

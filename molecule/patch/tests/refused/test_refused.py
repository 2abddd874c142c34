# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Trees and recipes that must be refused, and leave every byte as it was."""

from __future__ import annotations

import pytest
from broken_recipes import BROKEN, SERVER_ARGS, names_a_line

# The end state of the incident: someone has put the lines there with sed.
FIELD = r"475a\    speculative_disable_batch_threshold: int = 0  # 0 = always speculate"
FLAG = (
    r"3982a\        parser.add_argument(\n"
    r'            "--speculative-disable-batch-threshold",\n            type=int,\n            default=0,\n        )'
)


@pytest.fixture
def copy(host, variables):
    """A copy of the tree that a test may spoil."""
    path = "/srv/spoiled"
    host.check_output("rm -rf %s && cp -a %s %s", path, variables["threshold_patch_root"], path)
    yield path
    host.check_output("rm -rf %s", path)


# The message may point at the call or at its first argument.
BY_HAND = {"both": ([FIELD, FLAG], {476}), "field": ([FIELD], {476}), "flag": ([FLAG], {3983, 3984})}


@pytest.mark.parametrize(("edits", "lines"), BY_HAND.values(), ids=BY_HAND)
def test_a_tree_patched_by_hand_is_refused_with_file_and_line(host, copy, hashes, playbook, edits, lines):
    # Bottom up, so that the numbers hold.
    for edit in reversed(edits):
        host.check_output("sed -i %s %s", edit, f"{copy}/{SERVER_ARGS}")
    before = hashes(copy)
    done = playbook("patch", threshold_patch_root=copy)
    assert done.returncode != 0, done.stdout
    assert any(f"{SERVER_ARGS}:{line}:" in done.stdout for line in lines), done.stdout
    assert "pristine" in done.stdout, done.stdout
    assert hashes(copy) == before


@pytest.mark.parametrize("recipe", BROKEN.values(), ids=BROKEN)
def test_a_broken_recipe_changes_nothing_and_names_file_and_line(module, unlike_record, variables, recipe):
    root = variables["threshold_patch_root"]
    result = module("python_patch", name="broken", root=root, files=recipe.files)
    assert result["failed"], result
    assert recipe.blamed in result["msg"], result
    assert names_a_line(result["msg"]), result
    assert unlike_record(root) == set()

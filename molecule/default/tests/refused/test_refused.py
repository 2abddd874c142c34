# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The incident, tried again beside the running server: a patch that would break it never reaches the disk."""

from __future__ import annotations

import pytest
from broken_recipes import BROKEN, SERVER_ARGS, names_a_line


@pytest.mark.parametrize("recipe", BROKEN.values(), ids=BROKEN)
def test_a_broken_recipe_changes_nothing_and_the_server_goes_on(module, server, hashes, recipe):
    root, pid, before = server.release["root"], server.pid, hashes(server.release["root"])
    result = module("python_patch", name="broken", root=root, store="/opt/inferops/patches", files=recipe.files)
    assert result["failed"], result
    assert recipe.blamed in result["msg"], result
    assert names_a_line(result["msg"]), result
    assert hashes(root) == before
    assert server.pid == pid
    assert len(server.generate()) == 8


def test_a_patch_by_hand_is_refused_by_the_play_and_the_server_goes_on(host, server, hashes, playbook):
    """Someone edits the serving tree with sed; the next deployment stops instead of building upon it."""
    root, pid = server.release["root"], server.pid
    file = f"{root}/{SERVER_ARGS}"
    host.check_output("cp -p %s /root/kept && sed -i '476s/= 0/= 1/' %s", file, file)
    try:
        before = hashes(root)
        done = playbook("site")
        assert done.returncode != 0, done.stdout
        assert SERVER_ARGS in done.stdout, done.stdout
        assert hashes(root) == before
        assert server.pid == pid
        assert len(server.generate()) == 8
    finally:
        host.check_output("cp -p /root/kept %s", file)

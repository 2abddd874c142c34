# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""After the rollback to pristine: the same server without the patch and without its flag."""

from __future__ import annotations

UNIT = "sglang@main.service"
# setuptools_scm writes this file at every build.
BUILD_FILE = "sglang/_version.py"


def test_it_is_healthy_and_answers(host, server):
    assert host.service(UNIT).is_running
    assert server.ask("/get_server_info")["version"] == "0.5.9"
    assert len(server.generate()) == 8


def test_the_flag_left_the_command_line_together_with_the_patch(server):
    assert "--speculative-disable-batch-threshold" not in server.arguments
    assert "speculative_disable_batch_threshold" not in server.ask("/get_server_info")


def test_every_file_is_the_one_of_the_record(server, unlike_record):
    assert unlike_record(server.release["root"]) <= {BUILD_FILE}


def test_no_patch_is_noted_as_applied(module, server):
    patches = module("python_patch_info", root=server.release["root"], store="/opt/inferops/patches")["patches"]
    assert {patch["status"] for patch in patches} <= {"pristine", "missing"}

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""After the rollback, and after every patch that was refused."""

from __future__ import annotations


def test_every_file_is_the_one_of_the_record(unlike_record, variables):
    assert unlike_record(variables["threshold_patch_root"]) == set()


def test_no_patch_is_noted_as_applied(module, variables):
    patches = module("python_patch_info", root=variables["threshold_patch_root"])["patches"]
    assert {patch["status"] for patch in patches} <= {"pristine", "missing"}

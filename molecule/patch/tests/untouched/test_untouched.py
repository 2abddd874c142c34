# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""After the check-mode run: what was announced has not happened."""

from __future__ import annotations


def test_no_file_of_the_package_is_touched_or_added(unlike_record, variables):
    assert unlike_record(variables["threshold_patch_root"]) == set()


def test_not_even_the_store_is_made(host):
    assert not host.file("/var/lib/inferops").exists

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""After the check-mode run on a bare host: what was announced has not happened."""

from __future__ import annotations


def test_no_prefix_no_account_no_unit(host):
    assert not host.file("/opt/inferops").exists
    assert not host.user("sglang").exists
    assert host.run("systemctl cat sglang@main.service").rc != 0


def test_not_even_a_store_of_patches(host):
    assert not host.file("/var/lib/inferops").exists

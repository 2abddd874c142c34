# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Defaults that the modules share."""

from __future__ import annotations

import os


def default_store() -> str:
    """Root's store serves the whole host; others keep theirs in their home."""
    if os.geteuid() == 0:
        return "/var/lib/inferops/patches"
    state = os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(state, "inferops", "patches")

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes `ansible_collections.inferops.blackwell` importable under plain pytest.

`make setup` links the checkout below .venv/collections, whatever the checkout's own name is;
Ansible's own loader then resolves imports as it does in a real run.
"""

from __future__ import annotations

from pathlib import Path

from ansible.plugins.loader import init_plugin_loader

ROOT = Path(__file__).resolve().parents[2]

init_plugin_loader([str(ROOT / ".venv" / "collections")])

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Attributes that every module of this collection states."""

from __future__ import annotations


class ModuleDocFragment:
    """`extends_documentation_fragment: inferops.blackwell.attributes[.info_module|.action]`."""

    DOCUMENTATION = r"""
options: {}
attributes:
  check_mode:
    description: Runs in C(check_mode) and predicts the changed status without modifying the target.
  diff_mode:
    description: Returns what has changed, or would change in C(check_mode), when in diff mode.
  idempotent:
    description:
      - When run twice in a row outside check mode, with the same arguments, the second invocation indicates no change.
      - This assumes that the system controlled or queried by the module has not changed in a relevant way.
"""

    INFO_MODULE = r"""
options: {}
attributes:
  check_mode:
    support: full
    details: This module does not modify state.
  diff_mode:
    support: N/A
    details: This module does not modify state.
  idempotent:
    support: full
    details: This module does not modify state.
"""

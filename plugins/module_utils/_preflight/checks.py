# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All checks of one host, in the order a person would read them."""

from __future__ import annotations

import typing as t

from ansible_collections.inferops.blackwell.plugins.module_utils._preflight import (
    check_devices,
    check_machine,
    check_models,
    check_software,
    values,
)
from ansible_collections.inferops.blackwell.plugins.module_utils._preflight.context import Context


def look(settings: dict[str, t.Any], plan: dict[str, t.Any], disk_bytes: int, memory_bytes: int) -> Context:
    """Everything that was found, whatever is wrong."""
    context = Context(settings, plan, disk_bytes, memory_bytes)
    values.check_values(context.settings, context.findings)
    check_machine.check_system(context)
    check_machine.check_user_and_prefix(context)
    check_software.check_python(context)
    check_software.check_sglang(context)
    check_software.check_threshold(context)
    check_devices.check_cuda(context)
    check_devices.check_device(context)
    check_models.check_model(context)
    check_models.check_draft_model(context)
    check_machine.check_port(context)
    return context

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Line numbers as a person writes them down."""

from __future__ import annotations

DOCUMENTATION = r"""
name: line_ranges
author:
  - inferops contributors (@inferops)
version_added: 0.1.0
short_description: Write line numbers as ranges
description:
  - Sorts line numbers and joins those that follow each other, as in V(476, 3985-3989).
positional: _input
options:
  _input:
    description: The numbers, in any order.
    type: list
    elements: int
    required: true
"""

EXAMPLES = r"""
- name: Say where the patch stands
  ansible.builtin.debug:
    msg: "lines {{ threshold_patch_result.lines['sglang/srt/server_args.py'] | inferops.blackwell.line_ranges }}"
"""

RETURN = r"""
_value:
  description: The ranges, with commas between them.
  type: str
"""

import typing as t  # noqa: E402

from ansible.errors import AnsibleFilterError  # noqa: E402


def line_ranges(numbers: t.Any) -> str:
    """`[3987, 476, 3985, 3986]` as `476, 3985-3987`."""
    try:
        wanted = sorted({int(number) for number in numbers})
    except (TypeError, ValueError) as error:
        raise AnsibleFilterError(f"line_ranges needs a list of line numbers, got {numbers!r}") from error
    spans: list[list[int]] = []
    for number in wanted:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ", ".join([str(first) if first == last else f"{first}-{last}" for first, last in spans])


class FilterModule:
    """Filters of this file, for Ansible's loader."""

    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        return {"line_ranges": line_ranges}

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import typing as t

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.inferops.blackwell.plugins.filter.line_ranges import FilterModule, line_ranges


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ([476, 3985, 3986, 3987], "476, 3985-3987"),
        ([3, 1, 2, 2], "1-3"),
        ([1, 3, 5, 6], "1, 3, 5-6"),
        (["7", "8"], "7-8"),
        ([], ""),
    ],
)
def test_numbers_that_follow_each_other_are_joined(numbers: list[t.Any], text: str) -> None:
    assert line_ranges(numbers) == text


@pytest.mark.parametrize("numbers", [None, 7, ["seven"], [[1]]])
def test_anything_else_is_named(numbers: t.Any) -> None:
    with pytest.raises(AnsibleFilterError, match="line_ranges needs a list of line numbers, got"):
        line_ranges(numbers)


def test_ansible_finds_it() -> None:
    assert FilterModule().filters() == {"line_ranges": line_ranges}

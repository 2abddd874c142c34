# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.inferops.blackwell.plugins.filter.text_table import FilterModule, text_table


def test_columns_are_as_wide_as_their_longest_cell() -> None:
    assert text_table([["host", "a"], ["url", "http://b"]], title="SGLang") == [
        "SGLang",
        "+------+----------+",
        "| host | a        |",
        "| url  | http://b |",
        "+------+----------+",
    ]


def test_the_last_column_is_wrapped_at_the_width() -> None:
    lines = text_table([["lines", "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11"]], width=36)
    assert lines[1:-1] == ["| lines | 1, 2, 3, 4, 5, 6, 7, 8, |", "|       | 9, 10, 11               |"]


def test_a_long_path_stays_whole() -> None:
    path = "/a/" + "b" * 200 + "-c"
    assert any(path in line for line in text_table([["log", path]], width=40))


def test_line_breaks_in_any_cell_are_kept() -> None:
    assert text_table([["a\nb", "x"]])[1:-1] == ["| a | x |", "| b |   |"]


def test_everything_becomes_text() -> None:
    assert text_table([[1, None, 2.5]])[1] == "| 1 | None | 2.5 |"


def test_no_rows_leave_the_title() -> None:
    assert text_table([], title="SGLang") == ["SGLang"]
    assert text_table([]) == []


@pytest.mark.parametrize("rows", ["text", ["text"], {"a": 1}, 3])
def test_what_is_no_list_of_rows_is_refused(rows: object) -> None:
    with pytest.raises(AnsibleFilterError, match="list of rows"):
        text_table(rows)


@pytest.mark.parametrize("rows", [[["a"], ["a", "b"]], [[]]])
def test_rows_of_different_lengths_are_refused(rows: list[list[str]]) -> None:
    with pytest.raises(AnsibleFilterError, match="same number of cells"):
        text_table(rows)


def test_the_filter_is_found_under_its_name() -> None:
    assert FilterModule().filters() == {"text_table": text_table}

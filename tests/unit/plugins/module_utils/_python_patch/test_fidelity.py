# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bytes outside the inserted text are the original's, whatever the file is written in."""

from __future__ import annotations

import pytest
from patch_tools import Workspace, edit, lines, refusal

AFTER = {"after": "a = ...", "insert": "if a:\n    new = 'x'"}


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_inserted_lines_end_like_those_of_the_file(newline: str) -> None:
    source = newline.join(["a = 1", "b = 2", ""])
    expected = newline.join(["a = 1", "if a:", "    new = 'x'", "b = 2", ""])
    assert edit(source, AFTER) == expected
    assert lines(source, AFTER) == [(2, 3)]


def test_mixed_line_ends_stay_mixed_and_the_neighbour_s_is_taken() -> None:
    source = "a = 1\r\nb = 2\nc = 3\r\n"
    assert edit(source, {"after": "a = 1", "insert": "x = 1"}) == "a = 1\r\nx = 1\r\nb = 2\nc = 3\r\n"
    assert edit(source, {"after": "b = 2", "insert": "x = 1"}) == "a = 1\r\nb = 2\nx = 1\nc = 3\r\n"
    assert edit(source, {"before": "c = 3", "insert": "x = 1"}) == "a = 1\r\nb = 2\nx = 1\r\nc = 3\r\n"


@pytest.mark.parametrize("tail", ["", "  # end", ";"])
def test_a_missing_final_line_end_stays_missing(tail: str) -> None:
    assert edit("b = 2\na = 1" + tail, AFTER) == "b = 2\na = 1" + tail + "\nif a:\n    new = 'x'"


def test_the_line_end_of_the_file_is_used_where_the_last_line_has_none() -> None:
    assert edit("b = 2\r\na = 1", AFTER) == "b = 2\r\na = 1\r\nif a:\r\n    new = 'x'"


def test_a_byte_order_mark_stays_in_front() -> None:
    mark = b"\xef\xbb\xbf"
    assert edit(mark + b"a = 1\n", {"before": "a = 1", "insert": "x = 1"}) == mark + b"x = 1\na = 1\n"
    assert edit(mark + b"a = 1\n", {"replace": "1", "insert": "22"}) == mark + b"a = 22\n"
    assert edit(mark + b"", {"at": "start", "insert": "x = 1"}) == mark + b"x = 1\n"


@pytest.mark.parametrize(
    ("encoding", "word"),
    [
        ("latin-1", "äöü"),
        ("cp1251", "привет"),
        ("shift_jis", "日本語ソ"),
        ("gb18030", "中文"),
        ("euc-kr", "한국"),
        ("utf-8", "日本"),
    ],
)
def test_columns_behind_characters_of_any_encoding(encoding: str, word: str) -> None:
    source = f"# coding: {encoding}\nw = '{word}'; a = f('{word}')  # {word}\nb = 2\n".encode(encoding)
    expected = f"# coding: {encoding}\nw = '{word}'; a = g('{word}')  # {word}\nb = 2\n".encode(encoding)
    assert edit(source, {"replace": "f(...)", "insert": f"g('{word}')"}) == expected
    after = edit(source, {"after": "a = ...", "insert": f"x = '{word}'"})
    assert after == source.replace(b"b = 2", f"x = '{word}'\nb = 2".encode(encoding))


def test_what_the_encoding_does_not_have_is_refused() -> None:
    source = b"# coding: latin-1\na = 1\n"
    assert refusal(source, {"after": "a = 1", "insert": "x = '\u20ac'"}) == (
        "m.py: edit 1 (after `a = 1` in the module): `insert` holds '\u20ac', "
        "which the file's encoding iso-8859-1 does not have"
    )


def test_an_encoding_with_shift_states_is_edited_right_or_refused() -> None:
    word = "日本"
    source = f"# coding: iso-2022-jp\na = '{word}'\nb = '{word}'\n".encode("iso-2022-jp")
    result = edit(source, {"after": "a = ...", "insert": f"x = '{word}'"})
    assert result.decode("iso-2022-jp") == source.decode("iso-2022-jp").replace("b =", f"x = '{word}'\nb =")


def test_an_unknown_encoding_is_refused() -> None:
    assert refusal(b"# coding: no-such\na = 1\n", AFTER).startswith("m.py")


def test_an_inserted_comment_cannot_change_the_encoding() -> None:
    message = refusal(b"a = '\xc3\xa4'\n", {"before": "a = ...", "insert": "# coding: latin-1"})
    assert "would change the file's encoding" in message


def test_form_feeds_stay() -> None:
    source = "a = 1\n\f\nclass A:\n\f    x = 1\n    y = 2\n"
    assert edit(source, {"in": "A", "before": "x = 1", "insert": "z = 3"}) == (
        "a = 1\n\f\nclass A:\n    z = 3\n\f    x = 1\n    y = 2\n"
    )
    assert edit(source, AFTER) == "a = 1\nif a:\n    new = 'x'\n\f\nclass A:\n\f    x = 1\n    y = 2\n"


def test_separators_that_end_no_line_are_not_counted() -> None:
    source = "s = 'x\u2028y\x0bz\x1c'; t = 1\na = 1\nb = 2\n"
    assert edit(source, AFTER) == source.replace("b = 2", "if a:\n    new = 'x'\nb = 2")


def test_comments_odd_spacing_and_continuations_stay() -> None:
    source = "# top\na = ( 1 ,\n\t2 )   # x\t\n\n\n   # odd\nb  =\\\n  3\n"
    assert edit(source, AFTER) == source.replace("# x\t\n", "# x\t\nif a:\n    new = 'x'\n")


def test_null_bytes_are_refused() -> None:
    assert "does not parse" in refusal(b"a = 1\n\0\n", AFTER)


def test_a_new_file_says_no_other_encoding_than_it_is_written_in(workspace: Workspace) -> None:
    recipe = {"path": "m.py", "content": "# coding: latin-1\nA = 'é'\n"}
    assert str(workspace.refused(recipe)) == "m.py:1: `content` is written as UTF-8, but its comment says iso-8859-1"

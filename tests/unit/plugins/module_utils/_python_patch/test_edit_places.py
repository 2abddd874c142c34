# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where inserted text goes, in ordinary and in odd places, and where none can go."""

from __future__ import annotations

import itertools

import pytest
from patch_tools import edit, lines, refusal

NEW = {"insert": "new = 1"}


class TestAfter:
    def test_below_the_statement_and_its_trailing_comment(self) -> None:
        assert edit("a = 1  # one\nb = 2\n", {"after": "a = 1", **NEW}) == "a = 1  # one\nnew = 1\nb = 2\n"

    def test_below_a_statement_of_several_lines(self) -> None:
        assert edit("a = f(\n    1,\n)  # f\nb = 2\n", {"after": "a = ...", **NEW}) == (
            "a = f(\n    1,\n)  # f\nnew = 1\nb = 2\n"
        )

    def test_an_expression_anchors_its_innermost_statement(self) -> None:
        source = "if x:\n    y = [f(1)]\n    z()\n"
        assert edit(source, {"after": "f(1)", **NEW}) == "if x:\n    y = [f(1)]\n    new = 1\n    z()\n"

    def test_an_expression_in_a_header_anchors_the_whole_compound_statement(self) -> None:
        assert edit("if f(1):\n    y()\nz()\n", {"after": "f(1)", **NEW}) == "if f(1):\n    y()\nnew = 1\nz()\n"

    def test_a_compound_statement_with_its_else(self) -> None:
        source = "if x:\n    a()\nelse:\n    b()\nc()\n"
        assert edit(source, {"after": "if x:\n    ...\nelse:\n    ...", **NEW}) == (
            "if x:\n    a()\nelse:\n    b()\nnew = 1\nc()\n"
        )

    def test_a_run_is_left_as_a_whole(self) -> None:
        assert edit("a()\nb()\nc()\n", {"after": "a()\nb()", **NEW}) == "a()\nb()\nnew = 1\nc()\n"

    def test_the_last_statement_of_a_semicolon_line(self) -> None:
        assert edit("a = 1; b = 2;  # c\n", {"after": "b = 2", **NEW}) == "a = 1; b = 2;  # c\nnew = 1\n"

    def test_a_backslash_behind_the_statement(self) -> None:
        assert edit("a = 1 \\\n\nb = 2\n", {"after": "a = 1", **NEW}) == "a = 1 \\\n\nnew = 1\nb = 2\n"

    def test_a_one_line_compound_statement_as_a_whole(self) -> None:
        assert edit("if x: y()  # c\nz()\n", {"after": "if x: ...", **NEW}) == "if x: y()  # c\nnew = 1\nz()\n"


class TestBefore:
    def test_above_the_statement_below_its_comment(self) -> None:
        assert edit("# a\na = 1\n", {"before": "a = 1", **NEW}) == "# a\nnew = 1\na = 1\n"

    @pytest.mark.parametrize("pattern", ["def f(): ...", "@d\n@...\ndef f(): ..."])
    def test_above_all_decorators(self, pattern: str) -> None:
        source = "x = 1\n@d\n@e(  # @\n    1)\ndef f(): pass\n"
        assert edit(source, {"before": pattern, **NEW}) == "x = 1\nnew = 1\n@d\n@e(  # @\n    1)\ndef f(): pass\n"

    def test_above_a_decorator_in_parentheses(self) -> None:
        source = "@(\n    # see @home\n    d\n)\ndef f(): pass\n"
        assert edit(source, {"before": "def f(): ...", **NEW}) == "new = 1\n" + source

    def test_the_first_statement_of_a_semicolon_line(self) -> None:
        assert edit("a = 1; b = 2\n", {"before": "a = 1", **NEW}) == "new = 1\na = 1; b = 2\n"

    def test_in_a_branch(self) -> None:
        source = "if x:\n    a()\nelif y:\n    b()\n"
        assert edit(source, {"before": "b()", **NEW}) == "if x:\n    a()\nelif y:\n    new = 1\n    b()\n"


class TestAt:
    def test_start_of_a_function_below_its_docstring(self) -> None:
        source = 'def f():\n    """Doc.\n    """\n    return 1\n'
        assert edit(source, {"in": "f", "at": "start", **NEW}) == (
            'def f():\n    """Doc.\n    """\n    new = 1\n    return 1\n'
        )

    def test_start_of_a_function_without_docstring(self) -> None:
        assert edit("def f():\n    return 1\n", {"in": "f", "at": "start", **NEW}) == (
            "def f():\n    new = 1\n    return 1\n"
        )

    def test_a_body_that_is_only_a_docstring(self) -> None:
        source = 'class A:\n    "Doc."\nx = 1\n'
        for place in ("start", "end"):
            assert edit(source, {"in": "A", "at": place, **NEW}) == 'class A:\n    "Doc."\n    new = 1\nx = 1\n'

    def test_an_empty_body(self) -> None:
        assert edit("class A:\n    pass\n", {"in": "A", "at": "end", **NEW}) == "class A:\n    pass\n    new = 1\n"
        assert edit("def f():\n    ...\n", {"in": "f", "at": "start", **NEW}) == "def f():\n    new = 1\n    ...\n"

    def test_end_of_a_class_below_its_last_method(self) -> None:
        source = "class A:\n    def f(self):\n        if x:\n            y()\n\n\nz = 1\n"
        assert edit(source, {"in": "A", "at": "end", "insert": "\ndef g(self):\n    pass\n"}) == (
            "class A:\n    def f(self):\n        if x:\n            y()\n\n    def g(self):\n        pass\n\n\nz = 1\n"
        )

    def test_start_of_a_module_keeps_shebang_cookie_and_docstring_above(self) -> None:
        source = '#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n"""Doc."""\n\nimport os\n'
        assert edit(source, {"at": "start", **NEW}) == (
            '#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n"""Doc."""\nnew = 1\n\nimport os\n'
        )

    def test_start_of_a_module_goes_below_future_imports(self) -> None:
        source = '"""Doc."""\nfrom __future__ import annotations\nimport os\n'
        assert edit(source, {"at": "start", **NEW}) == (
            '"""Doc."""\nfrom __future__ import annotations\nnew = 1\nimport os\n'
        )

    def test_a_future_import_goes_above_them(self) -> None:
        source = '"""Doc."""\nimport os\n'
        assert edit(source, {"at": "start", "insert": "from __future__ import annotations"}) == (
            '"""Doc."""\nfrom __future__ import annotations\nimport os\n'
        )

    @pytest.mark.parametrize(
        ("source", "result"),
        [("", "new = 1\n"), ("# c\n", "# c\nnew = 1\n"), ("# c", "# c\nnew = 1"), ("\n\n", "\n\nnew = 1\n")],
    )
    def test_a_module_without_statements(self, source: str, result: str) -> None:
        for place in ("start", "end"):
            assert edit(source, {"at": place, **NEW}) == result

    def test_end_of_a_module(self) -> None:
        assert edit("a = 1\nb = 2\n", {"at": "end", **NEW}) == "a = 1\nb = 2\nnew = 1\n"


class TestReplace:
    def test_exactly_the_statement_its_comment_stays(self) -> None:
        assert edit("a = 1  # one\nb = 2\n", {"replace": "a = 1", "insert": "a = 3"}) == "a = 3  # one\nb = 2\n"

    def test_a_run_by_several_lines(self) -> None:
        source = "def f():\n    a()\n    b()\n    c()\n"
        assert edit(source, {"in": "f", "replace": "a()\nb()", "insert": "if x:\n    y()\n"}) == (
            "def f():\n    if x:\n        y()\n    c()\n"
        )

    def test_an_expression_inside_a_statement(self) -> None:
        assert edit("x = f(1) + 2\n", {"replace": "f(...)", "insert": "g(\n    3)"}) == "x = g(\n    3) + 2\n"

    def test_one_statement_of_a_semicolon_line_and_of_a_one_line_suite(self) -> None:
        assert edit("a = 1; b = 2\n", {"replace": "a = 1", "insert": "c = 3"}) == "c = 3; b = 2\n"
        assert edit("if x: y()\n", {"replace": "y()", "insert": "z()"}) == "if x: z()\n"

    def test_a_decorated_definition_with_its_decorators(self) -> None:
        source = "@d\ndef f(): pass\nx = 1\n"
        assert edit(source, {"replace": "def f(): ...", "insert": "f = g"}) == "f = g\nx = 1\n"

    def test_by_nothing_leaves_the_line(self) -> None:
        assert edit("a = 1\n    # c\nb = 2\n", {"replace": "a = 1", "insert": ""}) == "\n    # c\nb = 2\n"

    def test_an_argument_by_nothing(self) -> None:
        assert edit("f(a)\n", {"replace": "a", "insert": ""}) == "f()\n"

    def test_a_definition_by_one_of_the_same_name(self) -> None:
        source = "def f():\n    return 1\n"
        assert edit(source, {"replace": "def f(): ...", "insert": "def f():\n    return 2"}) == (
            "def f():\n    return 2\n"
        )


class TestSeveral:
    def test_all_are_located_on_the_original(self) -> None:
        result = edit(
            "a = 1\nb = 2\n",
            {"after": "a = 1", "insert": "c = 3"},
            {"before": "b = 2", "insert": "d = 4"},
            {"replace": "b = 2", "insert": "a = 1"},
        )
        assert result == "a = 1\nc = 3\nd = 4\na = 1\n"

    def test_two_at_one_place_keep_their_order(self) -> None:
        assert edit("a = 1\n", {"after": "a = 1", "insert": "c = 3"}, {"after": "a = 1", "insert": "d = 4"}) == (
            "a = 1\nc = 3\nd = 4\n"
        )

    @pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
    def test_where_blocks_end_together_the_inner_one_comes_first(self, order: tuple[int, ...]) -> None:
        edits = (
            {"in": "C.f", "at": "end", "insert": "one = 1"},
            {"in": "C", "after": "def f(): ...", "insert": "two = 2"},
            {"at": "end", "insert": "three = 3"},
        )
        source = "class C:\n    def f():\n        pass\n"
        assert edit(source, *[edits[number] for number in order]) == (
            f"{source}        one = 1\n    two = 2\nthree = 3\n"
        )

    @pytest.mark.parametrize("inside", [{"in": "f", "at": "end"}, {"in": "f", "after": "return 1"}])
    @pytest.mark.parametrize("end", ["", "\n", "  # done\nb = 2\n"])
    def test_the_end_of_a_replaced_block_overlaps(self, inside: dict[str, str], end: str) -> None:
        source = "def f():\n    return 1" + end
        replace = {"replace": "def f(): ...", "insert": "f = None"}
        for edits in ([{**inside, **NEW}, replace], [replace, {**inside, **NEW}]):
            message = refusal(source, *edits)
            assert "overlaps edit" in message and "(replace `def f(): ...`" in message
            assert message.endswith("which replaces lines 1 to 2")

    def test_beside_a_replaced_block_is_no_overlap(self) -> None:
        edits = (
            {"before": "def f(): ...", "insert": "a = 1"},
            {"replace": "def f(): ...", "insert": "f = None"},
            {"after": "def f(): ...", "insert": "b = 2"},
        )
        assert edit("def f():\n    return 1\n", *edits) == "a = 1\nf = None\nb = 2\n"

    def test_overlaps_are_refused(self) -> None:
        message = refusal("f(a)\n", {"replace": "f(...)", "insert": "g()"}, {"in": None, "replace": "a", "insert": "b"})
        assert message == (
            "m.py:1: edit 2 (replace `a` in the module) overlaps edit 1 (replace `f(...)` in the module), "
            "which replaces lines 1 to 1"
        )

    def test_lines_are_those_of_the_new_file(self) -> None:
        edits = (
            {"after": "b = 2", "insert": "d = 4\ne = 5\n"},
            {"after": "a = 1", "insert": "c = 3"},
            {"replace": "b = 2", "insert": ""},
        )
        assert lines("a = 1\nb = 2\n", *edits) == [(4, 5), (2, 2), (None, None)]
        assert lines("a = 1", {"after": "a = 1", "insert": "b = 2\nc = 3"}) == [(2, 3)]
        assert lines("x = f(1,\n      2)\n", {"replace": "2", "insert": "(3 +\n4)"}) == [(2, 3)]


class TestRefused:
    @pytest.mark.parametrize("place", ["before", "after"])
    def test_beside_an_elif(self, place: str) -> None:
        source = "if x:\n    a()\nelif y:\n    b()\n"
        assert "m.py:3:" in refusal(source, {place: "y", **NEW})
        assert "is an elif" in refusal(source, {place: "y", **NEW})

    def test_between_statements_of_a_line(self) -> None:
        assert "another statement follows behind a `;`" in refusal("a = 1; b = 2\n", {"after": "a = 1", **NEW})
        assert "stands behind a `;`" in refusal("a = 1; b = 2\n", {"before": "b = 2", **NEW})

    @pytest.mark.parametrize("source", ["if x: y()\n", "if x: \\\n    y()\n", "if x:  y(); z()\n"])
    def test_into_a_one_line_suite(self, source: str) -> None:
        for place in ("before", "after"):
            assert "one-line suite" in refusal(source, {place: "y()", **NEW})

    def test_at_the_ends_of_a_one_line_body(self) -> None:
        for place in ("start", "end"):
            assert "one-line suite" in refusal("def f(): return 1\n", {"in": "f", "at": place, **NEW})
            assert "one-line suite" in refusal("class A: pass\n", {"in": "A", "at": place, **NEW})

    def test_a_comment_that_ends_with_a_backslash_is_no_continuation(self) -> None:
        assert edit("if x:  # \\\n    y()\n", {"before": "y()", **NEW}) == "if x:  # \\\n    new = 1\n    y()\n"

    def test_an_empty_insert_anywhere_but_in_replace(self) -> None:
        assert refusal("a = 1\n", {"after": "a = 1", "insert": " \n"}) == (
            "m.py: edit 1 (after `a = 1` in the module): `insert` is empty, which only `replace` may have"
        )

    def test_removing_the_only_statement_of_a_body(self) -> None:
        message = refusal("def f():\n    a()\nb()\n", {"in": "f", "replace": "a()", "insert": ""})
        assert "the result does not parse" in message
        assert "replace `a()` in f) at line 2" in message


class TestIndentation:
    def test_inner_levels_take_the_file_s_own_unit(self) -> None:
        insert = {"in": "f", "at": "end", "insert": "if a:\n    # why\n    g(\n        1,\n    )\n"}
        assert edit("def f():\n  x()\n", insert) == ("def f():\n  x()\n  if a:\n    # why\n    g(\n      1,\n    )\n")
        assert edit("def f():\n\tx()\n", insert) == ("def f():\n\tx()\n\tif a:\n\t\t# why\n\t\tg(\n\t\t\t1,\n\t\t)\n")

    def test_the_module_level_uses_the_unit_of_the_first_block(self) -> None:
        assert edit("def f():\n\tx()\n", {"at": "end", "insert": "if a:\n    b()"}) == (
            "def f():\n\tx()\nif a:\n\tb()\n"
        )

    def test_strings_keep_their_bytes(self) -> None:
        insert = 's = """a\n    b\n  \n"""\nt = f"""{x}\n y"""\n'
        assert edit("def f():\n\tx()\n", {"in": "f", "at": "end", "insert": insert}) == (
            'def f():\n\tx()\n\ts = """a\n    b\n  \n"""\n\tt = f"""{x}\n y"""\n'
        )

    def test_docstrings_move_with_their_code(self) -> None:
        insert = 'def g(self):\n    """One.\n\n    Two.\n        Three.\n    """\n'
        assert edit("class A:\n    x = 1\n", {"in": "A", "at": "end", "insert": insert}) == (
            'class A:\n    x = 1\n    def g(self):\n        """One.\n\n        Two.\n            Three.\n        """\n'
        )

    def test_an_indented_insert_is_dedented(self) -> None:
        assert edit("a = 1\n", {"after": "a = 1", "insert": "    if a:\n        b()\n"}) == ("a = 1\nif a:\n    b()\n")

    def test_blank_lines_carry_no_spaces(self) -> None:
        source = "def f():\n    a()\n"
        assert edit(source, {"in": "f", "at": "end", "insert": "b()\n\n\nc()\n"}) == (
            "def f():\n    a()\n    b()\n\n\n    c()\n"
        )

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The contract's twelve rules, each by what matches and what does not."""

from __future__ import annotations

import ast
import sys
import typing as t

import pytest
from ansible_collections.inferops.blackwell.plugins.module_utils._python_patch.errors import PatchError
from ansible_collections.inferops.blackwell.plugins.module_utils._python_patch.locate import find_matches
from ansible_collections.inferops.blackwell.plugins.module_utils._python_patch.pattern import parse_pattern
from ansible_collections.inferops.blackwell.plugins.module_utils._python_patch.scope import Scope, find_scope


def found(pattern: str, source: str, scope: str | None = None, nested: bool = False) -> list[int]:
    """Lines of the matches in the module level, in one scope, or in the whole file."""
    tree = ast.parse(source)
    place = Scope(tree, None, nested=True) if nested else find_scope(tree, scope, "m.py", "test")
    return [match.line for match in find_matches(place, parse_pattern(pattern, "test"))]


def bad(pattern: str) -> str:
    with pytest.raises(PatchError) as caught:
        parse_pattern(pattern, "edit 1")
    return str(caught.value)


class TestRule1Parsing:
    def test_the_contract_s_own_examples_parse(self) -> None:
        for pattern in (
            'parser.add_argument("--speculative-accept-threshold-acc", ...)',
            "speculative_accept_threshold_acc: ... = ...",
            "with ...:\n    verify_input: ... = self.draft_worker.draft(...)",
        ):
            parse_pattern(pattern, "test")

    def test_keyword_before_the_wildcard_is_refused_with_the_right_spelling(self) -> None:
        assert "write `...` before the keywords: `f(..., k=1)`" in bad("f(k=1, ...)")

    def test_wildcard_as_a_target_is_refused_with_the_reason(self) -> None:
        assert "`...` cannot be assigned to, so name the target" in bad("... = 1")

    def test_what_is_not_python_names_the_line_of_the_pattern(self) -> None:
        assert "line 2 of the pattern" in bad("x = 1\ny = = 2")

    def test_a_common_indentation_is_taken_off(self) -> None:
        assert found("    if x:\n        y()\n", "if x:\n    y()\n") == [1]

    @pytest.mark.parametrize("pattern", ["", "   ", "\n"])
    def test_nothing_is_refused(self, pattern: str) -> None:
        assert bad(pattern) == "edit 1: the pattern is empty"

    def test_only_a_comment_is_refused(self) -> None:
        assert "holds only a comment" in bad("# x")


class TestRule2ExpressionOrRun:
    def test_an_expression_matches_wherever_it_stands(self) -> None:
        source = "if f(1):\n    pass\nx = [f(1)]\nwith f(1):\n    pass\n@f(1)\ndef g(a=f(1)) -> f(1): ...\n"
        # A definition's line is that of its def, its header belongs to the scope it stands in.
        assert found("f(1)", source) == [1, 3, 4, 6, 7, 7]

    def test_an_expression_inside_itself_counts_twice(self) -> None:
        assert found("f(...)", "f(f(1))\n") == [1, 1]

    def test_loading_and_storing_are_the_same_expression(self) -> None:
        assert found("self.x", "self.x = 1\nprint(self.x)\ndel self.x\n") == [1, 2, 3]

    def test_expressions_in_f_strings_lambdas_and_comprehensions(self) -> None:
        source = "a = f'{g(1)} {b:>{g(1)}}'\nb = lambda: g(1)\nc = [g(1) for _ in x if g(1)]\n"
        assert found("g(1)", source) == [1, 1, 2, 3, 3]

    def test_text_of_an_f_string_is_no_expression(self) -> None:
        assert found("'a'", "x = f'a{b}'\ny = 'a'\n") == [2]
        assert found("f'>10'", "x = f'{a:>10}'\n") == []

    def test_statements_match_a_consecutive_run_in_one_body(self) -> None:
        source = "a()\nb()\nif x:\n    a()\n    b()\n    c()\nelse:\n    a()\nb()\n"
        assert found("a()\nb()", source) == [1, 4]

    def test_an_assignment_is_never_a_keyword(self) -> None:
        assert found("help='x'", "f(help='x')\nhelp = 'x'\n") == [2]


class TestRule3Scope:
    SOURCE = """\
x = 0
class A:
    x = 1
    def f(self):
        x = 2
        if self:
            x = 3
            try:
                x = 4
            except E:
                x = 5
            else:
                x = 6
            finally:
                x = 7
        with a:
            x = 8
        for i in j:
            x = 9
        else:
            x = 10
        while 1:
            x = 11
        def g():
            x = 12
        class B:
            x = 13
        lambda: x
if sys:
    def h():
        x = 14
else:
    x = 15
"""

    def test_module_level_has_its_blocks_but_no_nested_bodies(self) -> None:
        assert found("x = ...", self.SOURCE) == [1, 33]

    def test_class_body(self) -> None:
        assert found("x = ...", self.SOURCE, "A") == [3]

    def test_all_blocks_of_a_function_but_not_its_inner_definitions(self) -> None:
        assert found("x = ...", self.SOURCE, "A.f") == [5, 7, 9, 11, 13, 15, 17, 19, 21, 23]

    def test_nested_functions_classes_and_definitions_inside_blocks_can_be_named(self) -> None:
        assert found("x = ...", self.SOURCE, "A.f.g") == [25]
        assert found("x = ...", self.SOURCE, "A.f.B") == [27]
        assert found("x = ...", self.SOURCE, "h") == [31]

    def test_the_whole_file_for_queries(self) -> None:
        assert len(found("x = ...", self.SOURCE, nested=True)) == 16

    def test_a_name_that_is_defined_twice_is_refused_until_told_which(self) -> None:
        source = "class A:\n    @property\n    def x(self): return a\n    @x.setter\n    def x(self, v): a = v\n"
        with pytest.raises(PatchError, match=r"scope A\.x is defined 2 times, in lines 3 and 5; say which one: A\.x#1"):
            found("a", source, "A.x")
        assert found("a", source, "A.x#1") == [3]
        assert found("a", source, "A.x#2") == [5]

    def test_an_unknown_scope_names_the_nearest(self) -> None:
        with pytest.raises(PatchError, match=r"there is no scope A\.g in this file; nearest: A\.f\.g \(line 24\)"):
            found("x", self.SOURCE, "A.g")


class TestRule4WildcardStatements:
    @pytest.mark.parametrize("pattern", ["...", "...\n...", "...  # all"])
    def test_only_wildcards_are_refused(self, pattern: str) -> None:
        assert "is only `...` and would match everything" in bad(pattern)

    def test_any_run_also_none(self) -> None:
        pattern = "if x:\n    a()\n    ...\n    b()"
        assert found(pattern, "if x:\n    a()\n    b()\n") == [1]
        assert found(pattern, "if x:\n    a()\n    c()\n    d = 1\n    b()\n") == [1]
        assert found(pattern, "if x:\n    a()\n    b()\n    c()\n") == []

    def test_between_statements_of_a_run(self) -> None:
        assert found("a()\n...\nb()", "a()\nx = 1\nb()\n") == [1]

    def test_two_possible_ends_are_two_matches(self) -> None:
        assert found("a()\n...\nb()", "a()\nb()\nb()\n") == [1, 1]

    def test_at_an_end_of_the_pattern_it_takes_nothing(self) -> None:
        assert found("...\na()\n...", "x()\na()\ny()\n") == [2]


class TestRule5WildcardElements:
    @pytest.mark.parametrize(
        ("pattern", "source", "count"),
        [
            ("f(...)", "f()", 1),
            ("f(...)", "f(1, *a, k=2, **b)", 1),
            ("f(1, ...)", "f(1)", 1),
            ("f(1, ...)", "f(1, 2, k=3)", 1),
            ("f(1, ...)", "f(2, 1)", 0),
            ("f(..., 3)", "f(1, 2, 3)", 1),
            ("f(..., 3)", "f(1, 3, 2)", 0),
            ("f(1, ..., 3)", "f(1, 3)", 1),
            ("f(1, ..., 2, ..., 3)", "f(1, 9, 2, 3)", 1),
            ("f(1, ..., 2, ..., 3)", "f(1, 9, 3)", 0),
            ("(1, ...)", "(1, 2)", 1),
            ("(1, ...)", "(1,)", 1),
            ("[..., 2]", "[1, 2]", 1),
            ("{1, ...}", "{1, 5}", 1),
            ("x[1, ...]", "x[1, 2, 3]", 1),
            ("class A(B, ...): ...", "class A(B, C, metaclass=M): pass", 1),
            ("class A(B, ...): ...", "class A(C, B): pass", 0),
            ("with a, ...: ...", "with a as b: pass", 0),
            ("with a, ...: ...", "with a, c as d, e: pass", 1),
            ("with ..., c as d: ...", "with a as b, c as d: pass", 1),
            ("with ...: ...", "with a as b, c as d: pass", 1),
        ],
    )
    def test_any_run_of_elements(self, pattern: str, source: str, count: int) -> None:
        assert len(found(pattern, source + "\n")) == count


class TestRule6OneExpression:
    @pytest.mark.parametrize(
        ("pattern", "source", "count"),
        [
            ("return ...", "return", 0),
            ("return ...", "return 1", 1),
            ("return", "return 1", 0),
            ("x: ... = ...", "x: int = 1", 1),
            ("x: ... = ...", "x: int", 0),
            ("x: ...", "x: int = 1", 0),
            ("raise ...", "raise", 0),
            ("raise ... from ...", "raise a", 0),
            ("a[...]", "a[1:2]", 1),
            ("a[...]", "a[1, 2]", 1),
            ("f(*...)", "f(*a)", 1),
            ("f(*...)", "f(a)", 0),
            ("a and ...", "a and b", 1),
            ("a and ...", "a and b and c", 0),
            ("with ... as f: ...", "with open(x) as f: pass", 1),
            ("with ... as f: ...", "with open(x) as f, y: pass", 0),
            ("with a: ...", "with a as b: pass", 0),
            ("assert x, ...", "assert x", 0),
            ("{'a': ...}", "{'a': 1}", 1),
            ("{'a': ...}", "{'a': 1, 'b': 2}", 0),
            ("f'{...}'", "f'{a.b}'", 1),
            ("f'{...}'", "f'{a!r}'", 0),
        ],
    )
    def test_exactly_one_that_is_present(self, pattern: str, source: str, count: int) -> None:
        inside = f"def w():\n    {source}\n"
        assert len(found(pattern, inside, "w")) == count


class TestRule7Keywords:
    @pytest.mark.parametrize(
        ("pattern", "source", "count"),
        [
            ("f(a=1, b=2)", "f(b=2, a=1)", 1),
            ("f(a=1)", "f(a=1, b=2)", 0),
            ("f(..., a=1)", "f(0, b=2, a=1)", 1),
            ("f(a=...)", "f(a=object())", 1),
            ("f(a=...)", "f()", 0),
            ("f(a=...)", "f(1, a=2)", 0),
            ("f(**...)", "f(**a)", 1),
            ("f(**a, **b)", "f(**b, **a)", 1),
            ("f(..., **a)", "f(b=1)", 0),
            ("class A(metaclass=M): ...", "class A(metaclass=M): pass", 1),
            ("class A(metaclass=M): ...", "class A(B, metaclass=M): pass", 0),
        ],
    )
    def test_by_name_in_any_order(self, pattern: str, source: str, count: int) -> None:
        assert len(found(pattern, source + "\n")) == count


class TestRule8BodiesAndClauses:
    @pytest.mark.parametrize(
        ("pattern", "source", "count"),
        [
            ("if x:\n    a()", "if x:\n    a()", 1),
            ("if x:\n    a()", "if x:\n    a()\n    b()", 0),
            ("if x:\n    ...", "if x:\n    a()\nelse:\n    b()", 0),
            ("if x:\n    ...\nelse:\n    ...", "if x:\n    a()", 0),
            ("if x:\n    ...\nelse:\n    ...", "if x:\n    a()\nelse:\n    b()", 1),
            ("if x:\n    ...\nelif y:\n    ...", "if x:\n    a()\nelif y:\n    b()", 1),
            ("for x in y:\n    ...", "for x in y:\n    a()\nelse:\n    b()", 0),
            ("while x:\n    ...\nelse:\n    ...", "while x:\n    a()\nelse:\n    b()", 1),
            ("try:\n    ...\nexcept E:\n    ...", "try:\n    a()\nexcept E:\n    b()", 1),
            ("try:\n    ...\nexcept E:\n    ...", "try:\n    a()\nexcept E as e:\n    b()", 0),
            ("try:\n    ...\nexcept E:\n    ...", "try:\n    a()\nexcept E:\n    b()\nfinally:\n    c()", 0),
            ("try:\n    ...\nexcept ...:\n    ...", "try:\n    a()\nexcept:\n    b()", 0),
            ("try:\n    ...\nfinally:\n    c()", "try:\n    a()\nfinally:\n    c()", 1),
        ],
    )
    def test_exact(self, pattern: str, source: str, count: int) -> None:
        assert len(found(pattern, source + "\n")) == count


class TestRule9Definitions:
    @pytest.mark.parametrize(
        ("pattern", "source", "count"),
        [
            ("def f(): ...", "@d\ndef f(a, *b, c=1, **k) -> int:\n    return a", 1),
            ("def f(): ...", "async def f(): pass", 0),
            ("async def f(): ...", "async def f(x): pass", 1),
            ("def f(a, b): ...", "def f(a, b): pass", 1),
            ("def f(a, b): ...", "def f(b, a): pass", 0),
            ("def f(a): ...", "def f(a, b): pass", 0),
            ("def f(a): ...", "def f(a: int = 1): pass", 1),
            ("def f(a: int): ...", "def f(a): pass", 0),
            ("def f(a=...): ...", "def f(a=1): pass", 1),
            ("def f(a=...): ...", "def f(a): pass", 0),
            ("def f(a, /, b, *, c): ...", "def f(a, /, b, *, c): pass", 1),
            ("def f(a, /, b, *, c): ...", "def f(a, b, *, c): pass", 0),
            ("def f(*a, **k): ...", "def f(*a, **k): pass", 1),
            ("def f() -> int: ...", "def f(): pass", 0),
            ("def f() -> ...: ...", "def f() -> str: pass", 1),
            ("@d\ndef f(): ...", "@d\ndef f(): pass", 1),
            ("@d\ndef f(): ...", "@d\n@e\ndef f(): pass", 0),
            ("@...\ndef f(): ...", "@e(1)\ndef f(): pass", 1),
            ("class A: ...", "@d\nclass A(B, k=1): x = 1", 1),
            ("class A(B): ...", "class A(B, C): x = 1", 0),
            ("class A:\n    x = 1\n    ...", "class A(B):\n    x = 1\n    y = 2", 1),
        ],
    )
    def test_compared_only_where_written(self, pattern: str, source: str, count: int) -> None:
        assert len(found(pattern, source + "\n")) == count


class TestRule10Constants:
    @pytest.mark.parametrize(
        ("pattern", "source", "count"),
        [
            ("x = 'a'", 'x = "a"', 1),
            ("x = 'a'", "x = '''a'''", 1),
            ("x = 'a'", "x = u'a'", 1),
            ("x = 'ab'", "x = ('a'\n     'b')", 1),
            ("x = 'a'", "x = b'a'", 0),
            ("x = 1", "x = 1.0", 0),
            ("x = 1", "x = True", 0),
            ("x = 0.0", "x = -0.0", 0),
            ("x = 16", "x = 0x10", 1),
            ("x = None", "x = 0", 0),
            ("x = f'a{b}c'", 'x = f"""a{b}c"""', 1),
            ("x = f'a{b}c'", "x = f'a{b}d'", 0),
            ("x = f'{b!r:>4}'", "x = f'{b!r:>4}'", 1),
            ("x = f'{b:>4}'", "x = f'{b:>5}'", 0),
        ],
    )
    def test_by_type_and_value(self, pattern: str, source: str, count: int) -> None:
        assert len(found(pattern, source + "\n")) == count

    def test_a_literal_ellipsis_cannot_be_asked_for(self) -> None:
        assert found("x = ...", "x = 1\nx = ...\n") == [1, 2]


NEWER: list[tuple[tuple[int, int], str, str, int]] = [
    ((3, 10), "match x:\n    case [1, y]:\n        ...", "match x:\n    case [1, y]:\n        a()", 1),
    ((3, 10), "match x:\n    case [1, y]:\n        ...", "match x:\n    case [2, y]:\n        a()", 0),
    ((3, 10), "f(1)", "match f(1):\n    case a if f(1):\n        f(1)", 3),
    ((3, 11), "try:\n    ...\nexcept* E:\n    ...", "try:\n    a()\nexcept* E:\n    b()", 1),
    ((3, 11), "try:\n    ...\nexcept E:\n    ...", "try:\n    a()\nexcept* E:\n    b()", 0),
    ((3, 12), "def f(): ...", "def f[T](x: T): pass", 1),
    ((3, 12), "def f[T](): ...", "def f(): pass", 0),
    ((3, 12), "def f[T](): ...", "def f[T](x: T): pass", 1),
    ((3, 12), "class A[T]: ...", "class A[T, U]: pass", 0),
    ((3, 12), "type X = ...", "type X = int", 1),
]


@pytest.mark.parametrize(("version", "pattern", "source", "count"), NEWER)
def test_statements_of_newer_pythons(version: tuple[int, int], pattern: str, source: str, count: int) -> None:
    if sys.version_info < version:
        pytest.skip(f"needs Python {version}")
    assert len(found(pattern, source + "\n")) == count


def test_scopes_in_match_and_except_star() -> None:
    cases: list[t.Any] = [((3, 10), "match a:\n    case 1:\n        def g():\n            x = 1\n")]
    cases.append(((3, 11), "try:\n    pass\nexcept* E:\n    def g():\n        x = 1\n"))
    for version, source in cases:
        if sys.version_info >= version:
            assert len(found("x = 1", source, "g")) == 1

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The proofs reject every result that is not the original plus the edits."""

from __future__ import annotations

import ast

import pytest
from ansible_collections.inferops.blackwell.plugins.module_utils._python_patch import edit as edits
from ansible_collections.inferops.blackwell.plugins.module_utils._python_patch import proof, recipe
from ansible_collections.inferops.blackwell.plugins.module_utils._python_patch.errors import PatchError
from ansible_collections.inferops.blackwell.plugins.module_utils._python_patch.source import Source
from patch_tools import edit, refusal

SOURCE = b"""\
import os

class A:
    x: int = 1

    def f(self, a):
        b = a + 1
        return os.path.join(str(b), "c")


def g():
    return A()
"""
CHANGE = {"in": "A.f", "after": "b = ...", "insert": "b += 2"}


def planned(*changes: dict[str, str]) -> tuple[Source, bytes, list[edits.Splice]]:
    source = Source(SOURCE, "m.py")
    raw = {"path": "m.py", "edits": list(changes)}
    planner = edits.Planner(source)
    splices = edits.ordered(source, [planner.splice(item) for item in recipe.parse_file(raw).edits])
    return source, edits.spliced(SOURCE, splices), splices


def test_the_planned_result_holds() -> None:
    source, data, splices = planned(CHANGE)
    proof.prove(source, data, splices)


def test_every_byte_of_the_result_counts() -> None:
    source, data, splices = planned(CHANGE)
    for index in range(len(data)):
        for mutated in (data[:index] + data[index + 1 :], data[:index] + b"z" + data[index + 1 :]):
            if mutated != data:
                with pytest.raises(PatchError):
                    proof.prove(source, mutated, splices)


@pytest.mark.parametrize("by_bytes", [True, False])
def test_the_tree_proof_alone_rejects_every_changed_node(by_bytes: bool) -> None:
    source, data, splices = planned(CHANGE, {"in": "g", "replace": "A()", "insert": "A(1)"})
    assert proof.Comparison(source, Source(data, "m.py"), splices, by_bytes).run() is None
    rejected = 0
    for index, node in enumerate(ast.walk(ast.parse(data))):
        if isinstance(node, (ast.Name, ast.Constant, ast.Attribute, ast.arg, ast.FunctionDef, ast.ClassDef)):
            tree = ast.parse(data)
            change_name(list(ast.walk(tree))[index])
            after = Source(ast.unparse(tree).encode(), "m.py")
            assert proof.Comparison(source, after, splices, by_bytes).run() is not None, ast.dump(node)
            rejected += 1
    assert rejected > 20


def change_name(node: ast.AST) -> None:
    for field in ("id", "attr", "arg", "name"):
        if hasattr(node, field):
            setattr(node, field, getattr(node, field) + "_")
            return
    assert isinstance(node, ast.Constant)
    node.value = f"{node.value}_"


@pytest.mark.parametrize(
    "result",
    [
        SOURCE.replace(b"b = a + 1\n", b"b = a + 1\n        b += 3\n"),
        SOURCE.replace(b"b = a + 1\n", b"b += 2\n        b = a + 1\n"),
        SOURCE.replace(b"b = a + 1\n", b"b = a + 1\n    b += 2\n"),
        SOURCE + b"b += 2\n",
        SOURCE,
    ],
)
def test_the_tree_proof_alone_rejects_another_place_or_text(result: bytes) -> None:
    source, _data, splices = planned(CHANGE)
    try:
        after = Source(result, "m.py")
    except PatchError:
        return
    assert proof.Comparison(source, after, splices).run() is not None


def test_undoing_gives_the_original_and_nothing_else() -> None:
    source, data, splices = planned(CHANGE, {"in": "g", "replace": "A()", "insert": "A(1)"})
    assert proof.undone(data, splices, SOURCE) == SOURCE
    assert proof.undone(data + b"#", splices, SOURCE) != SOURCE


def test_precedence_cannot_change_the_tree() -> None:
    message = refusal("x = a * 2\n", {"replace": "a", "insert": "b + c"})
    assert message.startswith("m.py:1: proof failed: without what the edits insert and replace")
    assert "edit 1 (replace `a` in the module) at line 1" in message
    assert edit("x = a * 2\n", {"replace": "a", "insert": "(b + c)"}) == "x = (b + c) * 2\n"


def test_an_inserted_string_cannot_become_a_docstring_of_code_that_had_one() -> None:
    assert edit('def f():\n    "Doc."\n    a()\n', {"in": "f", "after": "a()", "insert": '"x"'}).endswith('    "x"\n')


@pytest.mark.parametrize(
    ("source", "change", "reason"),
    [
        ("a = 1\n", {"after": "a = 1", "insert": "return a"}, "'return' outside function"),
        ("a = 1\n", {"after": "a = 1", "insert": "from __future__ import annotations"}, "from __future__ imports must"),
        (
            "def f():\n    a()\n",
            {"in": "f", "at": "start", "insert": "nonlocal q"},
            "no binding for nonlocal 'q' found",
        ),
        ("def f():\n    x = 1\n", {"in": "f", "at": "end", "insert": "global x"}, "is assigned to before global"),
        ("class A:\n    def f(self):\n        a()\n", {"in": "A.f", "at": "end", "insert": "break"}, "outside loop"),
    ],
)
def test_what_parses_but_does_not_compile_is_refused(source: str, change: dict[str, str], reason: str) -> None:
    message = refusal(source, change)
    assert message.startswith("m.py:")
    assert "does not compile in Python 3." in message
    assert reason in message


def test_code_that_needs_its_surroundings_compiles() -> None:
    source = "def f():\n    q = 1\n    def g():\n        return q\n    class A:\n"
    source += "        async def h(self):\n            pass\n"
    edit(source, {"in": "f.g", "at": "start", "insert": "nonlocal q"})
    edit(source, {"in": "f.A.h", "at": "start", "insert": "await f()\nsuper().h()"})


def test_lists_that_hold_nothing_of_their_own_agree() -> None:
    source = "def f(a, *, b, c=1):\n    x = {**a, 'b': b}\n"
    assert edit(source, {"in": "f", "at": "end", "insert": "y = 1"}) == source + "    y = 1\n"
    assert "{**q, 'b': b}" in edit(source, {"in": "f", "replace": "a", "insert": "q"})


class TestExpect:
    def test_holds(self) -> None:
        edit(
            "a = 1\n",
            {"after": "a = 1", "insert": "b = 2"},
            expect=[{"pattern": "b = 2"}, {"pattern": "c", "count": 0}],
        )

    def test_in_a_scope(self) -> None:
        edit("def f():\n    a()\n", {"in": "f", "at": "end", "insert": "b()"}, expect=[{"in": "f", "pattern": "b()"}])

    def test_fails_with_count_and_lines(self) -> None:
        message = refusal("b = 2\na = 1\n", {"after": "a = 1", "insert": "b = 2"}, expect=[{"pattern": "b = 2"}])
        assert message == (
            "m.py: expect 1: the pattern `b = 2` must match once in the module level of the result and matches 2 "
            "times, in lines 1 and 3 of the result. Nothing was changed"
        )

    def test_the_scope_must_exist(self) -> None:
        assert "there is no scope g" in refusal(
            "a = 1\n", {"after": "a = 1", "insert": "b = 2"}, expect=[{"in": "g", "pattern": "b = 2"}]
        )

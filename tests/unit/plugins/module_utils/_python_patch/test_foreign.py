# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A tree that was patched by hand is refused with line and way back, an ordinary tree is not."""

from __future__ import annotations

import pytest
from patch_tools import Workspace, edit, refusal

# The shape of the file behind this project: a dataclass of options and the parser that must know each.
ARGS = """\
import argparse


class ServerArgs:
    threshold_single: float = 1.0
    threshold_acc: float = 1.0
    token_map: str = None

    @staticmethod
    def add_cli_args(parser):
        parser.add_argument(
            "--threshold-acc",
            type=float,
            default=ServerArgs.threshold_acc,
        )
        parser.add_argument(
            "--token-map",
            type=str,
        )
"""
FIELD = {"in": "ServerArgs", "after": "threshold_acc: ... = ...", "insert": "batch: int = 0  # 0 = always"}
FLAG = {
    "in": "ServerArgs.add_cli_args",
    "after": 'parser.add_argument("--threshold-acc", ...)',
    "insert": 'parser.add_argument(\n    "--batch",\n    type=int,\n    default=ServerArgs.batch,\n)\n',
}
PATCHED = edit(ARGS, FIELD, FLAG)
SED_FIELD = ARGS.replace("    token_map", "    batch: int = 0\n    token_map")


def test_the_field_alone_set_by_sed() -> None:
    assert refusal(SED_FIELD, FIELD, FLAG) == (
        "m.py:7: edit 1 (after `threshold_acc: ... = ...` in ServerArgs): what the edit inserts stands here already: "
        "`batch: int = 0`, but the store has no record of a patch of this file. It was patched by hand or by another "
        "tool. Give back the pristine file first (git checkout), then run again"
    )


def test_the_field_with_another_default_and_in_another_place() -> None:
    source = ARGS.replace("    threshold_single", "    batch: Optional[int] = None\n    threshold_single")
    assert "m.py:5: edit 1" in refusal(source, FIELD, FLAG)
    assert "the field batch stands here already" in refusal(source, FIELD, FLAG)


def test_the_flag_alone_with_another_help() -> None:
    source = ARGS + '        parser.add_argument("--batch", type=int, help="x")\n'
    message = refusal(source, FIELD, FLAG)
    assert "m.py:20: edit 2" in message
    assert "a call with '--batch' stands here already" in message


def test_the_flag_as_dead_code_at_the_end_of_the_file() -> None:
    source = ARGS + '\n\ndef f(parser):\n    return\n    parser.add_argument("--batch")\n'
    assert "m.py:24: edit 2" in refusal(source, FIELD, FLAG)


def test_the_whole_result_without_a_record() -> None:
    assert "m.py:7: edit 1" in refusal(PATCHED, FIELD, FLAG)


def test_a_patch_by_hand_that_spoils_the_anchor_is_named_first() -> None:
    source = SED_FIELD.replace("threshold_acc: float", "threshold_accept: float")
    assert "m.py:7: edit 1" in refusal(source, FIELD)
    assert "the field batch stands here already" in refusal(source, FIELD)


def test_the_argument_inside_another_call_does_not_parse_and_names_the_line() -> None:
    source = ARGS.replace('            "--token-map",', '            parser.add_argument(\n            "--token-map",')
    message = refusal(source, FIELD, FLAG)
    assert message.startswith("m.py:")
    assert "the file does not parse in Python 3." in message


def test_a_function_a_hook_and_a_replacement_by_hand() -> None:
    new = {"at": "end", "insert": "def added():\n    return 1"}
    assert "m.py:2: edit 1" in refusal("x = 1\ndef added(): return 2\n", new)
    hook = {"in": "f", "at": "start", "insert": "self.hook = make_hook(self, 1)"}
    assert "m.py:3: edit 1" in refusal("def f(self):\n    a()\n    self.hook = make_hook(self, 1)\n", hook)
    replace = {"replace": "x = compute(1, 2)", "insert": "x = compute(1, 2, extra=True)"}
    assert "m.py:1: edit 1" in refusal("x = compute(1, 2, extra=True)\n", replace)


def test_a_small_statement_counts_only_beside_its_place() -> None:
    assert "m.py:2: edit 1" in refusal("a()\nb()\nc()\n", {"after": "a()", "insert": "b()"})
    assert edit("b()\na()\nc()\n", {"after": "c()", "insert": "b()"}) == "b()\na()\nc()\nb()\n"


@pytest.mark.parametrize(
    ("source", "change"),
    [
        ("x = 1\ny = 2\nx = 1\n", {"after": "y = 2", "insert": "z = 3"}),
        ("def f():\n    pass\nclass A:\n    pass\n", {"in": "A", "at": "end", "insert": "def f(self):\n    pass"}),
        ("log('a')\ndef f():\n    pass\n", {"in": "f", "at": "start", "insert": "log('a')"}),
        ("def f():\n    return 1\n", {"replace": "def f(): ...", "insert": "def f():\n    return 2"}),
        ("f('--a', 1)\n", {"replace": "f('--a', ...)", "insert": "f('--a', 2)"}),
        (
            "class A:\n    @property\n    def x(self): pass\n    y = 1\n",
            {"in": "A", "after": "y = 1", "insert": "@x.setter\ndef x(self, v):\n    pass"},
        ),
    ],
)
def test_what_only_looks_alike_is_not_refused(source: str, change: dict[str, str]) -> None:
    edit(source, change)


class TestInATree:
    def test_nothing_is_written_and_the_way_back_is_git(self, workspace: Workspace) -> None:
        workspace.write("pkg/args.py", PATCHED)
        (workspace.root / ".git").mkdir()
        before = workspace.snapshot()
        message = str(workspace.refused({"path": "pkg/args.py", "edits": [FIELD, FLAG]}))
        assert message.startswith("pkg/args.py:7: edit 1")
        assert f"`git -C {workspace.root} checkout -- pkg/args.py`" in message
        assert workspace.snapshot() == before
        assert not workspace.store.exists()

    def test_the_way_back_is_the_wheel(self, workspace: Workspace) -> None:
        workspace.write("pkg/args.py", PATCHED)
        workspace.write("pkg-0.5.9.dist-info/RECORD", "")
        message = str(workspace.refused({"path": "pkg/args.py", "edits": [FIELD, FLAG]}))
        assert "`pip install --force-reinstall --no-deps pkg==0.5.9`" in message

    def test_a_new_file_that_exists(self, workspace: Workspace) -> None:
        workspace.write("a.py", "A = 1\n")
        message = str(workspace.refused({"path": "a.py", "content": "A = 1\n"}))
        assert message.startswith("a.py:1: the recipe makes this file new, but it exists already")

    def test_a_patch_recorded_in_another_store(self, workspace: Workspace) -> None:
        workspace.write("args.py", ARGS)
        recipe = {"path": "args.py", "edits": [FIELD, FLAG]}
        workspace.present(recipe)
        workspace.store = workspace.base / "other"
        assert "has no record" in str(workspace.refused(recipe))

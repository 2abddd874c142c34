# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties over random files and random edits: what is not refused is exact, and comes off to the byte."""

from __future__ import annotations

import ast
import collections
import tempfile
import typing as t
from pathlib import Path

import pytest
from ansible_collections.inferops.blackwell.plugins.module_utils._python_patch import edit as edits
from ansible_collections.inferops.blackwell.plugins.module_utils._python_patch import proof, recipe
from ansible_collections.inferops.blackwell.plugins.module_utils._python_patch.errors import PatchError
from ansible_collections.inferops.blackwell.plugins.module_utils._python_patch.source import Source
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from patch_tools import PROOF, Workspace
from random_modules import Module, edits_of, modules

EXAMPLES = 5000 if PROOF else 60
quick = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=not PROOF,
    database=None,
    suppress_health_check=list(HealthCheck),
)
seen: t.Counter[str] = collections.Counter()


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.fsync", lambda _descriptor: None)


@quick
@given(st.data())
def test_present_then_absent_gives_the_same_bytes_and_twice_changes_nothing(data: st.DataObject) -> None:
    module: Module = data.draw(modules())
    changes = data.draw(edits_of(module))
    with tempfile.TemporaryDirectory() as base:
        workspace = Workspace(Path(base))
        path = workspace.write("m.py", module.data)
        file = {"path": "m.py", "edits": changes}
        try:
            result = workspace.present(file)
        except PatchError:
            seen["refused"] += 1
            assert path.read_bytes() == module.data
            assert not workspace.store.exists()
            return
        seen["applied"] += 1
        patched = path.read_bytes()
        compile(patched, "m.py", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        again = workspace.present(file)
        assert not again.changed
        assert again.files == result.files
        check_lines(module.data, patched, changes, result.files[0]["edits"])
        workspace.absent()
        assert path.read_bytes() == module.data
        assert [item.name for item in workspace.root.iterdir()] == ["m.py"]


def check_lines(before: bytes, after: bytes, changes: list[dict[str, t.Any]], lines: list[dict[str, t.Any]]) -> None:
    """Without the reported lines of pure insertions the file has the lines it had."""
    if any("replace" in change for change in changes):
        return
    mark = b"\xef\xbb\xbf"
    before, after = (data[3:] if data.startswith(mark) else data for data in (before, after))
    gone = {number for item in lines for number in range(item["first_line"], item["last_line"] + 1)}
    kept = [line for number, line in enumerate(split(after), 1) if number not in gone]
    assert b"".join(kept).rstrip(b"\r\n") == before.rstrip(b"\r\n")


def split(data: bytes) -> list[bytes]:
    return data.splitlines(keepends=True)


@quick
@given(st.data())
def test_the_quick_comparison_agrees_with_the_full_one(data: st.DataObject) -> None:
    module: Module = data.draw(modules())
    source = Source(module.data, "m.py")
    raw = {"path": "m.py", "edits": data.draw(edits_of(module))}
    try:
        planner = edits.Planner(source)
        splices = edits.ordered(source, [planner.splice(item) for item in recipe.parse_file(raw).edits])
        result = Source(edits.spliced(module.data, splices), "m.py")
    except PatchError:
        return
    full = proof.Comparison(source, result, splices, by_bytes=False).run()
    assert proof.Comparison(source, result, splices).run() == full


@quick
@given(st.data())
def test_every_mutation_of_a_planned_result_is_rejected(data: st.DataObject) -> None:
    module: Module = data.draw(modules())
    source = Source(module.data, "m.py")
    raw = {"path": "m.py", "edits": data.draw(edits_of(module))}
    try:
        planner = edits.Planner(source)
        splices = edits.ordered(source, [planner.splice(item) for item in recipe.parse_file(raw).edits])
        result = edits.spliced(module.data, splices)
        proof.prove(source, result, splices)
    except PatchError:
        return
    start = data.draw(st.integers(0, len(result)))
    end = data.draw(st.integers(start, min(len(result), start + 6)))
    mutated = result[:start] + data.draw(st.binary(max_size=6)) + result[end:]
    if mutated != result:
        with pytest.raises(PatchError):
            proof.prove(source, mutated, splices)


def test_the_random_edits_are_worth_it() -> None:
    """Runs after the first test: most edits apply, some are refused."""
    if not seen:
        pytest.skip("runs with the others only")
    assert seen["applied"] > EXAMPLES // 4
    assert seen["refused"] > EXAMPLES // 50

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Twenty runs at once on one tree: each ends well or names who holds the lock, and none sees half of a patch."""

from __future__ import annotations

import collections
import fcntl
import hashlib
import itertools
import json
import os
import random
import re
import subprocess
import sys
import typing as t
from pathlib import Path

import pytest
from evidence import Figures
from sampling import PROOF, SEED

COLLECTIONS = Path(__file__).resolve().parents[3] / ".venv" / "collections"
MODULES = "ansible_collections.inferops.blackwell.plugins.modules"
ROUNDS = 100 if PROOF else 5
RUNS = 20
PATIENT, IMPATIENT = 120, 0

PRISTINE = {"a.py": "a = 1\n", "pkg/b.py": "b = 1\n", "pkg/c.py": "c = 1\n"}
SETS: dict[str, list[dict[str, t.Any]]] = {
    "one": [
        {"path": "a.py", "edits": [{"after": "a = 1", "insert": "one = 1"}]},
        {"path": "pkg/b.py", "edits": [{"after": "b = 1", "insert": "one = 2"}]},
        {"path": "pkg/new/d.py", "content": "one = 3\n"},
    ],
    "two": [
        {"path": "a.py", "edits": [{"before": "a = 1", "insert": "two = 1"}]},
        {"path": "pkg/c.py", "edits": [{"before": "c = 1", "insert": "two = 2"}]},
    ],
}


def wanted(one: bool, two: bool) -> dict[str, str]:
    """The whole tree, by what is applied."""
    files = {
        "a.py": "two = 1\n" * two + "a = 1\n" + "one = 1\n" * one,
        "pkg/b.py": "b = 1\n" + "one = 2\n" * one,
        "pkg/c.py": "two = 2\n" * two + "c = 1\n",
    }
    return {**files, "pkg/new/d.py": "one = 3\n"} if one else files


STATES = {(one, two): wanted(one, two) for one, two in itertools.product((False, True), repeat=2)}


class Tree:
    def __init__(self, base: Path) -> None:
        self.base = base
        self.root = base / "root"
        self.store = base / "store"
        for path, text in PRISTINE.items():
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_text(text)

    def start(self, module: str, number: object, **options: t.Any) -> subprocess.Popen[str]:
        """The real module in a process of its own, as Ansible starts it."""
        arguments = {"root": str(self.root), "store": str(self.store), **options}
        path = self.base / f"arguments-{number}.json"
        path.write_text(json.dumps({"ANSIBLE_MODULE_ARGS": arguments}))
        command = [sys.executable, "-B", "-m", f"{MODULES}.{module}", str(path)]
        return subprocess.Popen(
            command,
            cwd=COLLECTIONS,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
        )

    def content(self) -> dict[str, str]:
        paths = [path for path in sorted(self.root.rglob("*")) if path.is_file()]
        return {str(path.relative_to(self.root)): path.read_text() for path in paths}


def answer(process: subprocess.Popen[str]) -> dict[str, t.Any]:
    output, errors = process.communicate(timeout=600)
    try:
        found: dict[str, t.Any] = json.loads(output)
    except ValueError:
        raise AssertionError(f"{process.args} printed {output!r} and {errors!r}") from None
    return found


def plan(chance: random.Random) -> list[tuple[str, dict[str, t.Any]]]:
    """Twenty runs, never without a writer and a reader."""
    kinds = ["present", "absent", "info", *chance.choices(["present", "absent", "info"], k=RUNS - 3)]
    runs: list[tuple[str, dict[str, t.Any]]] = []
    for kind in chance.sample(kinds, RUNS):
        if kind == "info":
            runs.append(("python_patch_info", {}))
            continue
        name = chance.choice(list(SETS))
        files = {"files": SETS[name]} if kind == "present" else {}
        patience = chance.choice([PATIENT, PATIENT, PATIENT, IMPATIENT])
        runs.append(("python_patch", {"name": name, "state": kind, "lock_timeout_seconds": patience, **files}))
    return runs


def seen_by_info(patches: list[dict[str, t.Any]]) -> str:
    """One of the four states, or what else it is."""
    status = {patch["name"]: patch["status"] for patch in patches}
    if not set(status.values()) <= {"applied", "pristine"}:
        return f"neither applied nor pristine: {status}"
    state = STATES[status.get("one") == "applied", status.get("two") == "applied"]
    for file in (file for patch in patches for file in patch["files"]):
        text = state.get(file["path"])
        if file["sha256"] != (None if text is None else sha256(text)):
            return f"{file['path']} is not what {status} means"
    return "whole"


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def judged(module: str, options: dict[str, t.Any], found: dict[str, t.Any]) -> str:
    """How a run ended; what begins with `wrong` must not be."""
    if found.get("warnings"):
        return f"wrong: it warns {found['warnings']}"
    if found.get("failed"):
        # The command is left out where the holder ended in the meantime.
        holder = r"is locked by process \d+( \([^)]*python[^)]*\))?; waited 0 seconds"
        impatient = options.get("lock_timeout_seconds") == IMPATIENT
        return "named the holder" if impatient and re.search(holder, found["msg"]) else f"wrong: {found['msg']}"
    if module == "python_patch_info":
        saw = seen_by_info(found["patches"])
        return "saw a whole tree" if saw == "whole" else f"wrong: info saw {saw}"
    status = {"present": "applied", "absent": "pristine"}[options["state"]]
    return "ended well" if found["status"] == status else f"wrong: status {found['status']}"


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


@pytest.mark.parametrize("kind", [fcntl.LOCK_EX, fcntl.LOCK_SH])
def test_a_run_that_will_not_wait_names_the_process_that_holds_the_tree(tree: Tree, kind: int) -> None:
    held = os.open(tree.root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(held, kind)
        options = {"name": "one", "state": "present", "files": SETS["one"], "lock_timeout_seconds": IMPATIENT}
        found = answer(tree.start("python_patch", "impatient", **options))
    finally:
        os.close(held)
    assert f"the tree {tree.root} is locked by process {os.getpid()} (" in found["msg"]
    assert tree.content() == PRISTINE


def test_twenty_at_once_never_leave_or_show_half_of_a_patch(tree: Tree, figures: Figures) -> None:
    chance = random.Random(SEED)  # noqa: S311
    ends: collections.Counter[str] = collections.Counter()
    states: collections.Counter[str] = collections.Counter()
    for number in range(ROUNDS):
        runs = plan(chance)
        processes = [tree.start(module, index, **options) for index, (module, options) in enumerate(runs)]
        answers = [answer(process) for process in processes]
        verdicts = [judged(*run, found) for run, found in zip(runs, answers)]
        assert [verdict for verdict in verdicts if verdict.startswith("wrong")] == [], f"round {number}"
        ends.update(verdicts)
        patches = answer(tree.start("python_patch_info", "last"))["patches"]
        assert seen_by_info(patches) == "whole"
        applied = {patch["name"]: patch["status"] == "applied" for patch in patches}
        assert tree.content() == STATES[applied.get("one", False), applied.get("two", False)]
        litter = [path for path in tree.store.rglob("*") if path.name == "journal.json" or path.suffix == ".tmp"]
        assert litter == []
        states[" and ".join(name for name in SETS if applied.get(name)) or "none"] += 1
    assert {"ended well", "saw a whole tree"} <= set(ends)
    print(f"{ROUNDS} rounds ended with these sets applied: {dict(states)}; the runs: {dict(ends)}")
    for name in SETS:
        assert answer(tree.start("python_patch", "end", name=name, state="absent"))["status"] == "pristine"
    assert tree.content() == PRISTINE
    figures.add("concurrent runs", {"rounds": ROUNDS, "runs at once": RUNS, "runs": ROUNDS * RUNS})

#!/usr/bin/env python3
# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kill or fail a real run of python_patch at every mutating system call, with strace, then recover.

    crash_matrix.py [--sample N] [--seed S] [--bind-mounted]

Three files (two edited, one new) are applied and given back. Each mutating system call of both runs is a
point: the run is killed there, and fails there with EIO, ENOSPC and EACCES. After each, `python_patch_info`
must tell the truth, a failed run must have left the old tree without litter, and the next run must end in
a whole tree. Prints the number of points and every violation; exits 1 where there is one.
"""

from __future__ import annotations

import argparse
import collections
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
import typing as t
from pathlib import Path

UTILS = Path(__file__).resolve().parents[3] / "plugins" / "module_utils"
sys.path.insert(0, str(UTILS))

from _python_patch import engine, report  # noqa: E402
from _python_patch.errors import PatchError  # noqa: E402
from _python_patch.planning import Request  # noqa: E402

CALLS = (
    *("openat", "write", "rename", "renameat", "renameat2", "link", "linkat", "unlink", "unlinkat", "mkdir", "mkdirat"),
    *("rmdir", "fsync", "ftruncate", "fchmod", "fchmodat", "chmod", "fchown", "fchownat", "chown"),
    *("fsetxattr", "fremovexattr"),
)
FAULTS = ("signal=KILL", "error=EIO", "error=ENOSPC", "error=EACCES")
FILES: list[dict[str, t.Any]] = [
    {"path": "a.py", "edits": [{"after": "a = 1", "insert": "x = 10"}]},
    {"path": "pkg/b.py", "edits": [{"after": "b = 1", "insert": "x = 20"}]},
    {"path": "pkg/new/c.py", "content": "NEW = 1\n"},
]
OLD = {"a.py": "a = 1\n", "pkg/b.py": "b = 1\n"}
NEW = {"a.py": "a = 1\nx = 10\n", "pkg/b.py": "b = 1\nx = 20\n", "pkg/new/c.py": "NEW = 1\n"}
# The run that strace watches: it imports first, then says so by a call that can be found in the log.
DRIVER = """
import json, os, sys
sys.path.insert(0, sys.argv[1])
from _python_patch import engine
from _python_patch.planning import Request
options = json.loads(sys.argv[3])
try:
    getattr(engine, sys.argv[2])(Request(**options))
except Exception as error:
    print(type(error).__name__ + ": " + str(error))
    sys.exit(1)
"""


class Point(t.NamedTuple):
    """The n-th use of one system call in one action."""

    action: str
    call: str
    number: int


class Outcome(t.NamedTuple):
    points: int
    runs: int
    of_runs: int
    ends: dict[str, int]
    violations: list[str]

    def __str__(self) -> str:
        ends = ", ".join([f"{count} {end}" for end, count in sorted(self.ends.items())])
        return (
            f"crash_matrix: {self.points} points, {self.runs} of {self.of_runs} disturbed runs, "
            f"{len(self.violations)} violations; the disturbed runs: {ends}"
        )


class Tree:
    """A fresh copy of the tree for every run, in one place, so that paths stay the same."""

    def __init__(self, base: Path, bind_mounted: bool = False) -> None:
        self.base = base
        self.unsafe_writes = bind_mounted
        self.root = base / "root"
        self.store = base / "store"
        if bind_mounted:
            real, point = base.with_name("real.py"), self.root / "a.py"
            self.root.mkdir(parents=True)
            for path in (real, point):
                path.touch()
            subprocess.run(["mount", "--bind", real, point], check=True)

    def reset(self, action: str) -> None:
        # A mount point stays where it is.
        shutil.rmtree(self.base, ignore_errors=True)
        for path, content in OLD.items():
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_text(content)
        if action == "absent":
            engine.present(self.request())

    def request(self) -> Request:
        return Request("set", str(self.root), str(self.store), FILES, unsafe_writes=self.unsafe_writes)

    def content(self) -> dict[str, str]:
        return {str(p.relative_to(self.root)): p.read_text() for p in sorted(self.root.rglob("*")) if p.is_file()}

    def status(self) -> str:
        return str(report.patches(str(self.root), str(self.store), "set", 5)[0]["status"])

    def litter(self) -> list[str]:
        names = ("*.tmp", "journal.json", ".inferops-*")
        return [str(path) for name in names for path in self.base.rglob(name)]


def strace(tree: Tree, action: str, *options: str, log: Path) -> subprocess.CompletedProcess[str]:
    driver = [sys.executable, "-I", "-S", "-B", "-c", DRIVER, str(UTILS), action, json.dumps(tree.request()._asdict())]
    command = ["strace", "-f", "-qq", "-o", str(log), *options, *driver]
    # A run takes a fraction of a second; one that hangs is a fault of its own.
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


def points(tree: Tree, action: str, log: Path) -> list[Point]:
    """Every mutating call of an undisturbed run that concerns the tree or the store."""
    tree.reset(action)
    result = strace(tree, action, "-y", "-e", "trace=" + ",".join(CALLS), log=log)
    if result.returncode:
        raise SystemExit(f"{action} failed undisturbed: {result.stdout}{result.stderr}")
    counts: collections.Counter[str] = collections.Counter()
    found: list[Point] = []
    for line in log.read_text(errors="replace").splitlines():
        match = re.match(r"(?:\d+ +)?(\w+)\(", line)
        if match is None:
            continue
        call = match.group(1)
        counts[call] += 1
        mutates = call != "openat" or "O_CREAT" in line
        if mutates and str(tree.base) in line:
            found.append(Point(action, call, counts[call]))
    return found


def check(tree: Tree, point: Point, fault: str, result: subprocess.CompletedProcess[str]) -> list[str]:
    """What is wrong after one disturbed run, and after the next run."""
    old, new = (OLD, NEW) if point.action == "present" else (NEW, OLD)
    problems: list[str] = []
    if fault.startswith("signal") and result.returncode in (0, 1):
        problems.append(f"the run was not killed: it ended with {result.returncode}")
    status = tree.status()
    visible = {path: text for path, text in tree.content().items() if ".inferops-" not in path}
    if status != "interrupted" and visible not in (old, new):
        problems.append(f"info says {status} over a mixed tree: {visible}")
    if status == "applied" and visible != NEW:
        problems.append("info says applied and it is not")
    if status == "pristine" and visible != OLD:
        problems.append("info says pristine and it is not")
    if not fault.startswith("signal"):
        if result.returncode == 1 and not result.stdout.startswith("PatchError: "):
            problems.append(f"an error without a message: {result.stdout.strip()}{result.stderr.strip()}")
        if result.returncode == 1 and (visible != old or tree.litter()):
            problems.append(f"a failed run left {visible}, litter {tree.litter()}: {result.stdout.strip()}")
        if result.returncode == 0 and visible != new:
            problems.append(f"a run that ended well left {visible}")
    for run, wanted in ((engine.present, NEW), (engine.absent, OLD)):
        try:
            run(tree.request())
        except PatchError as error:
            problems.append(f"the next run fails: {error}")
            break
        if tree.content() != wanted or tree.litter():
            problems.append(f"the next run left {tree.content()}, litter {tree.litter()}")
    return problems


def run(sample: int, seed: int, bind_mounted: bool = False) -> Outcome:
    """Disturb `sample` runs of all, or all of them where it is 0."""
    with tempfile.TemporaryDirectory() as directory:
        tree = Tree(Path(directory).resolve() / "w", bind_mounted)
        log = Path(directory) / "strace.log"
        try:
            found = [point for action in ("present", "absent") for point in points(tree, action, log)]
            runs = [(point, fault) for point in found for fault in FAULTS]
            chosen = random.Random(seed).sample(runs, min(sample or len(runs), len(runs)))  # noqa: S311
            ends: collections.Counter[str] = collections.Counter()
            violations: list[str] = []
            for point, fault in sorted(chosen):
                tree.reset(point.action)
                inject = f"inject={point.call}:{fault}:when={point.number}"
                result = strace(tree, point.action, "-e", "trace=" + point.call, "-e", inject, log=log)
                ends[{0: "ended well", 1: "refused"}.get(result.returncode, "killed")] += 1
                wrong = check(tree, point, fault, result)
                violations.extend([f"{point.action} {point.call} {point.number} {fault}: {what}" for what in wrong])
        finally:
            if bind_mounted:
                subprocess.run(["umount", tree.root / "a.py"], check=True)
    return Outcome(len(found), len(chosen), len(runs), dict(ends), violations)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=0, help="so many disturbed runs instead of all")
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--bind-mounted", action="store_true")
    parser.add_argument("--json", type=Path, help="write the outcome there")
    arguments = parser.parse_args()
    if shutil.which("strace") is None:
        print("crash_matrix: strace is missing (Debian: apt-get install strace)")
        return 2
    outcome = run(arguments.sample, arguments.seed, arguments.bind_mounted)
    if arguments.json:
        arguments.json.write_text(json.dumps(outcome._asdict()))
    print("\n".join([*outcome.violations, str(outcome)]))
    return 1 if outcome.violations else 0


if __name__ == "__main__":
    sys.exit(main())

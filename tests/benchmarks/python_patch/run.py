# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# /// script
# requires-python = ">=3.11"
# dependencies = ["libcst==1.9.0", "pyyaml==6.0.4"]
# ///
"""python_patch against the floor, against a LibCST codemod, against the usual tasks; and how it grows.

    .venv/bin/uv run --script tests/benchmarks/python_patch/run.py [--runs 5]

Prints a table in Markdown: medians in seconds, and ratios. `make .venv/.test` first: the playbooks run from there.
"""

from __future__ import annotations

import argparse
import ast
import concurrent.futures
import hashlib
import json
import multiprocessing
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import typing as t
import zipfile
from pathlib import Path

import yaml

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
BIN = ROOT / ".venv" / "bin"
RECIPE = ROOT / "roles/threshold_patch/files/recipes/model_worker_batch"
sys.path[:0] = [str(HERE), str(ROOT / "plugins" / "module_utils")]

import codemod  # noqa: E402
from _python_patch import engine  # noqa: E402
from _python_patch.planning import Request  # noqa: E402

Files = list[dict[str, t.Any]]
GROWTH = (1, 10, 100, 1000)


class Case(t.NamedTuple):
    """Sources by path, and what to do with them."""

    title: str
    sources: dict[str, bytes]
    files: Files

    def lay_out(self, base: Path) -> Path:
        root = base / "root"
        for path, data in self.sources.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(data)
        (root / "sglang/srt/speculative").mkdir(parents=True, exist_ok=True)
        return root


# ---- what is patched -------------------------------------------------------------------------


def wheel() -> zipfile.ZipFile:
    command = [BIN / "python", ROOT / "tests/bed/downloads.py", "wheel"]
    return zipfile.ZipFile(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[-1])


def recipe_case(archive: zipfile.ZipFile) -> Case:
    files: Files = yaml.safe_load((RECIPE / "recipe.yml").read_text())["files"]
    for file in files:
        if "source" in file:
            file["content"] = (RECIPE / file.pop("source")).read_text()
    names = [file["path"] for file in files if "edits" in file]
    return Case("the recipe of 0.5.9, two files and a new one", {name: archive.read(name) for name in names}, files)


def twenty_case(archive: zipfile.ZipFile) -> Case:
    """The first statement of one function in each of the 20 largest modules of sglang.srt that have one."""
    found: dict[str, str] = {}
    infos = [
        info for info in archive.infolist() if info.filename.startswith("sglang/srt/") and info.filename.endswith(".py")
    ]
    for info in sorted(infos, key=lambda info: -info.file_size):
        function = first_function(ast.parse(archive.read(info.filename)))
        if function is not None and len(found) < 20:
            found[info.filename] = function
    files: Files = [
        {"path": path, "edits": [{"in": name, "at": "start", "insert": "benchmarked = True\n"}]}
        for path, name in found.items()
    ]
    return Case("20 files, the largest of sglang.srt", {path: archive.read(path) for path in found}, files)


def first_function(tree: ast.Module) -> str | None:
    names = [node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and names.count(node.name) == 1]
    return functions[0].name if functions else None


def grown_case(case: Case, count: int) -> Case:
    """`count` copies of one module of usual size."""
    path, data = min(case.sources.items(), key=lambda item: len(item[1]))
    (edits,) = [file["edits"] for file in case.files if file["path"] == path]
    names = [f"package/module_{number}.py" for number in range(count)]
    return Case(f"{count} files", dict.fromkeys(names, data), [{"path": name, "edits": edits} for name in names])


# ---- what is measured ------------------------------------------------------------------------


def run_engine(root: Path, case: Case) -> None:
    assert engine.present(Request("set", str(root), f"{root}.store", case.files)).changed


def run_codemod(root: Path, case: Case) -> None:
    codemod.patch(root, case.files)


def run_floor(root: Path, case: Case, after: dict[str, bytes]) -> None:
    """Read, parse what was and what shall be, hash both, and have the new bytes on the disk."""
    for path, new in after.items():
        target = root / path
        old = target.read_bytes() if target.exists() else b""
        for data in (old, new):
            ast.parse(data)
            hashlib.sha256(data).hexdigest()
        with target.open("wb") as file:
            file.write(new)
            file.flush()
            os.fsync(file.fileno())


def seconds(case: Case, runs: int, work: t.Callable[[Path, Case], None]) -> float:
    """The median; each run on a tree of its own, the first one thrown away."""
    taken = []
    for _ in range(runs + 1):
        with tempfile.TemporaryDirectory() as base:
            root = case.lay_out(Path(base))
            os.sync()
            start = time.perf_counter()
            work(root, case)
            taken.append(time.perf_counter() - start)
    return statistics.median(taken[1:])


def result_of(case: Case) -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as base:
        root = case.lay_out(Path(base))
        run_engine(root, case)
        return {file["path"]: (root / file["path"]).read_bytes() for file in case.files}


def compare(case: Case, runs: int) -> str:
    after = result_of(case)
    own = seconds(case, runs, run_engine)
    floor = seconds(case, runs, lambda root, case: run_floor(root, case, after))
    libcst = seconds(case, runs, run_codemod)
    return f"| {case.title} | {own:.3f} | {floor:.3f} | {own / floor:.2f} | {libcst:.3f} | {libcst / own:.1f} |"


def grow(case: Case) -> tuple[float, float]:
    """Seconds and peak memory (MiB), in a process of its own."""
    with tempfile.TemporaryDirectory() as base:
        root = case.lay_out(Path(base))
        start = time.perf_counter()
        run_engine(root, case)
        taken = time.perf_counter() - start
    return taken, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def play(case: Case, playbook: str) -> float:
    """A whole ansible-playbook, the start of Ansible included."""
    with tempfile.TemporaryDirectory() as base:
        variables = Path(base) / "variables.json"
        root = case.lay_out(Path(base))
        variables.write_text(json.dumps({"root": str(root), "store": f"{root}.store", "files": case.files}))
        options = ["-e", f"@{variables}", "-e", f"ansible_python_interpreter={BIN / 'python'}"]
        command = [BIN / "ansible-playbook", "-i", "localhost,", *options, HERE / playbook]
        environment = {**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg")}
        start = time.perf_counter()
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
        taken = time.perf_counter() - start
        assert done.returncode == 0, done.stdout
        return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    archive = wheel()
    recipe = recipe_case(archive)
    print("| edits | engine, s | floor, s | times the floor | LibCST, s | times faster than LibCST |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for case in (recipe, twenty_case(archive)):
        print(compare(case, runs), flush=True)
    print("\n| tasks for the recipe | tasks | s | without Ansible's start |\n| --- | ---: | ---: | ---: |")
    start = statistics.median(play(recipe, "nothing.yml") for _ in range(runs))
    for title, playbook, count in (
        ("python_patch", "python_patch.yml", 1),
        ("copy, lineinfile, blockinfile, py_compile, grep", "usual.yml", 8),
    ):
        taken = statistics.median(play(recipe, playbook) for _ in range(runs))
        print(f"| {title} | {count} | {taken:.2f} | {taken - start:.2f} |", flush=True)
    print("\n| growth | engine, s | ms per file | peak memory, MiB |\n| --- | ---: | ---: | ---: |")
    for count in GROWTH:
        spawn = multiprocessing.get_context("spawn")
        with concurrent.futures.ProcessPoolExecutor(1, mp_context=spawn) as pool:
            taken, memory = pool.submit(grow, grown_case(recipe, count)).result()
        print(f"| {count:,} | {taken:.3f} | {taken / count * 1000:.1f} | {memory:.0f} |", flush=True)


if __name__ == "__main__":
    main()

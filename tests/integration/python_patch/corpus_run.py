# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random edits on every file of three corpora: put in, judged, put in again, taken out, byte for byte.

Each file is patched alone, by a set of its own, all on one tree; then many files by one set. Whatever is refused must
be refused for a reason that stands in REASONS, and leave every byte as it was.
"""

from __future__ import annotations

import ast
import collections
import random
import re
import shutil
import sys
import typing as t
import warnings
from pathlib import Path

import corpora
import places
from corpora import Corpus

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "plugins" / "module_utils"))

from _python_patch import engine, report  # noqa: E402
from _python_patch.errors import PatchError  # noqa: E402
from _python_patch.planning import Request  # noqa: E402

EDITS_PER_FILE = 4
FILES_PER_TREE = 40

# What may be refused, as the message says it, and how the summary calls it.
REASONS = {
    r"the file does not parse in Python": "the file is not Python of this interpreter",
    r"matches \d+ times in .* must match exactly once": "the pattern is ambiguous",
    r"the pattern is only `\.\.\.`": "the pattern is a bare `...`",
    r"the statement is an elif|an elif cannot be replaced": "beside an elif",
    r"the statement stands behind a `;`|another statement follows behind a `;`": "between statements of one line",
    r"the body stands on the line of its header": "in a one-line suite",
    r"overlaps edit \d+": "two edits overlap",
    r"which the file's encoding \S+ does not have": "the file's encoding lacks a character",
    r"the result does not compile in Python \S+ from __future__ imports must occur at the beginning":
        "before a __future__ import",
    r"the result does not compile": "the result would not compile",
    r"the result does not parse": "the result would not parse",
    r"proof failed: without what the edits insert and replace, the syntax tree": "the result would be another program",
}  # fmt: skip


class Run:
    """One corpus: what was tried, and what came of it."""

    def __init__(self, base: Path, corpus: Corpus, seed: int) -> None:
        self.base = base
        self.root = base / "root"
        self.store = base / "store"
        self.corpus = corpus
        self.chance = random.Random(seed)  # noqa: S311
        self.counts: collections.Counter[str] = collections.Counter()
        self.refused: collections.Counter[str] = collections.Counter()
        self.problems: list[str] = []
        self.recipes: dict[str, list[dict[str, t.Any]]] = {}

    def request(self, name: str, files: t.Sequence[dict[str, t.Any]] = (), **more: t.Any) -> Request:
        return Request(name, str(self.root), str(self.store), files, **more)

    def problem(self, path: str, what: str, edits: object = "") -> None:
        self.problems.append(f"{self.corpus.title}: {path}: {what} {edits}".rstrip())

    def in_chunks(self, names: t.Sequence[str]) -> None:
        for first in range(0, len(names), FILES_PER_TREE):
            chunk = {name: self.corpus.files[name] for name in names[first : first + FILES_PER_TREE]}
            self.each_alone(chunk)
            self.together(chunk)

    def all_at_once(self, names: t.Sequence[str]) -> None:
        """Every edit of the corpus as one patch set on one tree."""
        self.together({name: self.corpus.files[name] for name in names}, dress=False)

    def each_alone(self, chunk: dict[str, bytes]) -> None:
        self.write(chunk)
        for path, data in chunk.items():
            self.counts["files"] += 1
            tree = corpora.parsed(data)
            edits = [{"at": "end", "insert": f"{places.MARK}1 = 1"}]
            if tree is not None:
                edits = places.Generator(tree, self.chance).edits(EDITS_PER_FILE) or edits
            self.counts["edits"] += len(edits)
            accepted = self.put_in(path, data, edits)
            if accepted:
                self.recipes[path] = accepted
                self.counts["files patched"] += 1
                self.counts["edits applied"] += len(accepted)
        self.take_off([path for path in chunk if path in self.recipes], chunk)

    def put_in(self, path: str, data: bytes, edits: list[dict[str, t.Any]]) -> list[dict[str, t.Any]]:
        """Drops what is refused until the rest goes in; gives what went in."""
        while edits:
            file = {"path": path, "edits": edits}
            try:
                result = engine.present(self.request(path, [file]))
            except PatchError as error:
                if (self.root / path).read_bytes() != data:
                    self.problem(path, f"a refused edit changed the file: {error}", edits)
                edits = self.without_refused(path, data, edits, str(error))
                continue
            self.check_result(path, data, result, edits)
            again = engine.present(self.request(path, [file]))
            if again.changed or again.files != result.files:
                self.problem(path, "the second run is not the first one unchanged", edits)
            return edits
        return []

    def without_refused(
        self, path: str, data: bytes, edits: list[dict[str, t.Any]], message: str
    ) -> list[dict[str, t.Any]]:
        """Which of the edits is to blame; the message names it, or each is asked alone."""
        blamed = re.match(r"[^`]*?: edit (\d+)(?: \(|:)", message)
        if blamed is not None and "Edits, with lines of the original" not in message:
            self.count_refusal(path, data, message, edits[int(blamed[1]) - 1])
            return edits[: int(blamed[1]) - 1] + edits[int(blamed[1]) :]
        kept: list[dict[str, t.Any]] = []
        for edit in edits:
            try:
                engine.present(self.request(path, [{"path": path, "edits": [edit]}], check=True))
                kept.append(edit)
            except PatchError as error:
                self.count_refusal(path, data, str(error), edit)
        if len(kept) == len(edits):
            self.problem(path, f"refused together, not one by one: {message}", edits)
            return []
        return kept

    def count_refusal(self, path: str, data: bytes, message: str, edit: object) -> None:
        self.counts["edits refused"] += 1
        reason = next((name for words, name in REASONS.items() if re.search(words, message, re.DOTALL)), None)
        if reason is None:
            self.problem(path, f"refused for no known reason: {message}", edit)
            return
        unparsable = corpora.parsed(data) is None
        if unparsable != (reason == REASONS["the file does not parse in Python"]):
            self.problem(path, f"Python says {unparsable=}, the engine: {message}", edit)
        if reason == "the result would not compile" and not compiles(data):
            reason = "the file is not Python of this interpreter"
        self.refused[reason] += 1

    def check_result(self, path: str, data: bytes, result: engine.Result, edits: list[dict[str, t.Any]]) -> None:
        (file,) = result.files
        if not result.changed or file["status"] != "applied":
            self.problem(path, f"the result says {file['status']}, changed={result.changed}", edits)
        wrong = places.judge(data, (self.root / path).read_bytes(), edits, file["edits"])
        if wrong is not None:
            self.problem(path, wrong, edits)

    def together(self, chunk: dict[str, bytes], dress: bool = True) -> None:
        """The same edits as one patch set over all files of the tree, each file in other clothes."""
        dressed = {path: self.dressed(data) if dress else data for path, data in chunk.items()}
        self.write(dressed)
        files = [{"path": path, "edits": self.recipes[path]} for path in chunk if path in self.recipes]
        if not files:
            return
        try:
            result = engine.present(self.request("many", files))
        except PatchError as error:
            self.problem("many files", str(error))
            return
        for file, item in zip(files, result.files):
            path = file["path"]
            wrong = places.judge(dressed[path], (self.root / path).read_bytes(), file["edits"], item["edits"])
            if wrong is not None:
                self.problem(path, f"in one set with others, {wrong}", file["edits"])
        if engine.present(self.request("many", files)).changed:
            self.problem("many files", "the second run changes something")
        self.counts["sets of many files"] += 1
        self.counts["files in the largest set"] = max(len(files), self.counts["files in the largest set"])
        self.take_off(["many"], dressed)

    def dressed(self, data: bytes) -> bytes:
        """Other line ends, a byte order mark, no final line end: where the program stays the same."""
        tree = corpora.parsed(data)
        other = data
        for change in self.chance.sample(CLOTHES, 2):
            other = change(other)
        found = corpora.parsed(other)
        same = tree is not None and found is not None and ast.dump(tree) == ast.dump(found)
        self.counts["files in other clothes"] += same and other != data
        return other if same else data

    def take_off(self, names: t.Sequence[str], pristine: dict[str, bytes]) -> None:
        """In any order; then the tree is what it was, and nothing lies about."""
        known = report.patches(str(self.root), str(self.store), None, 5)
        if sorted((item["name"], item["status"]) for item in known) != sorted((name, "applied") for name in names):
            self.problem("info", "it does not say that exactly these sets are applied", names)
        for name in self.chance.sample(names, len(names)):
            if not engine.absent(self.request(name)).changed:
                self.problem(name, "taking it off changes nothing")
        found = {str(path.relative_to(self.root)): path for path in self.root.rglob("*") if path.is_file()}
        if sorted(found) != sorted(pristine):
            self.problem("the tree", "files come or went", sorted(set(found) ^ set(pristine)))
        for path, data in pristine.items():
            if found[path].read_bytes() != data:
                self.problem(path, "it did not get its bytes back", self.recipes.get(path))

    def write(self, files: dict[str, bytes]) -> None:
        shutil.rmtree(self.base, ignore_errors=True)
        for path, data in files.items():
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_bytes(data)


def _with_newlines(newline: bytes) -> t.Callable[[bytes], bytes]:
    return lambda data: re.sub(rb"\r\n|\r|\n", newline, data)


def _mixed(data: bytes) -> bytes:
    return b"".join(line + (b"\r\n", b"\n", b"\n")[i % 3] for i, line in enumerate(data.splitlines()))


CLOTHES: list[t.Callable[[bytes], bytes]] = [
    _with_newlines(b"\r\n"),
    _with_newlines(b"\r"),
    _mixed,
    lambda data: data if data.startswith(b"\xef\xbb\xbf") else b"\xef\xbb\xbf" + data,
    lambda data: data.rstrip(b"\r\n"),
    lambda data: data + b"\x0c",
]


def compiles(data: bytes) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(data, "m.py", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError):
        return False
    return True

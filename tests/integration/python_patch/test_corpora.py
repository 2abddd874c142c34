# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random edits on every file of three corpora that nobody here wrote; in a sample, a seeded part and the odd ones."""

from __future__ import annotations

import random
import re
from pathlib import Path

import corpora
import places
import pytest
from corpus_run import REASONS, Run
from evidence import Figures
from sampling import PROOF, SEED

SAMPLE = 130
OF_EACH_ODDITY = 4
# Names under which CPython keeps what is wrong or strange on purpose.
ODD_NAMES = re.compile(r"(^|/)(bad|badsyntax|bad_coding|tokenize_tests|encoded_|nonascii|doctest_lineends)[^/]*$")


def chosen(corpus: corpora.Corpus) -> list[str]:
    names = list(corpus.files)
    if PROOF:
        return names
    chance = random.Random(SEED)  # noqa: S311
    picked = set(chance.sample(names, min(SAMPLE, len(names))))
    for has in corpora.ODDITIES.values():
        odd = [name for name, data in corpus.files.items() if has(data)]
        picked.update(chance.sample(odd, min(OF_EACH_ODDITY, len(odd))))
    picked.update(name for name in names if ODD_NAMES.search(name))
    return [name for name in names if name in picked]


@pytest.mark.parametrize("name", corpora.ALL)
def test_every_file_takes_random_edits_and_gets_its_bytes_back(tmp_path: Path, name: str, figures: Figures) -> None:
    corpus = corpora.ALL[name]()
    names = chosen(corpus)
    run = Run(tmp_path / "run", corpus, SEED)
    run.in_chunks(names)
    if PROOF:
        run.all_at_once(names)
    figures.add(f"corpus {name}", {"title": corpus.title, **run.counts})
    figures.add(f"refusals {name}", {reason: run.refused[reason] for reason in dict.fromkeys(REASONS.values())})
    oddities = {odd: sum(map(has, map(corpus.files.__getitem__, names))) for odd, has in corpora.ODDITIES.items()}
    unparsable = sum(corpora.parsed(corpus.files[path]) is None for path in names)
    figures.add(f"oddities {name}", {**oddities, "not Python of this interpreter": unparsable})
    assert run.problems == [], f"{len(run.problems)} problems, the first ones:\n" + "\n".join(run.problems[:20])
    assert run.counts["files"] == len(names)
    # What does not parse cannot be patched; of the others nearly every one takes an edit.
    assert run.counts["files patched"] > 0.9 * (len(names) - unparsable)
    assert run.counts["edits applied"] > 0.8 * run.counts["edits"]


def test_the_judge_sees_what_is_wrong() -> None:
    before = b"def f():\n    a = 1\n    return a\n"
    edits = [{"in": "f", "after": "a = 1", "insert": f"{places.MARK}1 = 1"}]
    lines = [{"first_line": 3, "last_line": 3}]
    good = f"def f():\n    a = 1\n    {places.MARK}1 = 1\n    return a\n".encode()
    assert places.judge(before, good, edits, lines) is None
    assert places.judge(before, before, edits, lines) == "0 marks in the result of 1 edits"
    assert places.judge(before, good.replace(b"a = 1", b"a = 2"), edits, lines) is not None
    assert places.judge(before, good.replace(b"a = 1\n", b"a = 1  # x\n"), edits, lines) is not None
    assert places.judge(before, good, edits, [{"first_line": 2, "last_line": 2}]) is not None

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The figures of a proof as a page of docs/, and the few that the page on python_patch shows."""

from __future__ import annotations

import platform
import re
import typing as t
from pathlib import Path

Found = t.Mapping[str, t.Mapping[str, t.Any]]

DOCS = Path(__file__).resolve().parents[3] / "docs"
PAGE = DOCS / "proof" / "python_patch.md"
GUIDE = DOCS / "python_patch.md"
BEGIN, END = "<!-- figures of make proof: begin -->", "<!-- figures of make proof: end -->"
CORPORA = ("sglang", "torch", "cpython")
MATRICES = ("crash matrix, ordinary files", "crash matrix, a bind-mounted file")
FULL = ("full file system, root", "full file system, store", "full file system, taking off")
WANTED = (
    *(f"{kind} {name}" for kind in ("corpus", "refusals", "oddities") for name in CORPORA),
    *MATRICES,
    *FULL,
    "concurrent runs",
)
TEXT = """\
# python_patch: what a whole proof counted

Written by `make proof` (`tests/integration/python_patch`) on Python {python}, and only when all of it passed: one byte
that differs, one half of a patch, or one refusal for a reason that is not listed, and this page is not written.

## Random edits on files of others

Each file is patched alone: put in, judged, put in again (unchanged), and taken off in random order. Then many files as
one patch set, the files in other clothes: other line ends, a byte order mark, no final line end. A judge that shares no
code with the engine compares trees, bytes and reported lines. In the end every byte is what it was.

{edits}

Refused, and every byte left as it was, because:

{refusals}

Among the files, as they came:

{oddities}

## Killed or failed at every mutating system call

An apply and an absent over three files; strace kills the run at each point, or lets it fail there with EIO, ENOSPC and
EACCES. Then info must tell the truth, a failed run must have left the old tree, and the next run ends in a whole one.

{crashes}

## File systems that fill up

A real tmpfs of 1 MiB (2 MiB for taking off) with every amount of free space, page by page. Either all is done, or all
is as before, without litter, and the next run succeeds once there is space.

{full}

## Runs at the same time

{rounds} rounds of {at_once} processes on one tree, {runs} in all: the real modules, two patch sets that share a file,
present, absent and info in random order. Each ended well or named the holder of the lock, none saw half of a patch, and
after each round the tree was what the manifest says.
"""


def missing(found: Found) -> list[str]:
    """Parts that a page cannot be written without."""
    return [title for title in WANTED if title not in found]


def write(found: Found) -> None:
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(found))
    guide = GUIDE.read_text()
    pattern = re.escape(BEGIN) + ".*?" + re.escape(END)
    GUIDE.write_text(re.sub(pattern, lambda _match: f"{BEGIN}\n{short(found)}\n{END}", guide, flags=re.DOTALL))


def page(found: Found) -> str:
    titles = [found[f"corpus {name}"]["title"] for name in CORPORA]
    counted = [{key: n for key, n in found[f"corpus {name}"].items() if key != "title"} for name in CORPORA]
    runs = found["concurrent runs"]
    return TEXT.format(
        python=platform.python_version(),
        edits=table(titles, counted),
        refusals=table(titles, [found[f"refusals {name}"] for name in CORPORA]),
        oddities=table(titles, [found[f"oddities {name}"] for name in CORPORA]),
        crashes=table(["ordinary files", "a bind-mounted file"], [found[title] for title in MATRICES], total=False),
        full=table(["tree", "store", "tree, taking off"], [found[title] for title in FULL], total=False),
        rounds=runs["rounds"],
        at_once=runs["runs at once"],
        runs=f"{runs['runs']:,}",
    )


def table(titles: t.Sequence[str], columns: t.Sequence[t.Mapping[str, int]], total: bool = True) -> str:
    lines = [f"| | {' | '.join([*titles, *(['all'] if total else [])])} |"]
    lines.append("| --- |" + " ---: |" * (len(titles) + total))
    for name in dict.fromkeys(name for column in columns for name in column):
        counts = [column.get(name, 0) for column in columns]
        if not any(counts):
            continue
        counts += [sum(counts)] if total else []
        lines.append(f"| {name} | " + " | ".join(f"{count:,}" for count in counts) + " |")
    return "\n".join(lines)


def short(found: Found) -> str:
    """The table of the guide."""

    def total(kind: str, *names: str) -> int:
        counts = [found[f"{kind} {corpus}"] for corpus in CORPORA]
        return sum(column[name] for column in counts for name in names or column)

    titles = ", ".join(found[f"corpus {name}"]["title"] for name in CORPORA)
    applied, refused = total("corpus", "edits applied"), total("refusals")
    points, runs = (sum(found[title][key] for title in MATRICES) for key in ("points", "disturbed runs"))
    concurrent = found["concurrent runs"]
    rows = [
        ("files of others", total("corpus", "files"), titles),
        ("random edits", applied, f"and {refused:,} refused for a known reason; no byte differs afterwards"),
        ("crash points", points, f"{runs:,} runs killed or failed there, every one recovered"),
        ("full file systems", sum(sum(found[title].values()) for title in FULL), "all or nothing in each"),
        ("concurrent runs", concurrent["runs"], f"{concurrent['runs at once']} at once; none saw half of a patch"),
    ]
    lines = [
        "| | count | |",
        "| --- | ---: | --- |",
        *(f"| {name} | {count:,} | {text} |" for name, count, text in rows),
    ]
    return "\n".join(lines)

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs of the harness that the tests share, and what their results say."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from environment import HERE, Environment

# [iteration, request, tokens]: one request is there all the time, others come in two waves, so that the batch grows
# from 1 to 7 or 8 and shrinks again, twice. Every threshold from 1 to 5 is crossed four times.
PLAN = [
    [0, 0, 100],
    [4, 1, 8],
    *([10, request, tokens] for request, tokens in [(2, 10), (3, 16), (4, 12)]),
    *([12, request, tokens] for request, tokens in [(5, 9), (6, 14)]),
    [44, 7, 8],
    *([48, request, tokens] for request, tokens in [(8, 6), (9, 10), (10, 14)]),
    *([50, request, tokens] for request, tokens in [(11, 7), (12, 9), (13, 11)]),
]
TIMEOUT_SECONDS = 400


@dataclass(frozen=True)
class Case:
    thresholds: tuple[int, ...]
    algorithm: str | None = "EAGLE3"
    graphs: tuple[int, ...] = ()
    token_dtype: str = "int64"
    one_by_one: bool = False


@dataclass(frozen=True)
class Step:
    """One decode step of the worker."""

    requests: list[str]
    lengths: list[int]  # before the step
    drafts: int  # calls of draft()
    rows: int  # tokens that the target computed
    accepted: list[int]
    slots: int
    stride: int
    hidden_rows: int
    graph: bool

    @property
    def size(self) -> int:
        return len(self.requests)


@dataclass(frozen=True)
class Pass:
    """The plan, run at one threshold."""

    threshold: int
    outputs: dict[str, list[int]]
    steps: list[Step]
    counters: list[int] | None

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", [Step(**step) for step in self.steps])

    def speculates(self, step: Step) -> bool:
        return self.threshold == 0 or step.size <= self.threshold

    @property
    def crossings(self) -> int:
        modes = [self.speculates(step) for step in self.steps]
        return sum(before != after for before, after in zip(modes, modes[1:], strict=False))

    def accept_lengths(self) -> dict[tuple[str, int], int]:
        """By request and position, for the steps that drafted."""
        return {
            (request, length): accepted
            for step in self.steps
            if step.drafts
            for request, length, accepted in zip(step.requests, step.lengths, step.accepted, strict=True)
        }

    def resumed(self) -> set[tuple[str, int]]:
        """Request and position in the first step after each pause."""
        pairs = zip(self.steps, self.steps[1:], strict=False)
        first = [after for before, after in pairs if after.drafts and not before.drafts]
        return {place for step in first for place in zip(step.requests, step.lengths, strict=True)}


@dataclass(frozen=True)
class Result:
    worker: str
    passes: list[Pass]
    prompts: dict[str, list[int]]
    log: list[str]
    runners: list[list[Any]] = field(default_factory=list)
    replays: list[list[int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        object.__setattr__(self, "passes", [Pass(**one) for one in self.passes])

    def at(self, threshold: int) -> Pass:
        return next(one for one in self.passes if one.threshold == threshold)


class DiedError(Exception):
    """The harness came to no result; the end of its output says why."""


def harness(environment: Environment, tree: Path, script: str, *arguments: Path) -> str:
    """Run a script of harness/ on the SGLang of `tree`, and give its output."""
    done = subprocess.run(
        [str(environment.python), str(HERE / "harness" / script), *map(str, arguments)],
        env=environment.variables(tree),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TIMEOUT_SECONDS,
    )
    if done.returncode:
        raise DiedError(f"{script} exits {done.returncode}:\n{done.stdout[-4000:]}")
    return done.stdout


def drive(environment: Environment, tree: Path, case: Case, directory: Path) -> Result:
    """Run `drive.py`; `directory` gets the case, the result and nothing else."""
    directory.mkdir()
    given, taken = directory / "case.json", directory / "result.json"
    given.write_text(json.dumps({**case.__dict__, "plan": PLAN, "models": str(environment.models)}))
    harness(environment, tree, "drive.py", given, taken)
    return Result(**json.loads(taken.read_text()))

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every mistake of mutants.py is noticed: the other tests of this directory can fail."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import cases
import mutants
import pytest
from cases import Case, DiedError, Pass, Result
from environment import Environment

pytestmark = pytest.mark.slow

THRESHOLD = 2
AT_ONCE = 2  # processes; each needs about 3 GB


def signs_of(run: Callable[[], Result], plain: Pass, acceptable: Pass) -> set[str]:
    """What is wrong with a run at the threshold."""
    try:
        one = run().at(THRESHOLD)
    except DiedError:
        return {mutants.DIES}
    signs = set()
    if one.outputs != plain.outputs:
        signs.add(mutants.TOKENS)
    if [step.drafts for step in one.steps] != [int(one.speculates(step)) for step in one.steps]:
        signs.add(mutants.DRAFTS)
    if any(step.rows != step.size for step in one.steps if not step.drafts):
        signs.add(mutants.ROWS)
    if {step.stride for step in one.steps} != {4}:
        signs.add(mutants.STRIDE)
    expected = acceptable.accept_lengths()
    if any(accepted != expected.get(place, accepted) for place, accepted in one.accept_lengths().items()):
        signs.add(mutants.ACCEPTANCE)
    return signs


@pytest.fixture(scope="module")
def runs(environment: Environment, tree: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Future[Result]]:
    """All mutants, started at once and run a few at a time."""
    directory = tmp_path_factory.mktemp("mutants")
    pool = ThreadPoolExecutor(AT_ONCE)
    started = {}
    for number, mutant in enumerate(mutants.MUTANTS):
        changed = mutants.make_tree(mutant, tree, directory / f"tree{number}")
        case = Case((THRESHOLD,), graphs=mutant.graphs, token_dtype=mutant.token_dtype)
        started[mutant.name] = pool.submit(cases.drive, environment, changed, case, directory / f"run{number}")
    return started


@pytest.mark.parametrize("mutant", mutants.MUTANTS, ids=lambda mutant: mutant.name)
def test_mistake_is_noticed(
    mutant: mutants.Mutant, runs: dict[str, Future[Result]], plain: Pass, acceptable: Pass
) -> None:
    assert mutant.sign in signs_of(runs[mutant.name].result, plain, acceptable)


def test_the_patch_itself_shows_no_sign(drive: Callable[[Case], Result], plain: Pass, acceptable: Pass) -> None:
    assert signs_of(lambda: drive(Case((THRESHOLD,))), plain, acceptable) == set()

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the threshold promises: the same tokens at every value, and drafts exactly when the batch is small enough."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from cases import Case, Pass, Result, harness
from environment import Environment

Drive = Callable[[Case], Result]

STRIDE = 4
# Each of the first three is a server of its own, started with that threshold; the others share one, one after another.
STARTED = (0, 2, 99)
TOGETHER = (1, 3, 4, 5)
THRESHOLDS = (*STARTED, *TOGETHER)
CROSSED = (1, 2, 3, 4, 5)


@pytest.fixture(scope="module")
def at(drive: Drive) -> Callable[[int], Pass]:
    return lambda threshold: drive(Case((threshold,) if threshold in STARTED else TOGETHER)).at(threshold)


At = Callable[[int], Pass]


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_tokens_are_those_without_speculation(at: At, plain: Pass, threshold: int) -> None:
    assert at(threshold).outputs == plain.outputs


def test_tokens_are_those_of_transformers(environment: Environment, tree: Path, drive: Drive, tmp_path: Path) -> None:
    result = drive(Case((2,)))
    outputs = tmp_path / "outputs.json"
    outputs.write_text(json.dumps({"prompts": result.prompts, "outputs": result.passes[0].outputs}))
    said = harness(environment, tree, "greedy_reference.py", environment.models / "target", outputs)
    assert json.loads(said.splitlines()[-1]) == dict.fromkeys(result.prompts, True)


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_drafts_exactly_when_the_batch_is_small_enough(at: At, threshold: int) -> None:
    one = at(threshold)
    assert [step.drafts for step in one.steps] == [int(one.speculates(step)) for step in one.steps]


@pytest.mark.parametrize("threshold", CROSSED)
def test_the_plan_crosses_the_threshold_both_ways_and_touches_it(at: At, threshold: int) -> None:
    one = at(threshold)
    assert one.crossings >= 4
    sizes = {step.size for step in one.steps}
    assert max(sizes) > threshold
    if threshold in (1, 2, 3, 4):
        assert threshold in sizes


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_target_computes_one_row_per_request_without_a_draft(at: At, threshold: int) -> None:
    for step in at(threshold).steps:
        assert step.rows == step.size * (STRIDE if step.drafts else 1)
        assert step.hidden_rows == step.rows
        assert step.drafts or step.accepted == [1] * step.size


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_result_keeps_the_stride_of_the_scheduler(at: At, threshold: int) -> None:
    for step in at(threshold).steps:
        assert step.stride == STRIDE
        assert step.slots == step.size * STRIDE


@pytest.mark.parametrize("threshold", CROSSED)
def test_drafts_after_a_pause_are_as_good_as_without_one(at: At, acceptable: Pass, threshold: int) -> None:
    """A draft depends on its prefix alone, so at the same place of the same request as much is accepted."""
    expected = acceptable.accept_lengths()
    # The overlap schedule runs one more step for a request that is done: nothing to compare there.
    accepted = {place: length for place, length in at(threshold).accept_lengths().items() if place in expected}
    assert accepted == {place: expected[place] for place in accepted}
    assert len(at(threshold).resumed() & accepted.keys()) >= 2


def test_acceptance_is_neither_none_nor_all(at: At) -> None:
    accepted = set(at(0).accept_lengths().values())
    assert accepted == {1, 2, 3, 4}


@pytest.mark.parametrize("threshold", [1, 2, 3, 4, 5, 99])
def test_steps_are_counted(at: At, threshold: int) -> None:
    one = at(threshold)
    with_drafts = sum(step.drafts for step in one.steps)
    assert one.counters == [with_drafts, len(one.steps) - with_drafts]


def test_zero_leaves_the_worker_alone(at: At) -> None:
    assert at(0).counters is None


class TestGraphs:
    """The real CudaGraphRunner, with graph objects that run the captured closure again."""

    CASE = Case(thresholds=(2, 3, 5), graphs=(1, 2, 4, 8), token_dtype="int32")

    @pytest.mark.parametrize("threshold", CASE.thresholds)
    def test_tokens_are_those_without_speculation(self, drive: Drive, plain: Pass, threshold: int) -> None:
        assert drive(self.CASE).at(threshold).outputs == plain.outputs

    @pytest.mark.parametrize("threshold", CASE.thresholds)
    def test_every_step_runs_in_a_graph_and_drafts_when_small(self, drive: Drive, threshold: int) -> None:
        one = drive(self.CASE).at(threshold)
        assert all(step.graph for step in one.steps)
        assert [step.drafts for step in one.steps] == [int(one.speculates(step)) for step in one.steps]

    def test_narrow_graphs_are_captured_only_above_the_threshold(self, drive: Drive) -> None:
        assert drive(self.CASE).runners == [[4, [1, 2, 4, 8]], [1, [4, 8]], [1, [4, 8]], [1, [8]]]

    def test_a_batch_without_a_draft_replays_a_narrow_graph(self, drive: Drive) -> None:
        replays = {tuple(replay) for replay in drive(self.CASE).replays}
        assert {(4, 4), (8, 8)} <= replays  # (size, rows): one row per request
        assert {(1, 4), (2, 8)} <= replays  # four rows per request

    def test_startup_names_the_captured_sizes(self, drive: Drive) -> None:
        assert any("CUDA graphs for [4, 8]" in line for line in drive(self.CASE).log)


def test_standalone_worker_speculates_always_and_says_so(drive: Drive, plain: Pass) -> None:
    """It inherits the step but not the constructor."""
    result = drive(Case(thresholds=(2,), algorithm="STANDALONE"))
    assert result.worker == "StandaloneWorkerV2"
    assert result.passes[0].outputs == plain.outputs
    assert all(step.drafts == 1 for step in result.passes[0].steps)
    assert any("has no effect" in line and "STANDALONE" in line for line in result.log)

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a threshold makes sense."""

from __future__ import annotations

import typing as t

import pytest
from ansible_collections.inferops.blackwell.plugins.module_utils._preflight.findings import Findings
from ansible_collections.inferops.blackwell.plugins.module_utils._preflight.threshold import (
    check_effect,
    check_value,
    whole_number,
)

EAGLE = {"speculative-algorithm": "EAGLE3", "speculative-eagle-topk": 1}
V2 = {"SGLANG_ENABLE_SPEC_V2": "1"}


def effect(
    threshold: int,
    arguments: dict[str, t.Any],
    environment: dict[str, t.Any] | None = None,
    version: str = "0.5.9",
) -> tuple[list[str], list[str]]:
    findings = Findings()
    check_effect(threshold, arguments, V2 if environment is None else environment, version, findings)
    return [found.what for found in findings.problems], [found.what for found in findings.warnings]


@pytest.mark.parametrize(("value", "number"), [(0, 0), (8, 8), ("8", 8), (" 8 ", 8), ("0", 0)])
def test_whole_numbers_also_as_strings_are_taken(value: t.Any, number: int) -> None:
    assert whole_number(value) == number


@pytest.mark.parametrize("value", [-1, "-1", "eight", "", None, True, False, 8.0, "8.0", [8], {}, "8e1", "٣"])
def test_everything_else_is_one_problem_that_shows_the_value(value: t.Any) -> None:
    findings = Findings()
    assert check_value(value, findings) is None
    (problem,) = findings.problems
    assert problem.where == "threshold_patch_batch_threshold"
    assert "must be a whole number >= 0" in problem.what
    assert repr(value) in problem.what


def test_64_can_never_fire_while_sglang_sets_its_own_limit_of_48() -> None:
    problems, warnings = effect(64, EAGLE)
    assert problems == []
    assert len(warnings) == 1
    assert "64 can never fire" in warnings[0]
    assert "48" in warnings[0]


@pytest.mark.parametrize("threshold", [0, 1, 8, 47])
def test_below_the_own_limit_there_is_nothing_to_say(threshold: int) -> None:
    assert effect(threshold, EAGLE) == ([], [])


def test_48_itself_never_fires() -> None:
    assert "48 can never fire" in effect(48, EAGLE)[1][0]


@pytest.mark.parametrize("name", ["max-running-requests", "max_running_requests", "--max-running-requests"])
def test_with_a_limit_of_the_user_above_it_64_can_fire(name: str) -> None:
    assert effect(64, {**EAGLE, name: 65}) == ([], [])


@pytest.mark.parametrize("limit", [64, "64", 8])
def test_a_limit_of_the_user_at_or_below_the_threshold_warns(limit: t.Any) -> None:
    (warning,) = effect(64, {**EAGLE, "max-running-requests": limit})[1]
    assert f"max-running-requests is {limit}" in warning


@pytest.mark.parametrize("off", [{}, {"speculative-algorithm": None}, {"speculative_algorithm": False}])
def test_without_speculation_no_threshold_is_worth_a_word(off: dict[str, t.Any]) -> None:
    assert effect(64, {**off, "enable-dp-attention": True, "speculative-eagle-topk": 4}, {}) == ([], [])


@pytest.mark.parametrize("name", ["speculative-algorithm", "speculative_algorithm", "--speculative-algorithm"])
def test_speculation_is_seen_in_every_spelling(name: str) -> None:
    assert effect(64, {name: "EAGLE3", "speculative_eagle_topk": 1})[1] != []


@pytest.mark.parametrize("topk", [None, 4, "4", "many"])
def test_top_k_other_than_one_is_a_problem(topk: t.Any) -> None:
    (problem,) = effect(8, {**EAGLE, "speculative-eagle-topk": topk})[0]
    assert "top-k 1 only" in problem


@pytest.mark.parametrize("option", ["enable-dp-attention", "enable_two_batch_overlap", "enable-pdmux"])
def test_what_the_patched_server_refuses_is_a_problem(option: str) -> None:
    assert len(effect(8, {**EAGLE, option: True})[0]) == 1
    assert effect(8, {**EAGLE, option: False})[0] == []


def test_another_algorithm_knows_no_threshold() -> None:
    (warning,) = effect(8, {"speculative-algorithm": "NGRAM"})[1]
    assert "NGRAM" in warning


@pytest.mark.parametrize(
    ("version", "environment", "warned"),
    [
        ("0.5.9", {}, False),  # the launch sets it
        ("0.5.9", {"SGLANG_ENABLE_SPEC_V2": "0"}, True),
        ("0.5.9", {"SGLANG_ENABLE_SPEC_V2": "1"}, False),
        ("0.5.9", {"SGLANG_ENABLE_SPEC_V2": True}, False),
        ("0.5.11", {}, False),
        ("0.5.13.post1", {"SGLANG_ENABLE_SPEC_V2": "false"}, True),
        ("0.5.14", {"SGLANG_ENABLE_SPEC_V2": "0"}, False),
        ("0.5.23", {}, False),
    ],
)
def test_spec_v2_must_be_on_where_it_can_be_off(version: str, environment: dict[str, t.Any], warned: bool) -> None:
    warnings = effect(8, EAGLE, environment, version)[1]
    assert bool(warnings) == warned


def test_a_schedule_without_overlap_warns() -> None:
    (warning,) = effect(8, {**EAGLE, "disable_overlap_schedule": True})[1]
    assert "overlap" in warning

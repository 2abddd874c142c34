# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a server refuses, or warns of, before it loads a model; and how often it logs later."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cases import harness
from environment import Environment

SPECULATION = [
    *("--speculative-algorithm", "EAGLE3", "--speculative-draft-model-path", "MODELS/draft"),
    *("--speculative-num-steps", "3", "--speculative-num-draft-tokens", "4", "--speculative-eagle-topk"),
]
FLAG = "--speculative-disable-batch-threshold"
EIGHT = [*SPECULATION, "1", FLAG, "8"]


def case(*arguments: str, spec_v2: bool = True, **attributes: Any) -> dict[str, Any]:
    return {"arguments": list(arguments), "spec_v2": spec_v2, "set": attributes}


REFUSED = {
    "negative": (case(FLAG, "-1"), "it must be 0 (always speculate) or a batch size"),
    "negative with speculation": (case(*SPECULATION, "1", FLAG, "-1"), "it must be 0"),
    "top-k": (case(*SPECULATION, "2", FLAG, "8", spec_v2=False), "needs --speculative-eagle-topk 1, not 2"),
    "DP attention": (case(*EIGHT, enable_dp_attention=True), "--enable-dp-attention"),
    "two-batch overlap": (
        case(*EIGHT, enable_two_batch_overlap=True, moe_a2a_backend="deepep"),
        "--enable-two-batch-overlap",
    ),
    "PD multiplexing": (
        case(*EIGHT, enable_pdmux=True, chunked_prefill_size=-1, disable_overlap_schedule=True),
        "--enable-pdmux",
    ),
    "adaptive": (case(*EIGHT, speculative_adaptive=True), "--speculative-adaptive"),
}
WARNED = {
    "no speculation": (case(FLAG, "8"), "has no effect: the speculative algorithm is not set"),
    "NGRAM": (case(FLAG, "8", speculative_algorithm="NGRAM"), "has no effect: the speculative algorithm is NGRAM"),
    "spec V2 off": (case(*EIGHT, spec_v2=False), "spec V2 is off. Set SGLANG_ENABLE_SPEC_V2=1"),
    "multi-layer": (case(*EIGHT, enable_multi_layer_eagle=True), "no effect with --enable-multi-layer-eagle"),
    "above SGLang's own limit": (case(*SPECULATION, "1", FLAG, "64"), "never fires: at most 48 requests run"),
    "at the limit": (case(*EIGHT, "--max-running-requests", "8"), "never fires: at most 8 requests run"),
}
SILENT = {
    "default": case(),
    "default with speculation": case(*SPECULATION, "1"),
    "default with top-k": case(*SPECULATION, "2", spec_v2=False),
    "below the limit": case(*EIGHT, "--max-running-requests", "9"),
}
NOT_A_NUMBER = case(FLAG, "eight")
# Seconds and batch sizes, at threshold 2.
CHANGES = [(0.0, 1), (1.0, 3), (1.1, 1), (1.2, 3), (2.0, 3), (3.0, 1), (5.9, 1), (6.1, 1), (30.0, 1), (30.1, 5)]


@pytest.fixture(scope="module")
def said(environment: Environment, tree: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    directory = tmp_path_factory.mktemp("start")
    given, taken = directory / "cases.json", directory / "result.json"
    cases = {name: one for name, (one, _) in {**REFUSED, **WARNED}.items()} | SILENT | {"eight": NOT_A_NUMBER}
    given.write_text(json.dumps({"cases": cases, "changes": CHANGES}))
    harness(environment, tree, "check_start.py", environment.models, given, taken)
    result: dict[str, Any] = json.loads(taken.read_text())
    return result


@pytest.mark.parametrize("name", REFUSED)
def test_start_is_refused_with_the_option_that_is_in_the_way(said: dict[str, Any], name: str) -> None:
    kind, message = said["cases"][name]["error"]
    assert (kind, FLAG in message, REFUSED[name][1] in message) == ("ValueError", True, True), message


@pytest.mark.parametrize("name", WARNED)
def test_a_threshold_without_effect_is_told(said: dict[str, Any], name: str) -> None:
    assert said["cases"][name]["error"] is None
    (line,) = said["cases"][name]["log"]
    assert line.startswith(f"WARNING: {FLAG} ")
    assert WARNED[name][1] in line


@pytest.mark.parametrize("name", SILENT)
def test_a_good_command_line_is_silent(said: dict[str, Any], name: str) -> None:
    assert said["cases"][name] == {"error": None, "log": []}


def test_a_word_is_refused_by_the_parser(said: dict[str, Any]) -> None:
    kind, message = said["cases"]["eight"]["error"]
    assert kind == "SystemExit"
    assert f"argument {FLAG}: invalid int value: 'eight'" in message


def test_the_worker_refuses_too(said: dict[str, Any]) -> None:
    assert said["worker"] == ["ValueError", f"{FLAG} needs --speculative-eagle-topk 1, not 4."]


def test_changes_of_mode_are_logged_at_most_every_few_seconds(said: dict[str, Any]) -> None:
    first, second, third = said["changes"]
    assert "Batch of 3, threshold 2: speculation pauses (1 changes" in first
    assert "steps so far: 1 with, 1 without" in first
    # Five seconds after the first line, what has happened since is told once.
    assert "Batch of 1, threshold 2: speculation resumes (3 changes" in second
    assert "Batch of 5, threshold 2: speculation pauses (1 changes" in third

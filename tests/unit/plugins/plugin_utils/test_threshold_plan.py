# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from ansible.errors import AnsibleError
from ansible_collections.inferops.blackwell.plugins.plugin_utils import threshold_plan
from ansible_collections.inferops.blackwell.plugins.plugin_utils.threshold_plan import make_plan

SHAPE = "recipes/model_worker_batch"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A copy of the role's data that a test may change."""
    return Path(shutil.copytree(threshold_plan.FILES, tmp_path / "files"))


def edit(path: Path, before: str, after: str) -> None:
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after))


@pytest.mark.parametrize(
    ("version", "mechanism"),
    [
        ("0.4.10", "refused"),
        ("0.5.3", "refused"),
        ("0.5.3.post3", "refused"),
        ("0.5.9", "patch"),
        ("0.5.9+vendor.1", "patch"),
        ("0.5.14", "native"),
        ("0.5.14.post1", "native"),
        ("0.5.23", "native"),
        ("1.0", "native"),
    ],
)
def test_the_version_decides_the_mechanism(version: str, mechanism: str) -> None:
    assert make_plan(version)["mechanism"] == mechanism


@pytest.mark.parametrize("version", ["0.5.4", "0.5.8", "0.5.9.post1", "0.5.10", "0.5.13.post1", "0.5.14rc0"])
def test_a_version_between_that_was_not_proven_is_refused_with_the_proven_ones(version: str) -> None:
    plan = make_plan(version, threshold=8)
    assert (plan["mechanism"], plan["digest"], plan["recipes"]) == ("refused", "pristine", [])
    assert plan["reason"] == "no recipe has been proven on it (proven: 0.5.9)"
    assert (plan["settings"], plan["environment"]) == ([], {})


def test_an_old_version_is_refused_with_the_reason() -> None:
    assert "no spec V2 worker" in make_plan("0.5.3")["reason"]


@pytest.mark.parametrize("version", ["", "0.0.0.dev0", "0.5.10.dev3+gabcdef0", "main", "0.5.9-dirty-tree"])
def test_what_names_no_release_leaves_the_decision_to_the_structure(version: str) -> None:
    plan = make_plan(version)
    assert plan["mechanism"] == "patch"
    assert "the structure of the tree decides" in plan["reason"]
    assert plan["digest"] == make_plan("0.5.9")["digest"]
    assert [marker["path"] for marker in plan["native_markers"]] == [
        "sglang/srt/server_args.py",
        "sglang/srt/arg_groups/fields/spec.py",
    ]


def test_the_digest_is_twelve_hex_digits() -> None:
    assert re.fullmatch("[0-9a-f]{12}", make_plan("0.5.9")["digest"])


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        (f"{SHAPE}/batch_threshold.py", "LOG_INTERVAL_SECONDS = 5.0", "LOG_INTERVAL_SECONDS = 6.0"),
        (f"{SHAPE}/recipe.yml", "0 = always speculate", "0 = always"),
        (f"{SHAPE}/recipe.yml", "name: batch-threshold", "name: another"),
    ],
)
def test_the_digest_changes_with_what_is_inserted(files: Path, path: str, before: str, after: str) -> None:
    digest = make_plan("0.5.9", files=files)["digest"]
    edit(files / path, before, after)
    assert make_plan("0.5.9", files=files)["digest"] != digest


@pytest.mark.parametrize(
    ("before", "after"),
    [("# One recipe serves", "# Each recipe serves"), ('  - "0.5.9"', '  - "0.5.9"\n  - "0.5.10"')],
)
def test_the_digest_stays_where_the_same_is_inserted(files: Path, before: str, after: str) -> None:
    digest = make_plan("0.5.9", files=files)["digest"]
    edit(files / SHAPE / "recipe.yml", before, after)
    assert make_plan("0.5.9", files=files)["digest"] == digest


@pytest.mark.parametrize(
    "plan", [make_plan("0.5.9", state="absent"), make_plan("0.5.14"), make_plan("0.5.3"), make_plan("", state="absent")]
)
def test_where_nothing_is_inserted_the_digest_is_pristine(plan: dict[str, object]) -> None:
    assert plan["digest"] == "pristine"


def test_one_recipe_serves_every_version_it_was_proven_on(files: Path) -> None:
    edit(files / SHAPE / "recipe.yml", '  - "0.5.9"', '  - "0.5.9"\n  - "0.5.10"')
    plan = make_plan("0.5.10", files=files)
    assert [recipe["shape"] for recipe in plan["recipes"]] == ["model_worker_batch"]


def test_another_shape_is_chosen_by_its_version(files: Path) -> None:
    shutil.copytree(files / SHAPE, files / "recipes" / "another")
    edit(files / "recipes/another/recipe.yml", '"0.5.9"', '"0.5.12"')
    assert [r["shape"] for r in make_plan("0.5.12", files=files)["recipes"]] == ["another"]
    assert [r["shape"] for r in make_plan("0.5.9", files=files)["recipes"]] == ["model_worker_batch"]
    assert len(make_plan("", files=files)["recipes"]) == 2


def test_the_flag_on_native_versions_needs_a_proven_recipe(files: Path) -> None:
    plan = make_plan("0.5.14", native_flag=True)
    assert plan["mechanism"] == "refused"
    assert "threshold_patch_native_flag" in plan["reason"]
    edit(files / SHAPE / "recipe.yml", '"0.5.9"', '"0.5.14"')
    plan = make_plan("0.5.14", native_flag=True, files=files)
    assert (plan["mechanism"], len(plan["recipes"])) == ("native", 1)
    assert plan["digest"] != "pristine"


def test_native_tiers_stop_drafting_above_the_threshold() -> None:
    lines = make_plan("0.5.23", threshold="8", steps=5)["settings"]
    (config,) = [line for line in lines if line.startswith("--speculative-adaptive-config")]
    tiers = json.loads(config[config.index("{") :])
    assert tiers == {"1": {"candidate_steps": [5]}, "9": {"candidate_steps": [0]}}
    assert "--speculative-num-steps 5" in lines
    assert any(line.startswith("8 among the decode CUDA graph batch sizes") for line in lines)


def test_the_patch_needs_spec_v2() -> None:
    plan = make_plan("0.5.9", threshold=8)
    assert plan["environment"] == {"SGLANG_ENABLE_SPEC_V2": "1"}
    assert "--speculative-disable-batch-threshold 8" in plan["settings"]


@pytest.mark.parametrize("threshold", [0, "0", -1, "eight", None, ""])
def test_no_settings_for_a_threshold_that_limits_nothing(threshold: object) -> None:
    plan = make_plan("0.5.9", threshold=threshold)
    assert (plan["settings"], plan["environment"], plan["mechanism"]) == ([], {}, "patch")


def test_recipes_are_what_python_patch_takes() -> None:
    (recipe,) = make_plan("0.5.9")["recipes"]
    assert all(file.keys() <= {"path", "content", "edits", "expect"} for file in recipe["files"])
    content = {file["path"]: file.get("content") for file in recipe["files"]}
    assert "class BatchThreshold" in content["sglang/srt/speculative/batch_threshold.py"]


def test_a_collection_without_recipes_says_so(tmp_path: Path) -> None:
    with pytest.raises(AnsibleError, match="no patch recipe below"):
        threshold_plan.load_recipes(tmp_path)


def test_ranges_without_an_end_say_so(files: Path) -> None:
    (files / "mechanisms.yml").write_text('- {before: "0.5.4", mechanism: refused}\n')
    with pytest.raises(AnsibleError, match=r"no entry for SGLang 0\.5\.9"):
        threshold_plan.mechanism_for(threshold_plan.Version("0.5.9"), threshold_plan.load_mechanisms(files))

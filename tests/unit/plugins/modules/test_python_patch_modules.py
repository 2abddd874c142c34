# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""python_patch, python_patch_info and python_source_info through their options."""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest
import yaml
from ansible_collections.inferops.blackwell.plugins.modules import (
    python_patch,
    python_patch_info,
    python_source_info,
)
from module_tools import run

FILES = [
    {
        "path": "a.py",
        "edits": [{"in": "f", "at": "start", "insert": "x = 1"}],
        "expect": [{"in": "f", "pattern": "x = 1"}],
    },
    {"path": "b.py", "content": "B = 1\n"},
]


@pytest.fixture
def tree(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "root").mkdir()
    (tmp_path / "root/a.py").write_text("def f():\n    return 1\n")
    return {"root": str(tmp_path / "root"), "store": str(tmp_path / "store")}


def patch(tree: dict[str, str], **more: t.Any) -> t.Any:
    return run(python_patch, **{"name": "set", **tree, **more})


def test_present_then_absent(tree: dict[str, str]) -> None:
    result = patch(tree, files=FILES)
    assert (result["rc"], result["changed"], result["status"]) == (0, True, "applied")
    assert set(result["files"][0]) == {"path", "status", "sha256_before", "sha256_after", "backup", "edits"}
    assert result["files"][0]["edits"] == [{"first_line": 2, "last_line": 2}]
    assert patch(tree, files=FILES)["changed"] is False
    result = patch(tree, state="absent")
    assert (result["changed"], result["status"]) == (True, "pristine")
    assert patch(tree, state="absent")["changed"] is False


def test_check_and_diff_mode_agree_with_the_real_run(tree: dict[str, str]) -> None:
    check = patch(tree, files=FILES, check=True, diff=True)
    assert not Path(tree["store"]).exists()
    real = patch(tree, files=FILES, diff=True)
    assert check == real
    assert [item["after_header"] for item in real["diff"]] == ["a.py", "b.py"]
    assert "diff" not in patch(tree, state="absent")


def test_nothing_of_a_no_log_recipe_is_in_the_diff(tree: dict[str, str]) -> None:
    assert "diff" not in patch(tree, files=FILES, diff=True, no_log=True)


def test_a_refusal_has_message_status_and_files(tree: dict[str, str]) -> None:
    patch(tree, files=FILES)
    Path(tree["root"], "a.py").write_text("def f(): return 2\n")
    result = patch(tree, files=FILES)
    assert (result["rc"], result["failed"], result["status"]) == (1, True, "drifted")
    assert result["msg"].startswith("a.py: the file has sha256")
    assert [file["status"] for file in result["files"]] == ["drifted", "applied"]


def test_present_needs_files(tree: dict[str, str]) -> None:
    assert patch(tree)["msg"] == "state is present but all of the following are missing: files"


def test_the_store_of_an_ordinary_user_lies_in_its_home(monkeypatch: pytest.MonkeyPatch) -> None:
    from ansible_collections.inferops.blackwell.plugins.module_utils._python_patch import options

    monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.setenv("HOME", "/home/me")
    assert options.default_store() == "/home/me/.local/state/inferops/patches"
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert options.default_store() == "/var/lib/inferops/patches"


def test_info(tree: dict[str, str]) -> None:
    assert run(python_patch_info, **tree)["patches"] == []
    patch(tree, files=FILES)
    result = run(python_patch_info, check=True, **tree)
    assert (result["changed"], result["patches"][0]["name"], result["patches"][0]["status"]) == (
        False,
        "set",
        "applied",
    )
    assert [item["name"] for item in run(python_patch_info, name="other", **tree)["patches"]] == ["other"]
    assert "is not a directory" in run(python_patch_info, root="/no/such", store=tree["store"])["msg"]


def test_source_info(tree: dict[str, str]) -> None:
    path = tree["root"] + "/a.py"
    queries = [{"pattern": "return ..."}, {"pattern": "return ...", "in": "f"}, {"pattern": "g(...)"}]
    assert run(python_source_info, path=path, queries=queries)["results"] == [
        {"pattern": "return ...", "in": None, "count": 1, "lines": [2]},
        {"pattern": "return ...", "in": "f", "count": 1, "lines": [2]},
        {"pattern": "g(...)", "in": None, "count": 0, "lines": []},
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"path": "/no/such.py", "queries": [{"pattern": "x"}]}, "cannot read /no/such.py: No such file or directory"),
        ({"queries": [{"pattern": "..."}]}, "{path}: query 1: the pattern is only `...` and would match everything"),
        ({"queries": [{"pattern": "x", "in": "g"}]}, "{path}: query 1: there is no scope g in this file"),
    ],
)
def test_source_info_refusals(tree: dict[str, str], options: dict[str, t.Any], message: str) -> None:
    path = tree["root"] + "/a.py"
    result = run(python_source_info, **{"path": path, **options})
    assert result["msg"] == message.replace("{path}", path)


@pytest.mark.parametrize("module", [python_patch, python_patch_info, python_source_info])
def test_every_option_is_documented_as_it_is(module: t.Any, monkeypatch: pytest.MonkeyPatch) -> None:
    caught: dict[str, t.Any] = {}

    class StopError(Exception):
        pass

    def catch(**arguments: t.Any) -> None:
        caught.update(arguments)
        raise StopError

    monkeypatch.setattr(module, "AnsibleModule", catch)
    with pytest.raises(StopError):
        module.main()
    compare(caught["argument_spec"], yaml.safe_load(module.DOCUMENTATION)["options"])


def compare(spec: dict[str, t.Any], documented: dict[str, t.Any]) -> None:
    assert set(spec) == set(documented)
    for name, option in spec.items():
        for key in ("type", "elements", "choices", "default", "required"):
            assert option.get(key) == documented[name].get(key), (name, key)
        if "options" in option:
            compare(option["options"], documented[name]["suboptions"])

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options in, JSON out: the modules that prepare a host."""

from __future__ import annotations

import json
import typing as t
from pathlib import Path

import pytest
from ansible.module_utils.testing import patch_module_args
from ansible_collections.inferops.blackwell.plugins.modules import (
    apt_unpacked,
    cuda_home,
    model_info,
    preflight_info,
    tiny_model,
)

Call = t.Callable[..., dict[str, t.Any]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Call:
    def call(module: t.Any, **options: t.Any) -> dict[str, t.Any]:
        with patch_module_args({"_ansible_remote_tmp": str(tmp_path / "remote"), **options}), pytest.raises(SystemExit):
            module.main()
        return t.cast("dict[str, t.Any]", json.loads(capsys.readouterr().out))

    return call


def test_tiny_model_is_made_once(run: Call, tmp_path: Path) -> None:
    path = str(tmp_path / "models/tiny")
    first = run(tiny_model, path=path)
    assert first["changed"] is True
    assert (tmp_path / "models/tiny/model.safetensors").is_file()
    second = run(tiny_model, path=path)
    assert (second["changed"], second["files"]) == (False, first["files"])


def test_tiny_model_in_check_mode_writes_nothing_and_foresees_the_digests(run: Call, tmp_path: Path) -> None:
    path = str(tmp_path / "models/tiny")
    foreseen = run(tiny_model, path=path, seed=5, _ansible_check_mode=True, _ansible_diff=True)
    assert list(tmp_path.iterdir()) == []
    real = run(tiny_model, path=path, seed=5, _ansible_diff=True)
    assert foreseen["changed"] is True
    assert (foreseen["files"], foreseen["diff"]) == (real["files"], real["diff"])


def test_tiny_model_leaves_a_foreign_model_alone(run: Call, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    result = run(tiny_model, path=str(tmp_path))
    assert result["failed"]
    assert "it is left alone" in result["msg"]


def test_apt_unpacked_does_nothing_where_the_loader_finds_the_library(run: Call, tmp_path: Path) -> None:
    result = run(apt_unpacked, packages=["libc6"], dest=str(tmp_path / "x"), unless_library="libc.so.6")
    assert (result["changed"], result["files"]) == (False, [])


def test_apt_unpacked_says_where_it_looked(run: Call, tmp_path: Path) -> None:
    result = run(apt_unpacked, packages=["libcuda1"], dest=str(tmp_path / "x"), sources_root=str(tmp_path / "etc"))
    assert result["failed"]
    assert f"libcuda1 cannot be unpacked into {tmp_path}/x" in result["msg"]


def test_apt_unpacked_asks_nobody_when_all_is_there(run: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    marker = {"packages": [{"name": "libcuda1", "version": "1", "sha256": "0"}], "files": ["lib.so"]}
    (tmp_path / ".apt_unpacked.json").write_text(json.dumps(marker))
    (tmp_path / "lib.so").touch()
    monkeypatch.setenv("PATH", "/nowhere")
    result = run(apt_unpacked, packages=["libcuda1"], dest=str(tmp_path))
    assert (result["changed"], result["files"]) == (False, ["lib.so"])


def test_cuda_home_in_check_mode_tells_whether_there_is_one(run: Call, tmp_path: Path) -> None:
    options = {"path": str(tmp_path / "13"), "packages": str(tmp_path / "site"), "version": "13.0.2"}
    result = run(cuda_home, **options, _ansible_check_mode=True)
    assert (result["changed"], result["complete"]) == (True, False)
    nvcc = tmp_path / "site/nvidia/cu13/bin/nvcc"
    nvcc.parent.mkdir(parents=True)
    nvcc.touch()
    assert run(cuda_home, **options)["changed"] is True
    again = run(cuda_home, **options, _ansible_check_mode=True)
    assert (again["changed"], again["complete"]) == (False, True)


def test_cuda_home_without_a_compiler_is_a_message(run: Call, tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    result = run(cuda_home, path=str(tmp_path / "13"), packages=str(tmp_path / "site"), version="13.0.2")
    assert result["failed"]
    assert f"no CUDA_HOME was made in {tmp_path}/13" in result["msg"]


def test_model_info_reports_and_never_fails(run: Call, tmp_path: Path) -> None:
    result = run(model_info, path=str(tmp_path / "x"), user="root")
    assert (result["changed"], result["problems"]) == (False, ["it does not exist"])
    run(tiny_model, path=str(tmp_path / "tiny"))
    assert run(model_info, path=str(tmp_path / "tiny"), user="root")["architecture"] == "LlamaForCausalLM"


def test_preflight_info_reports_and_never_fails(run: Call, tmp_path: Path) -> None:
    settings = {
        "sglang_prefix": str(tmp_path / "x"),
        "threshold_patch_batch_threshold": "eight",
        "sglang_version": "0.5.9",
    }
    result = run(preflight_info, settings=settings)
    assert result["changed"] is False
    assert "threshold_patch_batch_threshold" in [found["where"] for found in result["problems"]]
    in_check_mode = run(preflight_info, settings=settings, _ansible_check_mode=True)
    assert in_check_mode["problems"] == result["problems"]
    assert set(in_check_mode["facts"]) == set(result["facts"])
    assert not (tmp_path / "x").exists()

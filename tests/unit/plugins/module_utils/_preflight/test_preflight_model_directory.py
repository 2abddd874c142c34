# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which directories are models that can be served."""

from __future__ import annotations

import getpass
import json
import os
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.inferops.blackwell.plugins.module_utils._preflight import access
from ansible_collections.inferops.blackwell.plugins.module_utils._preflight.model_directory import inspect

ME = getpass.getuser()


def safetensors(size: int = 16) -> bytes:
    header = json.dumps({"w": {"dtype": "F32", "shape": [size // 4], "data_offsets": [0, size]}}).encode()
    return struct.pack("<Q", len(header)) + header + b"\0" * size


def make_model(path: Path, shards: int = 1) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    (path / "config.json").write_text('{"architectures": ["LlamaForCausalLM"]}')
    (path / "tokenizer.json").write_text("{}")
    names = (
        ["model.safetensors"]
        if shards == 1
        else [f"model-{n:05d}-of-{shards:05d}.safetensors" for n in range(1, shards + 1)]
    )
    for name in names:
        (path / name).write_bytes(safetensors())
    if shards > 1:
        index = {"weight_map": {f"w{number}": name for number, name in enumerate(names)}}
        (path / "model.safetensors.index.json").write_text(json.dumps(index))
    return path


@pytest.fixture
def open_path() -> Iterator[Path]:
    """A directory that every account may enter; pytest's own are private."""
    with tempfile.TemporaryDirectory(prefix="model-") as folder:
        path = Path(folder)
        path.chmod(0o755)
        if access.accessible_to_others(path):
            pytest.skip(f"{path} is out of reach for other accounts on this machine")
        yield path


def problems(path: Path) -> list[str]:
    return inspect(path, ME).problems


@pytest.mark.parametrize("shards", [1, 3])
def test_a_complete_model_has_no_problem(tmp_path: Path, shards: int) -> None:
    model = inspect(make_model(tmp_path, shards), ME)
    assert model.problems == []
    assert model.architecture == "LlamaForCausalLM"
    assert len(model.weights) == shards
    assert model.bytes == shards * len(safetensors())


def test_nothing_there_is_one_problem(tmp_path: Path) -> None:
    assert problems(tmp_path / "x") == ["it does not exist"]


def test_a_file_is_no_model(tmp_path: Path) -> None:
    (tmp_path / "x").touch()
    assert problems(tmp_path / "x") == ["it is not a directory"]


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        ("config.json", "config.json is missing"),
        ("tokenizer.json", "no tokenizer"),
        ("model-00002-of-00003.safetensors", "model-00002-of-00003.safetensors is missing"),
    ],
)
def test_a_missing_part_is_named(tmp_path: Path, missing: str, said: str) -> None:
    (make_model(tmp_path, 3) / missing).unlink()
    (problem,) = problems(tmp_path)
    assert said in problem


def test_numbered_files_without_an_index_must_all_be_there(tmp_path: Path) -> None:
    make_model(tmp_path, 3)
    (tmp_path / "model.safetensors.index.json").unlink()
    (tmp_path / "model-00003-of-00003.safetensors").unlink()
    assert problems(tmp_path) == ["model-00003-of-00003.safetensors is missing"]


def test_all_that_is_missing_is_said_at_once(tmp_path: Path) -> None:
    assert len(problems(tmp_path)) == 3


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (safetensors()[:-1], "the download was cut off"),
        (safetensors() + b"x", "instead of"),
        (b"", "no safetensors file or was cut off"),
        (b"<html>not found</html>", "no safetensors file or was cut off"),
        (struct.pack("<Q", 2) + b"[]", "no readable safetensors header"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n", "Git LFS pointer"),
    ],
)
def test_damaged_weights_are_seen_without_reading_them(tmp_path: Path, content: bytes, said: str) -> None:
    (make_model(tmp_path) / "model.safetensors").write_bytes(content)
    (problem,) = problems(tmp_path)
    assert said in problem


@pytest.mark.parametrize("content", ["{", "[]", '{"weight_map": 3}'])
def test_an_unreadable_index_is_one_problem(tmp_path: Path, content: str) -> None:
    (make_model(tmp_path, 2) / "model.safetensors.index.json").write_text(content)
    (problem,) = problems(tmp_path)
    assert "cannot be read as an index" in problem


def test_an_unreadable_configuration_is_a_problem(tmp_path: Path) -> None:
    (make_model(tmp_path) / "config.json").write_text("{")
    (problem,) = problems(tmp_path)
    assert "config.json cannot be read" in problem


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can ask for another account")
@pytest.mark.parametrize("user", ["nobody", "does-not-exist-yet"])
def test_what_the_service_may_not_read_is_named_with_the_part_that_stops_it(open_path: Path, user: str) -> None:
    model = make_model(open_path / "model")
    assert inspect(model, user).problems == []
    (model / "model.safetensors").chmod(0o600)
    (problem,) = inspect(model, user).problems
    assert problem == f"{user} cannot read it: {model}/model.safetensors may not be read (mode 0600)"
    model.chmod(0o700)
    assert f"{model} may not be entered (mode 0700)" in inspect(model, user).problems[-1]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can ask for another account")
def test_a_link_out_of_reach_is_seen(open_path: Path) -> None:
    model = make_model(open_path / "model")
    secret = open_path / "secret"
    secret.mkdir(mode=0o700)
    (model / "model.safetensors").rename(secret / "blob")
    (model / "model.safetensors").symlink_to(secret / "blob")
    (problem,) = inspect(model, "does-not-exist-yet").problems
    assert f"{secret} may not be entered" in problem


def test_without_root_the_question_is_asked_for_this_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access.os, "geteuid", lambda: 1234)
    assert access.blocked([tmp_path], "somebody") == ""
    assert access.blocked([tmp_path / "x"], "somebody") == f"{tmp_path}/x: No such file or directory"

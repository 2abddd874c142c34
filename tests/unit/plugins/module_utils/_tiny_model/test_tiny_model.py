# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The small model: its bytes, its tokenizer, its directory."""

from __future__ import annotations

import hashlib
import json
import math
import re
import struct
from pathlib import Path

import pytest
from ansible_collections.inferops.blackwell.plugins.module_utils._preflight.model_directory import inspect
from ansible_collections.inferops.blackwell.plugins.module_utils._tiny_model import directory
from ansible_collections.inferops.blackwell.plugins.module_utils._tiny_model.directory import (
    MARKER,
    ForeignModelError,
    is_current,
    make,
    refuse_foreign,
    write,
)
from ansible_collections.inferops.blackwell.plugins.module_utils._tiny_model.model import CONFIG, tensor_shapes, weights
from ansible_collections.inferops.blackwell.plugins.module_utils._tiny_model.tokenizer import (
    SPECIAL,
    byte_alphabet,
    tokenizer_files,
)

# Whoever changes the bytes on purpose raises FORMAT and writes the new digest here.
DIGEST_OF_SEED_0 = "30f5b86a3da10a48e2ec5e3f724707e781c9d28da80b5d0b3b91993fd51e18cb"
DIGEST_OF_TOKENIZER = "35329722de5a5e4ffc8ff6aca436e66ea27c1ba34063a93443fdf5c7b8c13129"


def put(path: Path, seed: int = 0) -> None:
    write(path, *make(seed))


def header_of(content: bytes) -> tuple[dict[str, dict[str, list[int]]], bytes]:
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    header.pop("__metadata__")
    return header, content[8 + length :]


def test_the_same_seed_gives_the_same_bytes_everywhere() -> None:
    files = make(0)[1]["files"]
    assert files["model.safetensors"] == hashlib.sha256(weights(0)).hexdigest() == DIGEST_OF_SEED_0
    assert files["tokenizer.json"] == DIGEST_OF_TOKENIZER


def test_another_seed_gives_other_weights() -> None:
    assert weights(0) != weights(1)


def test_every_tensor_lies_where_its_header_says_without_gaps() -> None:
    header, body = header_of(weights(0))
    assert {name: tuple(entry["shape"]) for name, entry in header.items()} == tensor_shapes()
    end = 0
    for entry in header.values():
        start, stop = entry["data_offsets"]
        assert (start, stop - start) == (end, 4 * math.prod(entry["shape"]))
        end = stop
    assert end == len(body)


def test_norms_are_one_and_weights_are_spread_around_zero() -> None:
    header, body = header_of(weights(3))
    for name, entry in header.items():
        start, stop = entry["data_offsets"]
        values = struct.unpack(f"<{(stop - start) // 4}f", body[start:stop])
        if name.endswith("norm.weight"):
            assert set(values) == {1.0}
        else:
            assert all(-0.25 <= value < 0.25 for value in values)
            assert abs(sum(values) / len(values)) < 0.01


def encode(text: str, tokenizer: dict[str, object]) -> list[int]:
    """Byte-level BPE by the book, with the regular expression left out: one word."""
    model = tokenizer["model"]
    assert isinstance(model, dict)
    symbols = [byte_alphabet()[byte] for byte in text.encode()]
    for merge in model["merges"]:
        left, right = merge.split(" ")
        index = 0
        while index < len(symbols) - 1:
            if (symbols[index], symbols[index + 1]) == (left, right):
                symbols[index : index + 2] = [left + right]
            index += 1
    return [model["vocab"][symbol] for symbol in symbols]


def test_vocabulary_is_full_and_every_id_is_one_token() -> None:
    vocabulary = tokenizer_files(512, 4096)["tokenizer.json"]["model"]["vocab"]
    assert sorted(vocabulary.values()) == list(range(CONFIG["vocab_size"]))
    assert set(byte_alphabet().values()) <= set(vocabulary)
    assert len(byte_alphabet()) == 256
    assert [vocabulary[token] for token in SPECIAL] == [0, 1, 2]


@pytest.mark.parametrize("text", ["Hello", "Größe", "東京", "\x00\xff", "speculative"])
def test_every_text_can_be_encoded_and_comes_back(text: str) -> None:
    tokenizer = tokenizer_files(512, 4096)["tokenizer.json"]
    ids = encode(text, tokenizer)
    tokens = {number: token for token, number in tokenizer["model"]["vocab"].items()}
    bytes_of = {character: byte for byte, character in byte_alphabet().items()}
    assert bytes(bytes_of[character] for number in ids for character in tokens[number]).decode() == text
    assert len(encode("The quick", tokenizer)) < len("The quick")


def test_what_is_written_is_a_model_and_current(tmp_path: Path) -> None:
    path = tmp_path / "models/tiny"
    put(path)
    assert is_current(path, 0)
    assert not is_current(path, 1)
    assert inspect(path, "root").problems == []
    assert path.stat().st_mode & 0o777 == 0o755
    assert all(file.stat().st_mode & 0o777 == 0o644 for file in path.iterdir())


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json", MARKER])
def test_a_file_that_changed_or_is_gone_makes_it_stale(tmp_path: Path, name: str) -> None:
    path = tmp_path / "tiny"
    put(path)
    content = (path / name).read_bytes()
    (path / name).write_bytes(content.replace(b"0", b"1", 1))
    assert not is_current(path, 0)
    (path / name).unlink()
    assert not is_current(path, 0)


def test_a_newer_format_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "tiny")
    monkeypatch.setattr(directory, "FORMAT", directory.FORMAT + 1)
    assert not is_current(tmp_path / "tiny", 0)


def test_a_real_model_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ForeignModelError, match=re.escape(str(tmp_path))):
        refuse_foreign(tmp_path)


def test_a_failure_leaves_the_old_model_and_nothing_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "tiny"
    put(path)
    monkeypatch.setattr(directory.Path, "chmod", lambda self, mode: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        put(path, 1)
    assert is_current(path, 0)
    assert [entry.name for entry in tmp_path.iterdir()] == ["tiny"]


def test_what_a_killed_run_left_is_cleared_away(tmp_path: Path) -> None:
    (tmp_path / ".tiny.new-x").mkdir()
    put(tmp_path / "tiny")
    assert [entry.name for entry in tmp_path.iterdir()] == ["tiny"]

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Is a directory a model that can be served? Headers are read, weights are not."""

from __future__ import annotations

import json
import re
import struct
import typing as t
from pathlib import Path

from ansible_collections.inferops.blackwell.plugins.module_utils._preflight.access import blocked

_SHARD = re.compile(r"^(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})(?P<suffix>\.\w+)$")
# Any of these is a tokenizer that transformers reads.
TOKENIZERS = ("tokenizer.json", "tokenizer.model", "tiktoken.model", "vocab.json", "tekken.json")
_POINTER = b"version https://git-lfs"


class Model(t.NamedTuple):
    """What was found, and every complaint."""

    architecture: str
    bytes: int
    weights: list[str]
    problems: list[str]


def _json(path: Path) -> t.Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path.name} is no JSON: {error}") from error


def complaint_about(path: Path) -> str:
    """A weight file that is missing, a Git LFS pointer, empty, or shorter than its header says."""
    if not path.is_file():
        return f"{path.name} is missing"
    size = path.stat().st_size
    with open(path, "rb") as file:
        start = file.read(len(_POINTER))
        if start == _POINTER:
            return f"{path.name} is a Git LFS pointer, not the weights (run: git lfs pull)"
        if path.suffix != ".safetensors":
            return "" if size else f"{path.name} is empty"
        file.seek(0)
        raw = file.read(8)
        length = struct.unpack("<Q", raw)[0] if len(raw) == 8 else 0
        if not 2 <= length <= size - 8:
            return f"{path.name} is no safetensors file or was cut off ({size} bytes)"
        try:
            header = json.loads(file.read(length))
            end = max((entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__"), default=0)
        except (ValueError, KeyError, TypeError, AttributeError):
            return f"{path.name} has no readable safetensors header"
    expected = 8 + length + end
    return "" if size == expected else f"{path.name} has {size} bytes instead of {expected}: the download was cut off"


def weight_files(path: Path, problems: list[str]) -> list[str]:
    """Names of the files that hold the weights: what the index lists, or what numbered names promise."""
    for index in sorted(path.glob("*.index.json")):
        try:
            content = _json(index)
            return sorted(set(content["weight_map"].values()))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            problems.append(f"{index.name} cannot be read as an index of weights: {error}")
            return []
    for suffix in (".safetensors", ".bin", ".gguf"):
        names = sorted(entry.name for entry in path.glob(f"*{suffix}"))
        expected = set(names)
        for match in filter(None, map(_SHARD.match, names)):
            count = int(match["count"])
            expected |= {
                f"{match['stem']}-{number:05d}-of-{count:05d}{match['suffix']}" for number in range(1, count + 1)
            }
        if names:
            return sorted(expected)
    return []


def inspect(path: Path, user: str, tokenizer: bool = True) -> Model:
    """Everything that would keep a server of `user` from loading the model in `path`.

    `tokenizer`: whether it must have one of its own; a draft model uses that of its target.
    """
    if not path.is_dir():
        return Model("", 0, [], ["it does not exist" if not path.exists() else "it is not a directory"])
    problems: list[str] = []
    architecture = ""
    config = path / "config.json"
    if config.is_file():
        try:
            content = _json(config)
            architecture = str((content.get("architectures") or [content.get("model_type", "")])[0])
        except (ValueError, AttributeError, OSError) as error:
            problems.append(f"config.json cannot be read: {error}")
    else:
        problems.append("config.json is missing")
    if tokenizer and not any((path / name).is_file() for name in TOKENIZERS):
        problems.append(f"no tokenizer ({', '.join(TOKENIZERS)})")
    names = weight_files(path, problems)
    if not names and not any("index" in problem for problem in problems):
        problems.append("no weights (*.safetensors, *.bin or *.gguf)")
    problems += list(filter(None, (complaint_about(path / name) for name in names)))
    present = [path / name for name in names if (path / name).is_file()]
    wanted = [path, *(file for file in (config, *(path / name for name in TOKENIZERS)) if file.is_file()), *present]
    # What a link leads to must be reachable as well (a download cache keeps links to its blobs).
    why = blocked([place for file in wanted for place in (file.absolute(), file.resolve())], user)
    if why:
        problems.append(f"{user} cannot read it: {why}")
    return Model(architecture, sum(file.stat().st_size for file in present), names, problems)

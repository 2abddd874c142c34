# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""NVIDIA GPUs as the driver sees them."""

from __future__ import annotations

import shutil
import subprocess
import typing as t

# Never the banner of nvidia-smi: its wording changed with driver 610.
FIELDS = ("index", "name", "uuid", "pci.bus_id", "memory.total", "driver_version", "compute_cap")


class Driver(t.NamedTuple):
    """`error` says why there are no GPUs; empty when the driver answered."""

    version: str
    gpus: list[dict[str, t.Any]]
    error: str


def parse(text: str) -> list[dict[str, t.Any]]:
    """Lines of `nvidia-smi --query-gpu --format=csv,noheader,nounits`; memory in MiB becomes bytes."""
    gpus = []
    for line in text.splitlines():
        values = [value.strip() for value in line.split(",")]
        if len(values) != len(FIELDS):
            continue
        index, name, uuid, address, memory, _, capability = values
        gpus.append(
            {
                "index": int(index),
                "model": name,
                "uuid": uuid,
                "address": address.lower(),
                "memory_bytes": int(memory) * 1024**2 if memory.isdigit() else None,
                "compute_capability": capability,
            }
        )
    return gpus


def ask_driver() -> Driver:
    program = shutil.which("nvidia-smi")
    if not program:
        return Driver("", [], "nvidia-smi is not in PATH")
    try:
        done = subprocess.run(
            [program, f"--query-gpu={','.join(FIELDS)}", "--format=csv,noheader,nounits"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Driver("", [], f"nvidia-smi does not answer: {error}")
    gpus = parse(done.stdout)
    if done.returncode or not gpus:
        said = " ".join((done.stderr or done.stdout).split()) or "no GPU"
        return Driver("", [], f"nvidia-smi ended with {done.returncode}: {said}")
    return Driver(done.stdout.splitlines()[0].split(",")[5].strip(), gpus, "")

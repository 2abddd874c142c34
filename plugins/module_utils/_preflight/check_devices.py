# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""CUDA, the driver and libcuda."""

from __future__ import annotations

import os
from pathlib import Path

from ansible_collections.inferops.blackwell.plugins.module_utils._loader import library_below, loader_finds
from ansible_collections.inferops.blackwell.plugins.module_utils._preflight import devices, values
from ansible_collections.inferops.blackwell.plugins.module_utils._preflight.context import Context
from ansible_collections.inferops.blackwell.plugins.module_utils._preflight.versions import (
    CUDA_WHEELS_SINCE,
    DRIVER_FOR_BLACKWELL,
    DRIVER_FOR_CUDA,
    numbers,
)


def check_cuda(context: Context) -> None:
    method, version = context.text("cuda_method"), context.text("cuda_version")
    if method == "wheel" and numbers(version) and numbers(version) < numbers(CUDA_WHEELS_SINCE):
        context.findings.problem(
            f"is {version}, and the package index has nvcc only from {CUDA_WHEELS_SINCE} on",
            "cuda_version",
            "Use a newer toolkit, or install this one and set cuda_method to existing",
        )
    if method == "existing":
        home = context.text("cuda_home") or "/usr/local/cuda"
        if ":" not in home and not os.access(Path(home) / "bin/nvcc", os.X_OK):
            context.findings.problem(
                f"{home}/bin/nvcc does not exist", "cuda_home", "Give the directory of a CUDA toolkit, or use wheel"
            )
    major = numbers(version)[:1]
    if context.text("sglang_device") == "cuda" and method == "wheel" and major and major[0] != context.needs.cuda_major:
        context.findings.warning(
            f"is {version}, but the torch of SGLang {context.text('sglang_version')} is built for "
            f"CUDA {context.needs.cuda_major}: kernels compiled at run time may not load beside it",
            "cuda_version",
            f"Use a CUDA {context.needs.cuda_major} toolkit (cuda_method: existing), or a SGLang for this one",
        )


def check_device(context: Context) -> None:
    context.facts.update(gpus=[], driver="", libcuda="")
    device = context.text("sglang_device")
    if device == "cpu":
        context.facts["libcuda"] = _libcuda(context)
    elif device == "cuda":
        _check_driver(context)


def _libcuda(context: Context) -> str:
    """`loader`, a directory below the prefix, or empty: role preflight then asks apt."""
    if loader_finds("libcuda.so.1"):
        return "loader"
    return library_below(context.prefix / "lib/libcuda", "libcuda.so.1")


def _check_driver(context: Context) -> None:
    driver = devices.ask_driver()
    context.facts.update(gpus=driver.gpus, driver=driver.version)
    if driver.error:
        context.findings.problem(
            f"no NVIDIA driver answers: {driver.error}",
            "sglang_device",
            "Install the driver (open kernel module) and reboot, or set sglang_device to cpu",
        )
        return
    wanted = values.capabilities(context.settings.get("cuda_compute_capabilities")) or []
    for gpu in driver.gpus:
        if wanted and gpu["compute_capability"] not in wanted:
            context.findings.problem(
                f"GPU {gpu['index']} ({gpu['model']}) has {gpu['compute_capability']}, wanted is {wanted}",
                "cuda_compute_capabilities",
                f"Set it to {sorted({gpu['compute_capability'] for gpu in driver.gpus})}",
            )
            break
    major = numbers(context.text("cuda_version"))[:1] if context.text("cuda_method") == "wheel" else ()
    floors = {DRIVER_FOR_CUDA.get(number, "") for number in (*major, context.needs.cuda_major)} - {""}
    if any(numbers(gpu["compute_capability"]) >= (10,) for gpu in driver.gpus):
        floors.add(DRIVER_FOR_BLACKWELL)
    floor = max(floors, key=numbers, default="")
    if numbers(driver.version) < numbers(floor):
        context.findings.problem(
            f"is {driver.version}, {floor} or newer is needed by the CUDA and the GPUs here",
            "NVIDIA driver",
            "Upgrade the driver",
        )

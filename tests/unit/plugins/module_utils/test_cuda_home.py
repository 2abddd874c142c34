# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One CUDA_HOME out of wheels."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.inferops.blackwell.plugins.module_utils._cuda_home import (
    MARKER,
    ToolkitError,
    assemble,
    read_marker,
)


def add(path: Path, text: str = "x", mode: int = 0o644) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """CUDA 13: all wheels share one directory."""
    site = tmp_path / "cuda/.13.0.2.building/site"
    add(site / "nvidia/cu13/bin/nvcc", "#!/bin/sh\n", 0o644)
    add(site / "nvidia/cu13/include/cuda.h")
    add(site / "nvidia/cu13/nvvm/bin/cicc", mode=0o755)
    add(site / "nvidia/cu13/lib/libcudart.so.13")
    add(site / "nvidia/cu13/lib/libcudadevrt.a")
    add(site / "nvidia_cuda_nvcc-13.0.88.dist-info/LICENSE")
    add(site / "cuda_toolkit-13.0.2.dist-info/METADATA")
    return site


def test_compilers_find_what_they_look_for(site: Path, tmp_path: Path) -> None:
    home = tmp_path / "cuda/13.0.2"
    marker = assemble(site, home, "13.0.2")
    assert (home / "bin/nvcc").stat().st_mode & 0o111
    assert not (home / "bin/nvcc").is_symlink()
    assert (home / "nvvm/bin/cicc").is_file()
    assert (home / "include/cuda.h").is_file()
    assert (home / "lib64/libcudart.so").resolve() == home / "lib/libcudart.so.13"
    assert (home / "share/doc/nvidia_cuda_nvcc-13.0.88.dist-info/LICENSE").is_file()
    assert marker == {"version": "13.0.2", "packages": {"cuda-toolkit": "13.0.2", "nvidia-cuda-nvcc": "13.0.88"}}
    assert read_marker(home) == marker


def test_wheels_with_a_directory_each_are_merged(tmp_path: Path) -> None:
    site = tmp_path / "b/site"
    add(site / "nvidia/cuda_nvcc/bin/nvcc")
    add(site / "nvidia/cuda_nvcc/include/crt/host.h")
    add(site / "nvidia/cuda_runtime/include/cuda_runtime.h")
    add(site / "nvidia/cuda_runtime/lib/libcudart.so.12")
    add(site / "nvidia/__init__.py")
    home = tmp_path / "home"
    assemble(site, home, "12.9")
    assert (home / "include/crt/host.h").is_file()
    assert (home / "include/cuda_runtime.h").is_file()
    assert (home / "lib64/libcudart.so").exists()


def test_wheels_without_a_compiler_are_named_and_nothing_appears(tmp_path: Path) -> None:
    site = tmp_path / "b/site"
    add(site / "nvidia/cuda_nvcc/bin/ptxas")
    (site / "nvidia_cuda_nvcc_cu12-12.8.93.dist-info").mkdir()
    with pytest.raises(ToolkitError, match=r"no bin/nvcc: nvidia-cuda-nvcc-cu12 12\.8\.93"):
        assemble(site, tmp_path / "home", "12.8.1")
    assert not (tmp_path / "home").exists()


def test_an_incomplete_home_is_replaced(site: Path, tmp_path: Path) -> None:
    home = tmp_path / "cuda/13.0.2"
    add(home / "bin/half")
    assemble(site, home, "13.0.2")
    assert not (home / "bin/half").exists()
    assert read_marker(home)


@pytest.mark.parametrize("gone", ["bin/nvcc", MARKER])
def test_without_marker_or_compiler_it_is_not_complete(site: Path, tmp_path: Path, gone: str) -> None:
    home = tmp_path / "cuda/13.0.2"
    assemble(site, home, "13.0.2")
    (home / gone).unlink()
    assert read_marker(home) == {}

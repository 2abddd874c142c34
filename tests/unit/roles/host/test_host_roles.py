# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The roles that come before SGLang, run on this machine, with a toolkit that only looks like one. No network."""

from __future__ import annotations

import getpass
import json
import os
import re
import subprocess
import sys
import typing as t
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[4]
# A compiler that knows sm_120 and counts how often it compiles.
NVCC = """\
#!/bin/sh
case "$*" in
  *--list-gpu-code*) echo sm_90; echo sm_120 ;;
  *-arch=sm_120*) echo x >> "{count}"; echo cubin > scale.cubin ;;
  *) echo "nvcc fatal   : Unsupported gpu architecture" >&2; exit 1 ;;
esac
"""
PLAY = """\
- name: Prepare
  hosts: all
  gather_facts: false
  roles:
    - {role: inferops.blackwell.preflight, tags: [preflight]}
    - {role: inferops.blackwell.cuda, tags: [cuda]}
    - {role: inferops.blackwell.model, tags: [model]}
"""


class Run(t.NamedTuple):
    rc: int
    output: str

    @property
    def changed(self) -> int:
        return int(re.findall(r"changed=(\d+)", self.output)[-1])


class Host:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.prefix = folder / "prefix"
        self.count = folder / "compiled"
        nvcc = folder / "toolkit/bin/nvcc"
        nvcc.parent.mkdir(parents=True)
        nvcc.write_text(NVCC.format(count=self.count))
        nvcc.chmod(0o755)
        (folder / "play.yml").write_text(PLAY)

    def play(self, *arguments: str, **variables: t.Any) -> Run:
        given = {
            "ansible_connection": "local",
            "ansible_python_interpreter": sys.executable,
            "sglang_prefix": str(self.prefix),
            "sglang_user": getpass.getuser(),
            "sglang_device": "cpu",
            "sglang_method": "wheel",
            "sglang_python": sys.executable,
            "cuda_method": "existing",
            "cuda_home": str(self.folder / "toolkit"),
            "cuda_install_packages": False,
            "model_method": "tiny",
            **variables,
        }
        done = subprocess.run(
            [
                Path(sys.executable).with_name("ansible-playbook"),
                *("-i", "localhost,", "-e", json.dumps(given)),
                *arguments,
                self.folder / "play.yml",
            ],
            cwd=ROOT,
            env={**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"), "ANSIBLE_NOCOLOR": "1"},
            capture_output=True,
            text=True,
            timeout=300,
        )
        return Run(done.returncode, done.stdout + done.stderr)

    def state(self, role: str) -> dict[str, t.Any]:
        return t.cast("dict[str, t.Any]", json.loads((self.prefix / f"state/{role}.json").read_text()))

    @property
    def compilations(self) -> int:
        return len(self.count.read_text().splitlines()) if self.count.exists() else 0


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


WITHOUT_LIBCUDA = {"sglang_device": "cuda"}


def test_preflight_says_everything_at_once_and_nothing_is_made(host: Host) -> None:
    run = host.play(
        "--tags",
        "preflight",
        threshold_patch_batch_threshold="eight",
        sglang_method="tarball",
        sglang_version="0.5.8",
        model_method="path",
        model_path="/no/such/model",
        cuda_home="/no/such/toolkit",
        **WITHOUT_LIBCUDA,
    )
    assert run.rc != 0
    for text in (
        "threshold_patch_batch_threshold: must be a whole number >= 0, it is 'eight'",
        "sglang_method: is 'tarball'",
        "sglang_version: 0.5.8 cannot get the threshold",
        "model_path: /no/such/model: it does not exist",
        "cuda_home: /no/such/toolkit/bin/nvcc does not exist",
    ):
        assert text in run.output
    assert not host.prefix.exists()
    assert run.changed == 0


def test_preflight_warns_of_64_only_with_speculation_and_without_a_limit(host: Host) -> None:
    speculation = {"speculative_algorithm": "EAGLE3", "speculative-eagle-topk": 1, "api-key": "hunter2"}
    told = host.play(
        *("--tags", "preflight", "-vvv"),
        threshold_patch_batch_threshold=64,
        server_arguments=speculation,
        server_environment={"HF_TOKEN": "hunter3"},
        **WITHOUT_LIBCUDA,
    )
    assert "64 can never fire" in told.output
    silent = host.play("--tags", "preflight", threshold_patch_batch_threshold=64, **WITHOUT_LIBCUDA)
    assert "can never fire" not in silent.output
    # What concerns no check is not sent to the host.
    seen = told.output[told.output.index("Compare the host") : told.output.index("Show the warnings")]
    assert "hunter" not in seen


def test_toolkit_is_proven_once_and_again_when_more_is_asked_of_it(host: Host) -> None:
    first = host.play("--tags", "cuda", **WITHOUT_LIBCUDA)
    assert first.rc == 0, first.output
    assert host.state("cuda")["verified"] == "cubin sm_120"
    assert host.compilations == 1
    second = host.play("--tags", "cuda", cuda_compute_capabilities="12.0", **WITHOUT_LIBCUDA)
    assert (second.rc, second.changed, host.compilations) == (0, 0, 1)
    third = host.play("--tags", "cuda", cuda_compute_capabilities=["12.0", "10.3"], **WITHOUT_LIBCUDA)
    assert third.rc != 0
    text = " ".join(third.output.split())
    assert "does not compile for compute capability 10.3" in text
    assert "It knows 90, 120" in text
    assert host.state("cuda")["verified"] == "cubin sm_120"


def test_tiny_model_is_made_once_and_check_mode_makes_nothing(host: Host) -> None:
    foreseen = host.play("--tags", "model", "--check", "--diff")
    assert foreseen.rc == 0, foreseen.output
    assert foreseen.changed > 0
    assert not host.prefix.exists()
    assert host.play("--tags", "model").rc == 0
    assert host.state("model")["path"] == str(host.prefix / "models/tiny")
    assert host.play("--tags", "model").changed == 0


def test_model_that_was_cut_off_is_refused(host: Host) -> None:
    assert host.play("--tags", "model").rc == 0
    weights = host.prefix / "models/tiny/model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    run = host.play("--tags", "model", model_method="path", model_path=str(weights.parent))
    assert run.rc != 0
    assert "the download was cut off" in " ".join(run.output.split())

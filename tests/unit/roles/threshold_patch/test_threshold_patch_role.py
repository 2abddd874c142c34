# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role on this machine, on a tree that has the places of SGLang which the recipe names, and imports in no time."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import typing as t
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[4]
OPTION = "--speculative-disable-batch-threshold"

SERVER_ARGS = """\
import argparse
import dataclasses


@dataclasses.dataclass
class ServerArgs:
    speculative_accept_threshold_acc: float = 1.0

    @staticmethod
    def add_cli_args(parser):
        parser.add_argument(
            "--speculative-accept-threshold-acc",
            type=float,
            default=ServerArgs.speculative_accept_threshold_acc,
        )

    @classmethod
    def from_cli_args(cls, args):
        attrs = [attr.name for attr in dataclasses.fields(cls)]
        return cls(**{attr: getattr(args, attr) for attr in attrs})

    def check_server_args(self):
        pass


def prepare_server_args(argv):
    parser = argparse.ArgumentParser()
    ServerArgs.add_cli_args(parser)
    return ServerArgs.from_cli_args(parser.parse_args(argv))
"""
WORKER = """\
with open({imports!r}, "a") as log:
    log.write("imported\\n")

from sglang.srt.speculative.base_spec_worker import BaseDraftWorker, BaseSpecWorker


class EAGLEWorkerV2(BaseSpecWorker):
    def __init__(self):
        self.draft_worker = BaseDraftWorker()

    def forward_batch_generation(self, model_worker_batch):
        with self.draft_worker.context():
            verify_input: object = self.draft_worker.draft(model_worker_batch)
        return verify_input
"""
WORKER_PATH = "sglang/srt/speculative/eagle_worker_v2.py"
OURS = "sglang/srt/speculative/batch_threshold.py"
PLAY = """\
- name: Patch a release
  hosts: all
  gather_facts: false
  roles:
    - inferops.blackwell.threshold_patch
  post_tasks:
    - name: Write the result down
      ansible.builtin.copy:
        content: "{{ threshold_patch_result | to_json }}"
        dest: "{{ result_file }}"
        mode: "0644"
      check_mode: false
      changed_when: false
"""


class Bench:
    """A tree, an interpreter that imports it, a prefix, and ways to run the role."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.root = home / "tree"
        self.imports = home / "imports.log"
        self.prefix = home / "prefix"
        self.result_file = home / "result.json"
        self.python = home / "venv" / "bin" / "python"
        speculative = self.root / "sglang" / "srt" / "speculative"
        speculative.mkdir(parents=True)
        (self.root / "sglang" / "__init__.py").touch()
        (self.root / "sglang" / "_version.py").write_text("__version__ = version = '0.5.9'\n")
        (self.root / "sglang" / "srt" / "server_args.py").write_text(SERVER_ARGS)
        (speculative / "base_spec_worker.py").write_text("class BaseDraftWorker: pass\nclass BaseSpecWorker: pass\n")
        (self.root / WORKER_PATH).write_text(WORKER.format(imports=str(self.imports)))
        venv.create(home / "venv")
        # The real file imports torch; only its presence matters here.
        (site,) = (home / "venv").glob("lib/python*/site-packages")
        (site / "torch.py").touch()
        (site / "tree.pth").write_text(f"{self.root}\n")
        (self.prefix / "state").mkdir(parents=True)
        self.pristine = self.content()

    def content(self) -> dict[str, bytes]:
        files = [path for path in self.root.rglob("*") if path.is_file() and path.suffix == ".py"]
        return {str(path.relative_to(self.root)): path.read_bytes() for path in files}

    @property
    def times_imported(self) -> int:
        return len(self.imports.read_text().splitlines()) if self.imports.exists() else 0

    @property
    def result(self) -> dict[str, t.Any]:
        result: dict[str, t.Any] = json.loads(self.result_file.read_text())
        return result

    def patch(self, *arguments: str) -> Played:
        """The playbook, on a tree without a release."""
        given = {"threshold_patch_root": str(self.root), "threshold_patch_store": str(self.home / "store")}
        return self._play(str(ROOT / "playbooks" / "patch.yml"), given, *arguments)

    def role(self, *arguments: str, **variables: t.Any) -> Played:
        """The role, on a release."""
        play = self.home / "play.yml"
        play.write_text(PLAY)
        self.result_file.unlink(missing_ok=True)
        release = {"root": str(self.root), "python": str(self.python), "version": "0.5.9"}
        given = {"sglang_prefix": str(self.prefix), "sglang_release": release, "result_file": str(self.result_file)}
        return self._play(str(play), {**given, **variables}, *arguments)

    def _play(self, playbook: str, variables: dict[str, t.Any], *arguments: str) -> Played:
        command = [str(Path(sys.executable).with_name("ansible-playbook")), "-i", "localhost,", "-c", "local", playbook]
        given = {"ansible_python_interpreter": sys.executable, **variables}
        done = subprocess.run(
            [*command, "-e", json.dumps(given), *arguments],
            cwd=ROOT,
            env={**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"), "ANSIBLE_NOCOLOR": "1"},
            capture_output=True,
            text=True,
        )
        return Played(done)


class Played:
    def __init__(self, done: subprocess.CompletedProcess[str]) -> None:
        self.rc = done.returncode
        self.output = done.stdout + done.stderr
        # Ansible wraps long messages; one line is easier to look into.
        self.text = re.sub(r"\s+", " ", self.output)

    @property
    def changed(self) -> int:
        return int(re.findall(r"changed=(\d+)", self.output)[-1])


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_a_release_is_patched_proven_once_and_its_result_recorded(bench: Bench) -> None:
    first = bench.role(threshold_patch_batch_threshold="4")
    assert first.rc == 0, first.output
    result = bench.result
    assert (result["status"], result["mechanism"], result["version"]) == ("applied", "patch", "0.5.9")
    assert result["arguments"] == {"speculative-disable-batch-threshold": 4}
    assert result["environment"] == {"SGLANG_ENABLE_SPEC_V2": "1"}
    assert result["new_files"] == [OURS]
    source = (bench.root / "sglang/srt/server_args.py").read_text().splitlines()
    inserted = [source[number - 1].strip() for number in result["lines"]["sglang/srt/server_args.py"]]
    assert inserted[0] == "speculative_disable_batch_threshold: int = 0  # 0 = always speculate"
    assert inserted[1:6] == [
        "parser.add_argument(",
        f'"{OPTION}",',
        "type=int,",
        "default=ServerArgs.speculative_disable_batch_threshold,",
        'help="Disable speculation when decode batch size exceeds this threshold. 0 = always speculate.",',
    ]
    assert bench.times_imported == 1
    assert (bench.prefix / "patches").is_dir()
    recorded = json.loads((bench.prefix / "state" / "threshold_patch.json").read_text())
    assert {key: recorded[key] for key in result} == result
    assert recorded["proof"]["origin"] == str(bench.root / "sglang" / "__init__.py")

    second = bench.role(threshold_patch_batch_threshold="4")
    assert (second.rc, second.changed, bench.times_imported) == (0, 0, 1), second.output
    assert bench.result == result

    off = bench.role(threshold_patch_state="absent")
    assert off.rc == 0, off.output
    assert bench.content() == bench.pristine
    assert (bench.result["status"], bench.result["digest"], bench.result["arguments"]) == ("pristine", "pristine", {})


def test_check_mode_announces_the_same_and_writes_nothing(bench: Bench) -> None:
    played = bench.role("--check")
    assert played.rc == 0, played.output
    assert played.changed > 0
    assert bench.content() == bench.pristine
    assert bench.times_imported == 0
    assert not (bench.prefix / "patches").exists()
    announced = bench.result
    assert bench.role().rc == 0
    assert bench.result == announced


def test_check_mode_before_the_release_is_built_announces_the_patch(bench: Bench) -> None:
    release = {"root": str(bench.home / "later"), "python": str(bench.home / "later/python"), "version": "0.5.9"}
    played = bench.role("--check", sglang_release=release)
    assert played.rc == 0, played.output
    assert (bench.result["status"], bench.result["lines"]) == ("applied", {})


def test_a_patch_that_sglang_does_not_run_with_comes_off_again(bench: Bench) -> None:
    worker = bench.root / WORKER_PATH
    worker.write_text(
        worker.read_text() + "\nif hasattr(EAGLEWorkerV2, 'batch_threshold'):\n    raise OSError('boom')\n"
    )
    before = bench.content()
    played = bench.role()
    assert played.rc != 0
    assert "does not run with the patch, so its files are pristine again" in played.text
    assert "OSError: boom" in played.text
    assert bench.content() == before
    assert not (bench.prefix / "state" / "threshold_patch.json").exists()


def test_an_interpreter_that_imports_another_tree_is_told(bench: Bench) -> None:
    played = bench.patch("-e", f"threshold_patch_python={sys.executable}")
    assert played.rc != 0
    assert "imports sglang from None, not from" in played.text
    assert bench.content() == bench.pristine


def test_a_tree_alone_is_patched_and_reported_without_an_import(bench: Bench) -> None:
    played = bench.patch()
    assert played.rc == 0, played.output
    assert "| patch | applied, patch set" in played.text
    assert "sglang/srt/server_args.py, inserted lines 8, 17-22," in played.text
    assert f"{OPTION} 8" in played.text
    assert bench.times_imported == 0
    assert bench.patch().changed == 0
    off = bench.patch("-e", "threshold_patch_state=absent")
    assert "none, the files are pristine" in off.text
    assert bench.content() == bench.pristine


def test_a_tree_patched_by_hand_is_refused_with_file_and_line(bench: Bench) -> None:
    path = bench.root / "sglang" / "srt" / "server_args.py"
    lines = path.read_text().splitlines(keepends=True)
    lines.insert(7, "    speculative_disable_batch_threshold: int = 0\n")
    path.write_text("".join(lines))
    before = bench.content()
    played = bench.patch()
    assert played.rc != 0
    assert "sglang/srt/server_args.py:8" in played.text
    assert "Give back the pristine file first" in played.text
    assert bench.content() == before


@pytest.mark.parametrize(
    ("version", "reason"),
    [("0.5.3", "it has no spec V2 worker"), ("0.5.10", "no recipe has been proven on it (proven: 0.5.9)")],
)
def test_a_version_that_is_not_covered_is_refused_with_the_reason(bench: Bench, version: str, reason: str) -> None:
    (bench.root / "sglang" / "_version.py").write_text(f"__version__ = '{version}'\n")
    before = bench.content()
    played = bench.patch()
    assert played.rc != 0
    assert f"SGLang {version} in {bench.root} (version from sglang/_version.py)" in played.text
    assert reason in played.text
    assert bench.content() == before


def test_native_tiers_get_settings_and_the_tree_stays(bench: Bench) -> None:
    arguments = {"server_arguments": {"speculative-num-steps": 5}}
    played = bench.patch("-e", "threshold_patch_version=0.5.14", "-e", json.dumps(arguments))
    assert played.rc == 0, played.output
    assert played.changed == 0
    assert '{"1": {"candidate_steps": [5]}, "9": {"candidate_steps": [0]}}' in played.text.replace("| | | ", "")
    assert bench.content() == bench.pristine


def test_a_tree_of_unknown_version_and_another_shape_is_refused(bench: Bench) -> None:
    (bench.root / "sglang" / "_version.py").unlink()
    for path in ("eagle_info.py", "eagle_info_v2.py"):
        (bench.root / "sglang" / "srt" / "speculative" / path).touch()
    executor = bench.root / "sglang" / "srt" / "model_executor"
    executor.mkdir()
    (executor / "model_runner.py").write_text("class ModelRunner:\n    def _get_attention_backend(self): ...\n")
    before = bench.content()
    played = bench.patch()
    assert played.rc != 0
    assert "Not found:" in played.text
    assert "EagleDraftWorker" in played.text  # a class
    assert "def _get_attention_backend(self, init_new_workspace=False): ..." in played.text
    assert "cuda_graph_runner.py" in played.text  # a file
    assert bench.content() == before


def test_a_tree_of_unknown_version_with_native_tiers_stays(bench: Bench) -> None:
    (bench.root / "sglang" / "_version.py").unlink()
    path = bench.root / "sglang" / "srt" / "server_args.py"
    path.write_text("class ServerArgs:\n    speculative_adaptive: A[bool, 'tiers'] = False\n")
    played = bench.patch()
    assert played.rc == 0, played.output
    assert "this version has native tiers" in played.text


def test_a_directory_without_the_package_is_told_where_it_is(bench: Bench) -> None:
    played = bench.patch("-e", f"threshold_patch_root={bench.root / 'sglang'}")
    assert played.rc != 0
    assert f"It is in {bench.root}: set threshold_patch_root to that." in played.text


@pytest.mark.parametrize("threshold", ["-1", "eight", "1.5"])
def test_a_threshold_that_is_no_batch_size_is_refused(bench: Bench, threshold: str) -> None:
    played = bench.patch("-e", f"threshold_patch_batch_threshold={threshold}")
    assert played.rc != 0
    assert f"threshold_patch_batch_threshold is '{threshold}'" in played.text
    assert bench.content() == bench.pristine

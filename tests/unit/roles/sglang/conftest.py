# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role on this machine, with a project that has SGLang's shape and needs neither a network nor other packages.

The project brings its own build backend (PEP 517, in the tree), which takes the version as setuptools_scm does.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[4]
BIN = Path(sys.executable).parent

PYPROJECT = """\
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "sglang"
dynamic = ["version"]
"""

VERSION = """\
try:
    from sglang._version import __version__
except ImportError:
    __version__ = "0.0.0.dev0"
"""

PLAY = """\
- name: Build
  hosts: all
  gather_facts: false
  tasks:
    - name: Run the role
      ansible.builtin.include_role:
        name: inferops.blackwell.sglang
        tasks_from: "{{ entry | default('main') }}"
    - name: Wait as a role does that starts a server
      ansible.builtin.include_role:
        name: inferops.blackwell.sglang
        tasks_from: compiled
    - name: Write the result down
      ansible.builtin.copy:
        content: "{{ sglang_release | default({}) | to_json }}"
        dest: "{{ result_file }}"
        mode: "0644"
      check_mode: false
      changed_when: false
"""


class Played:
    def __init__(self, done: subprocess.CompletedProcess[str], result: Path) -> None:
        self.rc = done.returncode
        self.output = done.stdout + done.stderr
        # Ansible wraps long messages; one line is easier to look into.
        self.text = re.sub(r"\s+", " ", self.output)
        self.release = json.loads(result.read_text()) if result.exists() else None

    @property
    def changed(self) -> int:
        return int(re.findall(r"changed=(\d+)", self.output)[-1])


@pytest.fixture(scope="session")
def project(tmp_path_factory):
    """Source tree, sdist, wheel, and a git repository like the real one: package below python/, no _version.py."""
    top = tmp_path_factory.mktemp("project")
    tree = top / "sglang-0.5.9"
    (tree / "sglang/srt").mkdir(parents=True)
    (tree / "pyproject.toml").write_text(PYPROJECT)
    (tree / "backend.py").write_text((Path(__file__).parent / "backend.py").read_text())
    (tree / "sglang/__init__.py").write_text('raise RuntimeError("the package itself must not be imported")\n')
    (tree / "sglang/version.py").write_text(VERSION)
    (tree / "sglang/srt/server_args.py").write_text("value = 1\n")
    _make_repository(top, tree)
    (tree / "sglang/_version.py").write_text("__version__ = version = '0.5.9'\n")
    with tarfile.open(top / "sglang-0.5.9.tar.gz", "w:gz") as tar:
        tar.add(tree, arcname=tree.name)
    sources = {str(path.relative_to(tree)): path.read_text() for path in sorted((tree / "sglang").rglob("*.py"))}
    _make_wheel(top, "sglang", "0.5.9", sources)
    _make_wheel(top, "needed", "1.0", {"needed.py": "", "needed_template.py": "{{ no Python }}"})
    return top


def _make_wheel(top: Path, name: str, version: str, files: dict[str, str]) -> None:
    with zipfile.ZipFile(top / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)
        information = f"{name}-{version}.dist-info"
        wheel.writestr(f"{information}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        wheel.writestr(f"{information}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{information}/RECORD", "")


def _make_repository(top: Path, tree: Path) -> None:
    repository = top / "repository"
    (repository / "python").mkdir(parents=True)
    subprocess.run(["cp", "-r", *sorted(str(path) for path in tree.iterdir()), repository / "python"], check=True)
    identity = ["-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false"]

    def git(*arguments: str) -> None:
        subprocess.run(["git", *identity, "-C", str(repository), *arguments], check=True, capture_output=True)

    git("init", "--quiet")
    for step in ("before", "release", "after"):
        (repository / "step").write_text(step)
        git("add", "--all")
        git("commit", "--quiet", "--message", step)
        if step == "release":
            git("tag", "v0.5.9")


@pytest.fixture
def prefix(tmp_path):
    return tmp_path / "prefix"


@pytest.fixture
def play(tmp_path, prefix, project):
    playbook = tmp_path / "play.yml"
    playbook.write_text(PLAY)

    def run(*arguments: str, **variables: object) -> Played:
        result = tmp_path / "result.json"
        result.unlink(missing_ok=True)
        values = {
            "ansible_connection": "local",
            "ansible_python_interpreter": sys.executable,
            "result_file": str(result),
            "sglang_prefix": str(prefix),
            "sglang_user": subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip(),
            "sglang_python": sys.executable,
            "sglang_uv": str(BIN / "uv"),
            # Nothing is fetched: the host has all it needs.
            "sglang_wheelhouse": str(project),
            **variables,
        }
        environment = {
            **os.environ,
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
            "ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".venv/collections"),
            "ANSIBLE_NOCOLOR": "1",
            "UV_CACHE_DIR": str(tmp_path / "uv"),
        }
        command = [BIN / "ansible-playbook", "-i", "localhost,", "-e", json.dumps(values), *arguments, playbook]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=tmp_path)
        return Played(done, result)

    return run

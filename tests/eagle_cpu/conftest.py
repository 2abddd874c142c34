# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The real SGLang 0.5.9 with EAGLE-3 on a CPU, patched by the collection's own playbook.

pytest tests/eagle_cpu                 everything, about five minutes on two cores once the cache is warm
pytest tests/eagle_cpu -m 'not slow'   without the mutants
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import cases  # noqa: E402
from environment import ROOT, Environment, provide  # noqa: E402


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: runs the scheduler once per mutant")


@pytest.fixture(scope="session")
def environment() -> Environment:
    return provide()


@pytest.fixture(scope="session")
def tree(environment: Environment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the pristine package with the patch applied as a user applies it."""
    root = tmp_path_factory.mktemp("tree")
    shutil.copytree(environment.package, root / "sglang")
    patch(root, root.with_name("store"))
    return root


def patch(root: Path, store: Path, *arguments: str) -> str:
    """Run the playbook on a tree; gives its output."""
    done = subprocess.run(
        [
            *(str(Path(sys.executable).with_name("ansible-playbook")), "-i", "localhost,", "-c", "local"),
            *(str(ROOT / "playbooks" / "patch.yml"), "-e", "inferops_become=false"),
            *("-e", f"ansible_python_interpreter={sys.executable}"),
            *("-e", f"threshold_patch_root={root}", "-e", f"threshold_patch_store={store}", *arguments),
        ],
        cwd=ROOT,
        env={**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"), "ANSIBLE_NOCOLOR": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def drive(
    environment: Environment, tree: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[cases.Case], cases.Result]:
    """Runs a case on the patched tree, once per session: many tests read the same run."""
    results: dict[cases.Case, cases.Result] = {}

    def run(case: cases.Case) -> cases.Result:
        if case not in results:
            results[case] = cases.drive(environment, tree, case, tmp_path_factory.mktemp("run") / "case")
        return results[case]

    return run


@pytest.fixture(scope="session")
def plain(drive: Callable[[cases.Case], cases.Result]) -> cases.Pass:
    """The same plan without speculation."""
    return drive(cases.Case(thresholds=(0,), algorithm=None)).passes[0]


@pytest.fixture(scope="session")
def acceptable(drive: Callable[[cases.Case], cases.Result]) -> cases.Pass:
    """How many draft tokens are right at every position of every request, when speculation never pauses."""
    return drive(cases.Case(thresholds=(0,), one_by_one=True)).passes[0]

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The crash matrix: killed or failed at every mutating system call, by strace, on ordinary and bind-mounted files."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from evidence import Figures
from mounted import namespace
from sampling import PROOF, SEED

MATRIX = Path(__file__).with_name("crash_matrix.py")
SAMPLE = {"ordinary files": 60, "a bind-mounted file": 30}


@pytest.mark.parametrize("files", SAMPLE)
def test_every_point_is_survived(tmp_path: Path, files: str, figures: Figures) -> None:
    assert shutil.which("strace"), "strace is missing; Debian and Ubuntu: apt-get install strace"
    prefix, options = ([], []) if files == "ordinary files" else (namespace(), ["--bind-mounted"])
    found = tmp_path / "outcome.json"
    count = 0 if PROOF else SAMPLE[files]
    matrix = [sys.executable, "-B", str(MATRIX), "--sample", str(count), "--seed", str(SEED), "--json", str(found)]
    done = subprocess.run([*prefix, *matrix, *options], capture_output=True, text=True, check=False)
    print(done.stdout)
    assert found.exists(), done.stdout + done.stderr
    outcome = json.loads(found.read_text())
    assert outcome["violations"] == []
    # Journal, three files, their names and the directories: what a run needs at least.
    assert outcome["points"] > 60
    assert all(outcome["ends"].get(end) for end in ("killed", "refused", "ended well"))
    figures.add(
        f"crash matrix, {files}",
        {"points": outcome["points"], "disturbed runs": outcome["runs"], "of": outcome["of_runs"], **outcome["ends"]},
    )

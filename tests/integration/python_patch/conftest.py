# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""python_patch against files, file systems, faults and neighbours that it meets outside of unit tests.

pytest tests/integration/python_patch                    seeded samples, a few minutes
INFEROPS_PROOF=1 pytest tests/integration/python_patch   everything; writes docs/proof/python_patch.md when all passed
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "bed")]

import summary  # noqa: E402
from evidence import Figures  # noqa: E402
from mounted import Case  # noqa: E402
from sampling import PROOF  # noqa: E402

FIGURES = Figures()


@pytest.fixture(scope="session")
def figures() -> Figures:
    return FIGURES


@pytest.fixture
def case(tmp_path: Path) -> Case:
    return Case(tmp_path)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, exitstatus: int) -> None:
    for title, counts in FIGURES.found.items():
        terminalreporter.write_line(f"{title}: " + ", ".join(f"{name}: {count}" for name, count in counts.items()))
    if not PROOF:
        return
    missing = summary.missing(FIGURES.found)
    if exitstatus == 0 and not missing:
        summary.write(FIGURES.found)
        terminalreporter.write_line(f"written: {summary.PAGE}")
    else:
        terminalreporter.write_line(f"{summary.PAGE.name} is not written: exit status {exitstatus}, missing {missing}")

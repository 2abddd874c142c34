# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a check says: the problem, where it is, and what to do."""

from __future__ import annotations

import typing as t


class Finding(t.NamedTuple):
    """`what` is wrong, `where` (a variable, a path, a port), and the `remedy`."""

    what: str
    where: str
    remedy: str

    def as_dict(self) -> dict[str, str]:
        return {**self._asdict(), "text": f"{self.where}: {self.what}. {self.remedy}"}


class Findings:
    """All problems (the run cannot go on) and warnings (it can) of one host, in the order they were found."""

    def __init__(self) -> None:
        self.problems: list[Finding] = []
        self.warnings: list[Finding] = []

    def problem(self, what: str, where: str, remedy: str) -> None:
        self._add(self.problems, what, where, remedy)

    def warning(self, what: str, where: str, remedy: str) -> None:
        self._add(self.warnings, what, where, remedy)

    @staticmethod
    def _add(to: list[Finding], what: str, where: str, remedy: str) -> None:
        finding = Finding(what, where, remedy)
        if finding not in to:
            to.append(finding)

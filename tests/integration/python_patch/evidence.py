# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The figures of a whole run."""

from __future__ import annotations

import typing as t


class Figures:
    """What the tests counted, by title."""

    def __init__(self) -> None:
        self.found: dict[str, dict[str, t.Any]] = {}

    def add(self, title: str, counts: t.Mapping[str, t.Any]) -> None:
        self.found[title] = dict(counts)

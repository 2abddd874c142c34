# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A seeded sample for `make test`, everything for `make proof`."""

from __future__ import annotations

import os
import random
import typing as t

Item = t.TypeVar("Item")
# Set by `make proof`.
PROOF = bool(os.environ.get("INFEROPS_PROOF"))
SEED = 2026


def sample(items: t.Sequence[Item], count: int) -> list[Item]:
    """`count` of the items in their order, always the same ones; in a proof all of them."""
    if PROOF or count >= len(items):
        return list(items)
    chosen = random.Random(SEED).sample(range(len(items)), count)  # noqa: S311
    return [items[number] for number in sorted(chosen)]

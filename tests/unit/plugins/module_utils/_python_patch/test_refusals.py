# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every bad input has its exact message: refusals.yml."""

from __future__ import annotations

import re
import typing as t
from pathlib import Path

import pytest
import yaml
from ansible_collections.inferops.blackwell.plugins.module_utils._python_patch import plan, recipe, source
from ansible_collections.inferops.blackwell.plugins.module_utils._python_patch.errors import PatchError

TABLE: dict[str, t.Any] = yaml.safe_load(Path(__file__).with_suffix("").with_name("refusals.yml").read_text("utf-8"))
CASES: list[dict[str, t.Any]] = TABLE["cases"]


def test_the_table_is_long() -> None:
    assert len(CASES) >= 60
    assert len({case["name"] for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_refused_with_the_exact_message(case: dict[str, t.Any]) -> None:
    text = case.get("source", TABLE["source"])
    data = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(PatchError) as caught:
        layer = plan.Layer("test", recipe.parse_file({"path": "m.py", **case["file"]}), fresh=True)
        plan.compose("m.py", data, [layer], plan.Words("git checkout", "the store"))
    expected = re.escape(case["message"]).replace(re.escape("Python {version}"), re.escape(source.PYTHON))
    assert re.fullmatch(expected.replace(re.escape("<Python says>"), ".*"), str(caught.value)), str(caught.value)

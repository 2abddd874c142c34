# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from ansible.errors import AnsibleError
from ansible.plugins.loader import lookup_loader
from ansible_collections.inferops.blackwell.plugins.plugin_utils.threshold_plan import make_plan


def look_up(*versions: str, **options: object) -> list[dict[str, object]]:
    found: list[dict[str, object]] = lookup_loader.get("inferops.blackwell.threshold_plan").run(versions, {}, **options)
    return found


def test_options_reach_the_plan() -> None:
    (plan,) = look_up("0.5.23", threshold="4", steps="5", native_flag="yes")
    assert plan == make_plan("0.5.23", threshold=4, steps=5, native_flag=True)


def test_absent_gives_pristine() -> None:
    assert look_up("0.5.9", state="absent")[0]["digest"] == "pristine"


def test_one_plan_per_version() -> None:
    assert [plan["mechanism"] for plan in look_up("0.5.3", "0.5.9", "0.5.14")] == ["refused", "patch", "native"]


def test_a_state_that_does_not_exist_is_refused() -> None:
    with pytest.raises(AnsibleError, match="state"):
        look_up("0.5.9", state="removed")

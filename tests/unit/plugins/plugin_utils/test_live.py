# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a person sees while a task runs."""

from __future__ import annotations

import time
import typing as t

import pytest
from ansible_collections.inferops.blackwell.plugins.plugin_utils import _live
from ansible_collections.inferops.blackwell.plugins.plugin_utils._live import Live, duration


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    lines: list[str] = []

    class FakeDisplay:
        def display(self, text: str) -> None:
            lines.append(text)

    fake: t.Any = FakeDisplay()
    monkeypatch.setattr(_live, "_display", fake)
    return lines


@pytest.mark.parametrize(("seconds", "words"), [(7.9, "7s"), (65, "1m05s"), (3599, "59m59s"), (7380, "2h03m")])
def test_a_duration_is_short(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_a_text_is_printed_once_per_change(printed: list[str]) -> None:
    live = Live("gpu1", "build")
    live.show("one", 1)
    live.show("one", 2)
    live.show("two", 65)
    assert printed == ["[gpu1] build: one (1s)", "[gpu1] build: two (1m05s)"]


def test_nothing_but_the_time_is_printed_when_hidden(printed: list[str]) -> None:
    with Live("gpu1", "build", hidden=True, heartbeat_seconds=0.0) as live:
        live.show("geheim", 1)
        while not printed:
            time.sleep(0.01)
    assert "geheim" not in "".join(printed)
    assert "still running" in printed[0]


def test_silence_is_broken_by_a_heartbeat_even_while_the_target_is_busy(printed: list[str]) -> None:
    with Live("gpu1", "build", heartbeat_seconds=0.0) as live:
        live.show("linking", 5)
        while len(printed) < 3:
            time.sleep(0.01)
    assert printed[1].startswith("[gpu1] build: linking - still running (")


def test_a_long_line_is_cut(printed: list[str]) -> None:
    Live("gpu1", "build").show("x" * 999, 1)
    assert len(printed[0]) < 200
    assert "..." in printed[0]


def test_words_can_be_said_in_between(printed: list[str]) -> None:
    Live("gpu1", "build").say("the connection is lost")
    assert "the connection is lost" in printed[0]

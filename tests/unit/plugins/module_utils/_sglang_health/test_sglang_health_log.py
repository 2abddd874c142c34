# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An earlier run's words must not condemn this one."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from ansible_collections.inferops.blackwell.plugins.module_utils._sglang_health.log import FileLog, NoLog

EARLIER = 1_780_000_000.0


def stamp(epoch: float) -> str:
    return time.strftime("[%Y-%m-%d %H:%M:%S]", time.localtime(epoch))


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "server.log"


def write(log: Path, text: str, at: float | None = None) -> None:
    log.write_text(text)
    if at is not None:
        os.utime(log, (at, at))


def test_the_offset_hides_what_stands_before_it(log: Path) -> None:
    write(log, "old words\nnew words\n")
    text = FileLog(str(log), len("old words\n")).read(None)
    assert text.text == "new words"
    assert text.certain


def test_a_log_shorter_than_the_offset_was_rotated_and_counts_whole(log: Path) -> None:
    write(log, "new words\n")
    assert FileLog(str(log), 4096).read(None).text == "new words"


def test_without_offset_the_time_stamps_tell_the_runs_apart(log: Path) -> None:
    write(
        log,
        f"{stamp(EARLIER)} first run\nSyntaxError: of the first run\n{stamp(EARLIER + 100)} second run\n",
        at=EARLIER + 101,
    )
    text = FileLog(str(log), None).read(EARLIER + 100)
    assert text.text == f"{stamp(EARLIER + 100)} second run"
    assert text.certain


def test_words_without_a_time_stamp_after_the_earlier_run_are_uncertain(log: Path) -> None:
    write(log, f"{stamp(EARLIER)} first run\nSyntaxError: of whom?\n", at=EARLIER + 101)
    text = FileLog(str(log), None).read(EARLIER + 100)
    assert text.text == "SyntaxError: of whom?"
    assert not text.certain


def test_a_log_that_was_last_written_before_the_start_says_nothing(log: Path) -> None:
    write(log, "SyntaxError: of the first run\n", at=EARLIER)
    text = FileLog(str(log), None).read(EARLIER + 100)
    assert text.text == ""
    assert text.certain


def test_without_offset_and_start_nothing_is_certain(log: Path) -> None:
    write(log, "words\n")
    assert not FileLog(str(log), None).read(None).certain


def test_of_a_long_log_the_end_is_read(log: Path) -> None:
    write(log, "x" * 40 + "\n" + "y" * (1 << 20) + "\nlast\n")
    text = FileLog(str(log), 0).read(None)
    assert text.text.endswith("last")
    assert "x" not in text.text


def test_a_missing_log_is_an_empty_one_and_an_unreadable_one_is_named(tmp_path: Path) -> None:
    assert FileLog(str(tmp_path / "none"), None).read(None).text == ""
    assert "cannot be read" in FileLog(str(tmp_path), None).read(None).problem
    assert NoLog().read(None).text == ""


@pytest.mark.parametrize("name", ["api_key", "admin_api_key", "ssl_keyfile_password"])
def test_secrets_among_the_printed_arguments_are_masked(log: Path, name: str) -> None:
    write(log, f"server_args=ServerArgs(host='127.0.0.1', {name}='it\\'s secret', tokenizer_path='/m', port=1)\n")
    text = FileLog(str(log), 0).read(None).text
    assert "secret" not in text
    assert f"{name}='***', tokenizer_path='/m', port=1)" in text

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module's own part: options in, JSON out, errors as messages."""

from __future__ import annotations

import json

import pytest
from ansible.module_utils.testing import patch_module_args
from ansible_collections.inferops.blackwell.plugins.modules import source_manifest


@pytest.fixture
def run(tmp_path, capsys):
    (tmp_path / "src/sglang").mkdir(parents=True)
    (tmp_path / "src/sglang/a.py").write_text("a = 1\n")

    def call(**options):
        arguments = {"root": str(tmp_path / "src"), "manifest": str(tmp_path / "m.json"), **options}
        with patch_module_args(arguments), pytest.raises(SystemExit):
            source_manifest.main()
        return json.loads(capsys.readouterr().out)

    return call


def test_records_and_then_verifies(run, tmp_path):
    archive = str(tmp_path / "a.tar.gz")
    assert run(state="recorded", archive=archive)["changed"] is True
    assert run(state="recorded", archive=archive)["changed"] is False
    assert run()["matches"] is True


def test_a_check_mode_record_writes_nothing(run, tmp_path):
    assert run(state="recorded", _ansible_check_mode=True)["changed"] is True
    assert not (tmp_path / "m.json").exists()


def test_a_restore_needs_an_archive(run):
    result = run(state="restored")
    assert result["failed"]
    assert "archive" in result["msg"]


def test_what_a_person_has_to_do_is_the_message(run):
    result = run(state="verified")
    assert result["failed"]
    assert "state=recorded" in result["msg"]

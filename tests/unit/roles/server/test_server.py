# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

OLD, NEW = "0.5.9-old", "0.5.9-new"
BROKEN = "raise SystemExit('no')\n"


def sources(directory: Path) -> dict[str, bytes]:
    src = directory / "src"
    return {str(path.relative_to(src)): path.read_bytes() for path in src.rglob("*.py")}


def test_a_release_is_launched_once_and_a_changed_flag_restarts_it(host):
    host.release(NEW, "2026-01-02T00:00:00Z")
    first = host.deploy(NEW)
    assert first.rc == 0, first.output
    assert host.current == NEW
    assert host.threshold() == "8"
    assert (host.prefix / "releases" / NEW / "healthy.json").exists()

    second = host.deploy(NEW)
    assert (second.rc, second.changed) == (0, 0), second.output

    third = host.deploy(NEW, server_arguments={"dtype": "bfloat16"})
    assert third.rc == 0, third.output
    assert "bfloat16" in host.command_line()
    assert "float32" not in host.command_line()

    # The role alone knows from its files what the others found; what arrives as text is a dictionary too.
    alone = host.play(
        [{"ansible.builtin.import_role": {"name": "inferops.blackwell.server"}}],
        server_arguments='{"dtype": "bfloat16"}',
        server_port=str(host.port),
    )
    assert (alone.rc, alone.changed) == (0, 0), alone.output
    verified = host.verify()
    assert (verified.rc, verified.changed) == (0, 0), verified.output


def test_flags_that_fail_go_back_to_those_that_were_healthy(host):
    host.release(NEW, "2026-01-02T00:00:00Z")
    assert host.deploy(NEW).rc == 0
    failed = host.deploy(NEW, server_arguments={"no-such-flag": 1})
    assert failed.rc != 0
    assert "unrecognized arguments: --no-such-flag 1" in failed.text
    assert "The launch files that were healthy before serve again" in failed.text
    assert host.answers()
    assert host.threshold() == "8"


def test_a_release_that_fails_goes_back_to_the_one_before(host):
    host.release(OLD, "2026-01-01T00:00:00Z")
    host.release(NEW, "2026-01-02T00:00:00Z", server=BROKEN)
    assert host.deploy(OLD).rc == 0
    failed = host.deploy(NEW)
    assert failed.rc != 0
    assert f"did not become healthy with release {NEW}" in failed.text
    assert f"Release {OLD} serves again" in failed.text
    assert host.current == OLD
    assert host.answers()
    assert host.state()["release"] == OLD


def test_a_first_release_that_fails_says_that_there_is_nothing_to_go_back_to(host):
    host.release(NEW, "2026-01-02T00:00:00Z", server=BROKEN)
    failed = host.deploy(NEW)
    assert failed.rc != 0
    assert "There is no earlier healthy release to go back to" in failed.text


def test_secrets_stay_off_the_command_line_and_out_of_the_output(host):
    host.release(NEW, "2026-01-02T00:00:00Z")
    key = "k3y-with 'quotes' $HOME"
    played = host.deploy(NEW, "--diff", "-vv", server_api_key=key, server_environment={"HF_TOKEN": "hf_secret"})
    assert played.rc == 0, played.output
    launch = host.prefix / "releases" / NEW / "launch"
    assert "k3y-with" not in played.output
    assert "hf_secret" not in played.output.replace(json.dumps({"HF_TOKEN": "hf_secret"})[1:-1], "")
    assert key not in " ".join(host.command_line())
    assert (launch / "main.yaml").stat().st_mode & 0o777 == 0o640
    assert (launch / "main.env").stat().st_mode & 0o777 == 0o640
    # SGLang prints its arguments, the key too.
    assert (host.prefix / "logs").stat().st_mode & 0o777 == 0o750
    assert (host.prefix / "logs/main.log").stat().st_mode & 0o777 == 0o600
    assert key.split()[0] in (launch / "main.yaml").read_text()

    without = host.deploy(NEW)
    assert without.rc == 0, without.output
    assert not (launch / "main.yaml").exists()


def test_previous_is_the_healthy_release_before_and_twice_is_once(host):
    old = host.release(OLD, "2026-01-01T00:00:00Z")
    host.release(NEW, "2026-01-02T00:00:00Z")
    assert host.deploy(OLD, server_arguments={"dtype": "old"}).rc == 0
    assert host.deploy(NEW, server_arguments={"dtype": "new"}).rc == 0

    back = host.rollback(server_arguments={"dtype": "new"})
    assert back.rc == 0, back.output
    assert host.current == OLD
    # With the flags that it was healthy with.
    assert "old" in host.command_line()
    assert host.threshold() == "8"

    again = host.rollback(server_arguments={"dtype": "new"})
    assert (again.rc, again.changed) == (0, 0), again.output
    assert host.current == OLD

    # Its patch was edited by hand: it comes back without it, and what was edited is kept.
    tree = old / "src/sglang/srt/server_args.py"
    tree.write_text(tree.read_text() + "# mine\n")
    forced = host.rollback()
    assert forced.rc == 0, forced.output
    assert "the patch of this release did not stand any more" in forced.text
    assert host.threshold() == ""
    (kept,) = (host.prefix / "patches/drifted").rglob("server_args.py")
    assert kept.read_text().endswith("# mine\n")

    named = host.rollback(NEW)
    assert named.rc == 0, named.output
    assert host.current == NEW
    assert "new" in host.command_line()


def test_an_unknown_release_is_refused_with_those_that_there_are(host):
    host.release(OLD, "2026-01-01T00:00:00Z")
    assert host.deploy(OLD).rc == 0
    (host.prefix / "releases" / "half-built").mkdir()
    for name in ("nope", "half-built"):
        refused = host.rollback(name)
        assert refused.rc != 0
        assert f"rollback_to={name} is no complete release" in refused.text
        assert f"There are: {OLD}." in refused.text
        assert "Incomplete, so not usable: half-built" in refused.text
    assert host.threshold() == "8"


def test_nothing_to_go_back_to_is_said(host):
    refused = host.rollback()
    assert refused.rc != 0
    assert "there is nothing to go back to" in refused.text


def test_pristine_comes_back_from_a_host_that_was_broken_by_hand(host):
    directory = host.release(NEW, "2026-01-02T00:00:00Z")
    pristine = sources(directory)
    assert host.deploy(NEW).rc == 0
    package = directory / "src" / "sglang"
    (package / "srt/server_args.py").write_text("x = (\n")
    (package / "srt/other.py").unlink()
    (package / "srt/mine.py").write_text("mine = 1\n")
    host.kill_supervisord()
    assert host.answers(), "the server outlives its supervisor: that is the state to come from"
    shutil.rmtree(host.prefix / "supervisor")
    shutil.rmtree(directory / "launch")
    (host.prefix / "current").unlink()

    before = sources(directory)
    predicted = host.rollback("pristine", "--check")
    assert predicted.rc == 0, predicted.output
    assert sources(directory) == before

    back = host.rollback("pristine")
    assert back.rc == 0, back.output
    assert sources(directory) == pristine
    assert host.threshold() == ""
    kept = {path.name: path.read_text() for path in (host.prefix / "patches/drifted").rglob("*.py")}
    assert kept == {"server_args.py": "x = (\n", "mine.py": "mine = 1\n"}
    assert "sglang/srt/other.py" in back.text
    verified = host.verify()
    assert verified.rc == 0, verified.output

    again = host.rollback("pristine")
    assert (again.rc, again.changed) == (0, 0), again.output


def test_a_dangling_current_is_set_again(host):
    host.release(OLD, "2026-01-01T00:00:00Z")
    assert host.deploy(OLD).rc == 0
    (host.prefix / "current").unlink()
    (host.prefix / "current").symlink_to("releases/gone")
    (host.prefix / "state/server.json").unlink()
    back = host.rollback()
    assert back.rc == 0, back.output
    assert host.current == OLD
    assert host.threshold() == ""


def test_a_rollback_that_cannot_end_well_says_why_and_how_things_stand(host):
    directory = host.release(NEW, "2026-01-02T00:00:00Z")
    assert host.deploy(NEW).rc == 0
    (directory / "src/sglang/srt/other.py").write_text("edited\n")
    (directory / "source.tar.gz").write_bytes(b"damaged")
    failed = host.rollback("pristine")
    assert failed.rc != 0
    assert f"The rollback of main to {NEW}, pristine, failed" in failed.text
    assert "source.tar.gz cannot be read" in failed.text
    assert f"current points to {NEW}" in failed.text
    assert "the server is" in failed.text


def test_verify_names_every_failed_check(host):
    directory = host.release(NEW, "2026-01-02T00:00:00Z")
    assert host.deploy(NEW).rc == 0
    (directory / "src/sglang/srt/other.py").write_text("edited\n")
    (directory / "launch/main.env").write_text("INFEROPS_LAUNCH=other\n")
    failed = host.verify()
    assert failed.rc != 0
    assert failed.changed == 0
    assert "2 of 11 checks failed" in failed.text
    assert "source: differ from the build: sglang/srt/other.py" in failed.text
    assert "launch files other" in failed.text

    # Nothing runs and nothing is recorded: then nothing is claimed of flag and launch either.
    host.stop()
    (directory / "launch/main.json").unlink()
    failed = host.verify()
    assert failed.rc != 0
    assert "flag: command line: no process" in failed.text
    assert "launched as unknown" in failed.text


def test_old_releases_go_but_the_way_back_stays(host):
    for day, name in enumerate(("a", "b", "c"), start=1):
        host.release(name, f"2026-01-0{day}T00:00:00Z")
        assert host.deploy(name, sglang_keep_releases=1).rc == 0
    assert sorted(path.name for path in (host.prefix / "releases").iterdir()) == ["b", "c"]
    assert not (host.prefix / "cache" / "a").exists()


@pytest.mark.parametrize("state", ["serving", "orphaned", "empty"])
def test_clean_takes_everything_away_and_twice_is_once(host, state):
    if state != "empty":
        host.release(NEW, "2026-01-02T00:00:00Z")
        assert host.deploy(NEW).rc == 0
    if state == "orphaned":
        host.kill_supervisord()
    cleaned = host.clean()
    assert cleaned.rc == 0, cleaned.output
    assert not host.prefix.exists()
    host.wait_silent()
    again = host.clean()
    assert (again.rc, again.changed) == (0, 0), again.output


def test_clean_leaves_what_is_no_quickstart(host):
    (host.prefix / ".inferops-quickstart").unlink()
    (host.prefix / "data").write_text("mine")
    refused = host.clean()
    assert refused.rc != 0
    assert "Nothing was removed" in refused.text
    assert (host.prefix / "data").read_text() == "mine"

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts out of made-up files, the driver's words, and the choice of a Python."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.inferops.blackwell.plugins.module_utils._preflight import devices, host, interpreters
from ansible_collections.inferops.blackwell.plugins.module_utils._preflight.versions import needs_of

NEEDS = needs_of("0.5.9")


def test_os_release_is_read(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/os-release").write_text(
        'PRETTY_NAME="Rocky Linux 9.5"\nID=rocky\nVERSION_ID="9.5"\nHOME_URL="x"\n'
    )
    found = host.operating_system(tmp_path)
    assert (found["name"], found["id"], found["version"]) == ("Rocky Linux 9.5", "rocky", "9.5")


@pytest.mark.parametrize(("limit", "expected"), [("max", 2048 * 1024), ("1048576", 1048576)])
def test_memory_is_that_of_the_container_where_it_is_smaller(tmp_path: Path, limit: str, expected: int) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/meminfo").write_text("MemTotal:        2048 kB\nMemFree: 1 kB\n")
    (tmp_path / "sys/fs/cgroup").mkdir(parents=True)
    (tmp_path / "sys/fs/cgroup/memory.max").write_text(f"{limit}\n")
    assert host.memory_bytes(tmp_path) == expected


def test_the_nearest_parent_that_exists_has_the_disk(tmp_path: Path) -> None:
    assert host.nearest_existing(tmp_path / "a/b/c") == tmp_path
    assert host.disk_free_bytes(tmp_path / "a/b/c") > 0


def test_an_unreadable_release_does_not_count(tmp_path: Path) -> None:
    path = tmp_path / "releases/x/release.json"
    path.parent.mkdir(parents=True)
    for content in ("{", "[]", '{"version": "0.5.8"}'):
        path.write_text(content)
        assert not host.has_release(tmp_path, "0.5.9")


ROWS = (
    "0, NVIDIA RTX PRO 6000 Blackwell Server Edition, GPU-aaaa, 00000000:30:00.0, 97887, 580.126.09, 12.0\n"
    "1, NVIDIA RTX PRO 6000 Blackwell Server Edition, GPU-bbbb, 00000000:31:00.0, 97887, 580.126.09, 12.0\n"
)


def answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> devices.Driver:
    program = tmp_path / "nvidia-smi"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return devices.ask_driver()


def test_the_driver_tells_its_version_and_every_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    driver = answer(tmp_path, monkeypatch, f"cat <<'EOF'\n{ROWS}EOF")
    assert (driver.version, driver.error, len(driver.gpus)) == ("580.126.09", "", 2)
    assert driver.gpus[1] == {
        "index": 1,
        "model": "NVIDIA RTX PRO 6000 Blackwell Server Edition",
        "uuid": "GPU-bbbb",
        "address": "00000000:31:00.0",
        "memory_bytes": 97887 * 1024**2,
        "compute_capability": "12.0",
    }


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (
            "echo 'Failed to initialize NVML: Driver/library version mismatch'; exit 18",
            "Driver/library version mismatch",
        ),
        ("echo 'No devices were found'; exit 6", "No devices were found"),
        ("echo 'No devices were found'", "No devices were found"),
        ("exit 0", "no GPU"),
    ],
)
def test_a_driver_without_gpus_is_quoted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, said: str
) -> None:
    driver = answer(tmp_path, monkeypatch, script)
    assert driver.gpus == []
    assert said in driver.error


def test_no_driver_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert devices.ask_driver().error == "nvidia-smi is not in PATH"


def python(path: str, *version: int, **more: object) -> interpreters.Interpreter:
    base = interpreters.Interpreter(path, version, "CPython", 64, True, True, "/usr/lib")
    return base._replace(**more)  # type: ignore[arg-type]


def choose(
    monkeypatch: pytest.MonkeyPatch, *found: interpreters.Interpreter, need_venv: bool = False
) -> tuple[str, list[str]]:
    known = {entry.path: entry for entry in found}
    monkeypatch.setattr(interpreters, "probe", lambda path: known.get(path))
    monkeypatch.setattr(interpreters, "blocked", lambda paths, user: "no" if "root" in str(paths[0]) else "")
    monkeypatch.setattr(interpreters.Path, "is_file", lambda self: True)
    best, rejected = interpreters.choose([*known, "/a/shim"], NEEDS, "sglang", need_venv)
    return best.path if best else "", rejected


def test_the_proven_python_goes_before_a_newer_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert choose(monkeypatch, python("/a", 3, 10, 1), python("/b", 3, 12, 1), python("/c", 3, 11, 9))[0] == "/c"


def test_else_the_newest_in_the_range_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    found = (python("/a", 3, 10, 1), python("/b", 3, 12, 1), python("/c", 3, 13, 0), python("/d", 3, 9, 9))
    best, rejected = choose(monkeypatch, *found)
    assert best == "/b"
    assert rejected == ["/c (3.13.0): newer than 3.12", "/d (3.9.9): older than 3.10"]


def test_among_equals_the_first_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    assert choose(monkeypatch, python("/a", 3, 11, 1), python("/b", 3, 11, 9))[0] == "/a"


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (python("/root/x", 3, 11, 1), "out of reach for sglang"),
        (python("/opt/x", 3, 11, 1, venv=False), "venv"),
        (python("/opt/x", 3, 11, 1, headers=False), "Python.h"),
        (python("/opt/x", 3, 11, 1, implementation="PyPy"), "PyPy"),
        (python("/opt/x", 3, 11, 1, bits=32), "32 bits"),
    ],
)
def test_what_will_not_do_is_rejected_with_its_reason(
    monkeypatch: pytest.MonkeyPatch, bad: interpreters.Interpreter, said: str
) -> None:
    best, rejected = choose(monkeypatch, bad, need_venv=True)
    assert best == ""
    assert said in rejected[0]


def test_what_the_distributions_python_lacks_can_be_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    bare = python("/usr/bin/python3.11", 3, 11, 2, venv=False, headers=False)
    assert choose(monkeypatch, bare, need_venv=True)[0] == "/usr/bin/python3.11"
    assert choose(monkeypatch, bare, python("/opt/x", 3, 10, 2), need_venv=True)[0] == "/opt/x"

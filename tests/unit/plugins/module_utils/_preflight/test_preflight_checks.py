# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The whole check, against this machine with single parts replaced."""

from __future__ import annotations

import getpass
import json
import sys
import typing as t
from pathlib import Path

import pytest
from ansible_collections.inferops.blackwell.plugins.module_utils._preflight import (
    check_devices,
    devices,
    host,
    interpreters,
    packages,
    ports,
)
from ansible_collections.inferops.blackwell.plugins.module_utils._preflight.checks import look as look_at
from ansible_collections.inferops.blackwell.plugins.module_utils._preflight.context import Context

GIB = 1024**3
UNIT = "sglang@main.service"
# Any file that exists; what it says of itself is made up.
PYTHON = sys.executable


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    return tmp_path / "prefix"


@pytest.fixture(autouse=True)
def calm(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host on which nothing is wrong, whatever machine runs the tests."""
    found = interpreters.Interpreter(PYTHON, (3, 11, 2), "CPython", 64, True, True, "/usr/lib/python3.11")
    monkeypatch.setattr(interpreters, "candidates", lambda: [PYTHON])
    monkeypatch.setattr(interpreters, "probe", lambda path, resolve=True: found)
    monkeypatch.setattr(interpreters, "blocked", lambda paths, user: "")
    monkeypatch.setattr(interpreters, "current_user", lambda: getpass.getuser())
    monkeypatch.setattr(packages, "lacking", lambda *arguments: [])
    monkeypatch.setattr(check_devices, "loader_finds", lambda name: True)
    monkeypatch.setattr(host, "memory_bytes", lambda: 64 * GIB)
    monkeypatch.setattr(host, "disk_free_bytes", lambda path: 100 * GIB)
    monkeypatch.setattr(host, "glibc", lambda: "2.36")
    monkeypatch.setattr(ports, "listeners", lambda port: [])


def look(prefix: Path, plan: dict[str, t.Any] | None = None, **settings: t.Any) -> Context:
    base = {
        "sglang_prefix": str(prefix),
        "sglang_user": getpass.getuser(),
        "sglang_device": "cpu",
        "sglang_version": "0.5.9",
        "sglang_method": "sdist",
        "cuda_method": "wheel",
        "cuda_version": "13.0.2",
        "cuda_compute_capabilities": ["12.0"],
        "model_method": "tiny",
        "server_port": 30000,
        "server_name": "main",
        "threshold_patch_batch_threshold": 8,
    }
    return look_at({**base, **settings}, plan or {"mechanism": "patch", "reason": ""}, 15 * GIB, 6 * GIB)


def wrong(prefix: Path, plan: dict[str, t.Any] | None = None, **settings: t.Any) -> list[str]:
    return [f"{found.where}: {found.what}" for found in look(prefix, plan, **settings).findings.problems]


def test_a_good_host_has_no_problem_and_says_what_it_is(prefix: Path) -> None:
    preflight = look(prefix)
    assert preflight.findings.problems == []
    assert preflight.findings.warnings == []
    assert preflight.facts["python"] == PYTHON
    assert preflight.facts["python_version"] == "3.11.2"
    assert preflight.facts["libcuda"] == "loader"
    assert {"os", "glibc", "memory_bytes", "disk_free_bytes", "gpus", "service_manager"} <= set(preflight.facts)
    assert not prefix.exists()


def test_bad_threshold_stands_together_with_everything_else(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "memory_bytes", lambda: 2 * GIB)
    monkeypatch.setattr(host, "disk_free_bytes", lambda path: 3 * GIB)
    problems = wrong(
        prefix, threshold_patch_batch_threshold="eight", sglang_method="x", model_method="path", model_path="/no"
    )
    assert [problem.split(":")[0] for problem in problems] == [
        "sglang_method",
        "memory",
        "sglang_prefix",
        "threshold_patch_batch_threshold",
        "model_path",
    ]


def test_a_built_release_needs_hardly_any_space(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "disk_free_bytes", lambda path: 3 * GIB)
    assert "3.0 GiB are free" in wrong(prefix)[0]
    release = prefix / "releases/0.5.9-pristine/release.json"
    release.parent.mkdir(parents=True)
    release.write_text(json.dumps({"version": "0.5.8"}))
    assert wrong(prefix) != []
    release.write_text(json.dumps({"version": "0.5.9"}))
    assert wrong(prefix) == []


@pytest.mark.parametrize(
    ("libc", "version", "fine"), [("2.31", "0.5.9", True), ("2.31", "0.5.11", False), ("", "0.5.9", False)]
)
def test_glibc_must_carry_the_wheels(
    prefix: Path, monkeypatch: pytest.MonkeyPatch, libc: str, version: str, fine: bool
) -> None:
    monkeypatch.setattr(host, "glibc", lambda: libc)
    assert (
        any("C library" in problem for problem in wrong(prefix, sglang_version=version, sglang_method="wheel"))
        is not fine
    )


def test_a_refused_version_is_a_problem_unless_the_patch_is_not_wanted(prefix: Path) -> None:
    plan = {"mechanism": "refused", "reason": "no recipe has been proven on it"}
    (problem,) = wrong(prefix, plan, sglang_version="0.5.8")
    assert problem == "sglang_version: 0.5.8 cannot get the threshold: no recipe has been proven on it"
    assert wrong(prefix, plan, sglang_version="0.5.8", threshold_patch_state="absent") == []


def test_native_versions_are_fine(prefix: Path) -> None:
    assert wrong(prefix, {"mechanism": "native", "reason": ""}, sglang_version="0.5.14", sglang_method="wheel") == []


def test_a_source_archive_that_no_index_has_is_a_problem(prefix: Path, tmp_path: Path) -> None:
    assert any("no source archive" in problem for problem in wrong(prefix, sglang_version="0.5.14"))
    assert not any("no source archive" in p for p in wrong(prefix, sglang_version="0.5.14", sglang_sdist=str(tmp_path)))


def test_no_suitable_python_lists_what_was_seen(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = interpreters.Interpreter("/usr/bin/python3.9", (3, 9, 2), "CPython", 64, True, True, "/usr/lib/python3.9")
    monkeypatch.setattr(interpreters, "probe", lambda path, resolve=True: old)
    (problem,) = wrong(prefix)
    assert "sglang_python: no suitable Python for SGLang 0.5.9 was found" in problem
    assert f"{PYTHON} (3.9.2): older than 3.10" in problem


def test_what_is_lacking_is_a_problem_only_where_it_cannot_be_installed(
    prefix: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packages, "lacking", lambda *arguments: [packages.COMPILER, packages.LIBNUMA])
    monkeypatch.setattr(packages, "manager", lambda: "apt")
    monkeypatch.setattr(packages, "can_install", lambda: True)
    preflight = look(prefix)
    assert preflight.findings.problems == []
    assert preflight.facts["packages"] == ["g++", "libnuma1"]
    monkeypatch.setattr(packages, "can_install", lambda: False)
    findings = look(prefix).findings
    assert len(findings.problems) == 2
    assert findings.problems[0].remedy == "As root: apt-get install g++ libnuma1"


def test_packages_have_the_names_of_the_package_manager(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "manager", lambda: "dnf")
    assert packages.install_command([packages.COMPILER, packages.LIBNUMA]) == "dnf install gcc-c++ numactl-libs"


@pytest.mark.parametrize(("pid", "said"), [(42, "by nginx (pid 42, user www-data)"), (0, "(user www-data)")])
def test_a_taken_port_names_its_owner(prefix: Path, monkeypatch: pytest.MonkeyPatch, pid: int, said: str) -> None:
    monkeypatch.setattr(ports, "listeners", lambda port: [ports.Listener("127.0.0.1", 33, "1")])
    monkeypatch.setattr(ports, "owner_of", lambda listener: ports.Owner(pid, "nginx", "www-data"))
    monkeypatch.setattr(ports, "is_ours", lambda pid, prefix, unit: False)
    (problem,) = wrong(prefix)
    assert problem.startswith("server_port: port 30000 is taken on 127.0.0.1 by ")
    assert said in problem


def test_our_own_server_may_hold_the_port(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "listeners", lambda port: [ports.Listener("127.0.0.1", 33, "1")])
    monkeypatch.setattr(ports, "owner_of", lambda listener: ports.Owner(42, "python", "sglang"))
    seen = []
    monkeypatch.setattr(ports, "is_ours", lambda *arguments: seen.append(arguments) or True)
    assert wrong(prefix) == []
    assert seen == [(42, str(prefix), UNIT)]


def test_our_own_server_may_hold_the_port_also_where_root_may_not_see_its_files(
    prefix: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ports, "listeners", lambda port: [ports.Listener("127.0.0.1", 33, "1")])
    monkeypatch.setattr(ports, "owner_of", lambda listener: ports.Owner(0, "", "sglang"))
    monkeypatch.setattr(ports, "account_runs_ours", lambda *arguments: arguments == (33, str(prefix), UNIT))
    assert wrong(prefix) == []


def test_systemd_must_run_where_it_is_asked_for(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "service_manager", lambda: "supervisor")
    assert [problem.split(":")[0] for problem in wrong(prefix, server_manager="systemd")] == ["server_manager"]
    assert wrong(prefix, server_manager="auto") == []
    monkeypatch.setattr(host, "service_manager", lambda: "systemd")
    assert wrong(prefix, server_manager="systemd") == []


@pytest.mark.parametrize("name", ["speculative-draft-model-path", "speculative_draft_model_path"])
def test_a_draft_model_must_be_there_but_needs_no_tokenizer(
    prefix: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (problem,) = wrong(prefix, server_arguments={name: str(tmp_path / "draft")})
    assert problem == f"server_arguments: speculative-draft-model-path is {tmp_path}/draft: it does not exist"
    draft = tmp_path / "draft"
    draft.mkdir()
    (draft / "config.json").write_text("{}")
    (draft / "model.bin").write_text("x")
    assert wrong(prefix, server_arguments={name: str(draft)}) == []
    assert wrong(prefix, server_arguments={name: "organisation/draft"}) == []


def test_a_listener_on_another_address_is_none_of_our_business(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "listeners", lambda port: [ports.Listener("10.0.0.9", 33, "1")])
    assert wrong(prefix, server_host="127.0.0.1") == []


def gpu(capability: str = "12.0", index: int = 0) -> dict[str, t.Any]:
    return {"index": index, "model": "NVIDIA RTX PRO 6000 Blackwell Server Edition", "compute_capability": capability}


@pytest.mark.parametrize(
    ("driver", "settings", "where"),
    [
        (devices.Driver("580.126.09", [gpu()], ""), {"cuda_method": "existing"}, ""),
        (devices.Driver("", [], "nvidia-smi is not in PATH"), {}, "sglang_device"),
        (devices.Driver("580.126.09", [gpu("10.0")], ""), {}, "cuda_compute_capabilities"),
        (devices.Driver("570.172.08", [gpu()], ""), {}, "NVIDIA driver"),
        (devices.Driver("570.172.08", [gpu()], ""), {"cuda_method": "none"}, ""),
        (devices.Driver("570.80.00", [gpu()], ""), {"cuda_method": "none"}, "NVIDIA driver"),
        (
            devices.Driver("570.80.00", [gpu("9.0")], ""),
            {"cuda_method": "none", "cuda_compute_capabilities": ["9.0"]},
            "",
        ),
        (
            devices.Driver("575.57.08", [gpu()], ""),
            {"cuda_method": "none", "sglang_version": "0.5.23", "sglang_method": "wheel"},
            "NVIDIA driver",
        ),
    ],
)
def test_driver_and_gpus_must_fit(
    prefix: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    driver: devices.Driver,
    settings: dict[str, t.Any],
    where: str,
) -> None:
    monkeypatch.setattr(devices, "ask_driver", lambda: driver)
    nvcc = tmp_path / "cuda/bin/nvcc"
    nvcc.parent.mkdir(parents=True)
    nvcc.touch(mode=0o755)
    problems = look(prefix, sglang_device="cuda", cuda_home=str(tmp_path / "cuda"), **settings).findings.problems
    assert [found.where for found in problems] == ([where] if where else [])


def test_a_toolkit_of_another_major_than_torch_warns(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "ask_driver", lambda: devices.Driver("580.126.09", [gpu()], ""))
    assert [found.where for found in look(prefix, sglang_device="cuda").findings.warnings] == ["cuda_version"]
    assert look(prefix, sglang_device="cuda", sglang_version="0.5.14", sglang_method="wheel").findings.warnings == []


@pytest.mark.parametrize("version", ["12.8.1", "12.9"])
def test_wheels_without_a_compiler_are_a_problem(prefix: Path, version: str) -> None:
    assert wrong(prefix, cuda_version=version) == [
        f"cuda_version: is {version}, and the package index has nvcc only from 13.0 on"
    ]


def test_an_existing_toolkit_must_exist(prefix: Path, tmp_path: Path) -> None:
    assert wrong(prefix, cuda_method="existing", cuda_home=str(tmp_path)) == [
        f"cuda_home: {tmp_path}/bin/nvcc does not exist"
    ]


def test_libcuda_in_the_prefix_is_found(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_devices, "loader_finds", lambda name: False)
    assert look(prefix).facts["libcuda"] == ""
    folder = prefix / "lib/libcuda/usr/lib/nvidia"
    folder.mkdir(parents=True)
    (folder / "libcuda.so.1").touch()
    assert look(prefix).facts["libcuda"] == str(folder)


def test_values_of_the_wrong_kind_never_crash_the_check(prefix: Path) -> None:
    names = ["sglang_prefix", "sglang_user", "sglang_version", "cuda_version", "cuda_home", "model_path", "server_port"]
    for value in (None, True, 3, 1.5, [], {}, "", "\0", "ß" * 300):
        for name in [*names, "threshold_patch_batch_threshold", "server_arguments", "cuda_compute_capabilities"]:
            look(prefix, model_method="path", **{name: value})


def test_a_real_interpreter_answers_and_a_shim_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    found = interpreters.probe(sys.executable)
    assert found is not None
    assert found.version == sys.version_info[:3]
    assert found.path == getattr(sys, "_base_executable", sys.executable)
    shim = tmp_path / "python3"
    shim.write_text("#!/bin/sh\necho 'python3: command not found' >&2\nexit 127\n")
    shim.chmod(0o755)
    assert interpreters.probe(str(shim)) is None

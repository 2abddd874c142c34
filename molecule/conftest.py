# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the testinfra tests of all scenarios share."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests" / "bed"), str(ROOT / "molecule" / "shared")]

import downloads  # noqa: E402

# Versions of the two archives differ in this one file: setuptools_scm writes the commit into the sdist's.
BUILD_FILE = "sglang/_version.py"


def record_of_the_wheel() -> dict[str, str]:
    """Path to sha256 of every file of the package, as the wheel's RECORD states them."""
    with zipfile.ZipFile(downloads.archive("wheel")) as wheel:
        name = next(name for name in wheel.namelist() if name.endswith(".dist-info/RECORD"))
        rows = csv.reader(io.StringIO(wheel.read(name).decode()))
        return {
            path: base64.urlsafe_b64decode(digest.removeprefix("sha256=") + "=").hex()
            for path, digest, _size in rows
            if path.startswith("sglang/")
        }


def record_for_the_sdist() -> dict[str, str]:
    """The wheel's RECORD, with the one file that the sdist has otherwise."""
    with tarfile.open(downloads.archive("sdist")) as sdist:
        member = next(member for member in sdist.getmembers() if member.name.endswith(f"/{BUILD_FILE}"))
        content = sdist.extractfile(member)
        assert content is not None
        return {**record_of_the_wheel(), BUILD_FILE: hashlib.sha256(content.read()).hexdigest()}


@pytest.fixture(scope="session")
def records() -> dict[str, dict[str, str]]:
    """`wheel` and `sdist`: sha256 of every file of the pristine package."""
    return {"wheel": record_of_the_wheel(), "sdist": record_for_the_sdist()}


@pytest.fixture(scope="module")
def variables(host: Any) -> dict[str, Any]:
    return dict(host.ansible.get_variables())


@pytest.fixture(scope="module")
def hashes(host: Any) -> Callable[[str], dict[str, str]]:
    """sha256 of every file of the package `sglang` below a root, bytecode aside."""

    def of(root: str) -> dict[str, str]:
        found = host.check_output("cd %s && find sglang -type f ! -name '*.pyc' -exec sha256sum {} +", root)
        return {path: digest for digest, path in (line.split(None, 1) for line in found.splitlines())}

    return of


@pytest.fixture(scope="module")
def unlike_record(
    hashes: Callable[[str], dict[str, str]], variables: dict[str, Any], records: Any
) -> Callable[..., Any]:
    """Paths of the package that are changed, missing or additional, compared with the pristine archive."""

    def below(root: str) -> set[str]:
        pristine = records[variables["archive"]]
        return {path for path, _digest in set(hashes(root).items()) ^ set(pristine.items())}

    return below


def inventory() -> dict[str, str]:
    """Environment in which Ansible knows the hosts of the running scenario."""
    directory = Path(os.environ["MOLECULE_INVENTORY_FILE"]).parent
    return {**os.environ, "ANSIBLE_INVENTORY": str(directory), "ANSIBLE_NOCOLOR": "1"}


@pytest.fixture(scope="module")
def module(host: Any, tmp_path_factory: Any) -> Callable[..., dict[str, Any]]:
    """Run one module of the collection on the host, as a play would, and give its result, `failed` always with it."""

    def call(name: str, /, **arguments: Any) -> dict[str, Any]:
        hostname, results = host.backend.get_hostname(), tmp_path_factory.mktemp(name)
        argv = ["ansible", hostname, "--become", f"--tree={results}", f"--module-name=inferops.blackwell.{name}"]
        done = subprocess.run([*argv, "--args", json.dumps(arguments)], env=inventory(), capture_output=True, text=True)
        result = results / hostname
        assert result.is_file(), done.stdout + done.stderr
        return {**json.loads(result.read_text()), "failed": done.returncode != 0}

    return call


@pytest.fixture(scope="module")
def playbook(host: Any) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run a playbook of the collection against this host only, the way a user does, whatever comes of it."""

    def run(name: str, /, **extra: str) -> subprocess.CompletedProcess[str]:
        variables = [f"--extra-vars={key}={value}" for key, value in extra.items()]
        return subprocess.run(
            ["ansible-playbook", f"inferops.blackwell.{name}", "--limit", host.backend.get_hostname(), *variables],
            env=inventory(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    return run


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Beside a failure stands what the services on the host had to say."""
    report = yield
    if report.when == "call" and report.failed and "host" in getattr(item, "funcargs", {}):
        journal = item.funcargs["host"].run("journalctl --no-pager --lines 60 --output cat --unit 'sglang@*'")
        report.sections.append(("journal of the server", journal.stdout))
    return report

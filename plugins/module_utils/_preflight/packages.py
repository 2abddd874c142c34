# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs and libraries that the roles need from the distribution, and the packages that bring them.

Where the play is root and the package manager is known, role `cuda` installs them; elsewhere they are a problem with
the command to run. Why each is needed, seen on SGLang 0.5.9: torch compiles C++ that includes Python.h at the first
request, on a CPU too; nvcc and flashinfer call g++; sgl-kernel links libnuma.so.1.
"""

from __future__ import annotations

import os
import shutil
import typing as t

from ansible_collections.inferops.blackwell.plugins.module_utils._loader import loader_finds
from ansible_collections.inferops.blackwell.plugins.module_utils._preflight.interpreters import Interpreter
from ansible_collections.inferops.blackwell.plugins.module_utils._preflight.versions import dotted


class Package(t.NamedTuple):
    """What is lacking, why it is needed, and the package's name for apt and dnf."""

    lacking: str
    reason: str
    apt: str
    dnf: str


COMPILER = Package("a C++ compiler (g++)", "torch, flashinfer and nvcc call it while SGLang runs", "g++", "gcc-c++")
LIBNUMA = Package("libnuma.so.1", "SGLang's kernels link it", "libnuma1", "numactl-libs")
GIT = Package("git", "sglang_method is git", "git", "git")


def manager() -> str:
    """`apt`, `dnf`, or empty where neither is there."""
    return "apt" if shutil.which("apt-get") else "dnf" if shutil.which("dnf") else ""


def can_install() -> bool:
    return os.geteuid() == 0 and bool(manager())


def is_system_python(found: Interpreter) -> bool:
    """Whether the distribution's packages belong to this interpreter."""
    return os.path.realpath(found.path).startswith("/usr/bin/")


def python_packages(found: Interpreter | None, need_venv: bool) -> list[Package]:
    """What the distribution's own Python comes without unless asked."""
    if found is None or not is_system_python(found):
        return []
    minor = dotted(found.version[:2])
    lacking = []
    if not found.headers:
        reason = "torch compiles against it while SGLang runs"
        lacking.append(Package(f"Python.h of {found.path}", reason, f"python{minor}-dev", f"python{minor}-devel"))
    if need_venv and not found.venv:
        reason = "the environment of a release is made with it, and no uv was found"
        lacking.append(Package(f"module venv of {found.path}", reason, f"python{minor}-venv", f"python{minor}"))
    return lacking


def lacking(found: Interpreter | None, need_venv: bool, need_git: bool) -> list[Package]:
    """Everything that is not there."""
    packages = python_packages(found, need_venv)
    if not (shutil.which("g++") or shutil.which("c++")):
        packages.append(COMPILER)
    if not loader_finds("libnuma.so.1"):
        packages.append(LIBNUMA)
    if need_git and not shutil.which("git"):
        packages.append(GIT)
    return packages


def names(packages: t.Sequence[Package]) -> list[str]:
    """The packages' names for this host's package manager."""
    return [package.dnf if manager() == "dnf" else package.apt for package in packages]


def install_command(packages: t.Sequence[Package]) -> str:
    tool = "dnf" if manager() == "dnf" else "apt-get"
    return f"{tool} install {' '.join(names(packages))}"

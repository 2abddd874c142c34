# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Python that a release is made with."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import subprocess
import sys
import typing as t
from pathlib import Path

from ansible_collections.inferops.blackwell.plugins.module_utils._preflight.access import blocked
from ansible_collections.inferops.blackwell.plugins.module_utils._preflight.versions import Needs, dotted

# Runs in each candidate, whatever its version. Of a virtual environment the interpreter below it is wanted: an
# environment made of an environment breaks with it.
_PROBE = """
import importlib.util, json, os, platform, sys, sysconfig
print(json.dumps({
    "path": RESOLVE and getattr(sys, "_base_executable", None) or sys.executable,
    "version": list(sys.version_info[:3]),
    "implementation": platform.python_implementation(),
    "bits": 64 if sys.maxsize > 2**32 else 32,
    "venv": all(importlib.util.find_spec(name) for name in ("venv", "ensurepip")),
    "headers": os.path.isfile(os.path.join(sysconfig.get_path("include"), "Python.h")),
    "library": sysconfig.get_path("stdlib"),
}))
"""
_PLACES = (
    "/usr/bin/python3*",
    "/usr/local/bin/python3*",
    "/opt/python*/bin/python3",
    "~/.local/share/uv/python/*/bin/python3",
    "~/.pyenv/versions/*/bin/python3",
)


class Interpreter(t.NamedTuple):
    path: str
    version: tuple[int, ...]
    implementation: str
    bits: int
    venv: bool
    headers: bool
    library: str


def current_user() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


def probe(path: str, resolve: bool = True) -> Interpreter | None:
    """Ask an interpreter about itself; None when it does not answer (a version manager's shim, a broken link).

    `resolve`: of a virtual environment's interpreter name the one below it.
    """
    program = f"RESOLVE = {resolve}\n{_PROBE}"
    try:
        done = subprocess.run(
            [path, "-I", "-c", program],
            capture_output=True,
            text=True,
            check=True,
            timeout=30,
            stdin=subprocess.DEVNULL,
        )
        found = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return Interpreter(**{**found, "version": tuple(found["version"])})


def candidates() -> list[str]:
    """Paths worth asking: PATH, the usual places, and the interpreter that runs this."""
    named = [shutil.which(f"python3.{minor}") for minor in range(20, 8, -1)]
    paths = [sys.executable, shutil.which("python3"), *named]
    for pattern in _PLACES:
        paths += sorted(str(path) for path in Path("/").glob(str(Path(pattern).expanduser()).lstrip("/")))
    seen: dict[str, str] = {}
    for path in paths:
        if path and "config" not in Path(path).name and os.access(path, os.X_OK):
            seen.setdefault(os.path.realpath(path), path)
    return list(seen.values())


def unsuitable(found: Interpreter, needs: Needs, user: str, need_venv: bool, installable: bool) -> str:
    """Why an interpreter will not do, empty when it will.

    `installable`: what the distribution's Python lacks can be installed, by us or with the command we name.
    """
    minor = found.version[:2]
    if minor < needs.python_oldest:
        return f"older than {dotted(needs.python_oldest)}"
    if minor > needs.python_newest:
        return f"newer than {dotted(needs.python_newest)}"
    if found.implementation != "CPython" or found.bits != 64:
        return f"{found.implementation}, {found.bits} bits: the wheels are for CPython, 64 bits"
    if not installable and need_venv and not found.venv:
        return "without the modules venv and ensurepip, and no uv was found"
    if not installable and not found.headers:
        return "without Python.h, which torch compiles against while SGLang runs"
    if not Path(found.path).is_file():
        return "its executable is gone"
    why = blocked([Path(os.path.realpath(found.path)), Path(found.library)], user)
    return f"out of reach for {user}: {why}" if why else ""


def choose(paths: t.Iterable[str], needs: Needs, user: str, need_venv: bool) -> tuple[Interpreter | None, list[str]]:
    """The best interpreter that will do, and why the others will not. Among equals the first one is taken."""
    best: Interpreter | None = None
    rejected: list[str] = []
    for path in paths:
        found = probe(path)
        if found is None:
            continue
        distribution = os.path.realpath(found.path).startswith("/usr/bin/")
        why = unsuitable(found, needs, user, need_venv, installable=distribution)
        if why:
            rejected.append(f"{path} ({dotted(found.version)}): {why}")
        elif best is None or _rank(found, needs, need_venv) > _rank(best, needs, need_venv):
            best = found
    return best, rejected


def _rank(found: Interpreter, needs: Needs, need_venv: bool) -> tuple[bool, bool, tuple[int, ...]]:
    """What is complete goes before what must be completed first, then the version that was proven, then the newest."""
    complete = found.headers and (found.venv or not need_venv)
    return (complete, found.version[:2] == needs.python_proven, found.version[:2])

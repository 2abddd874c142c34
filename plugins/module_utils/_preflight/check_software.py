# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs: Python, uv, SGLang itself, and whether the threshold makes sense."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from ansible_collections.inferops.blackwell.plugins.module_utils._preflight import interpreters, packages, threshold
from ansible_collections.inferops.blackwell.plugins.module_utils._preflight.context import Context
from ansible_collections.inferops.blackwell.plugins.module_utils._preflight.versions import dotted


def check_python(context: Context) -> None:
    uv = _uv(context)
    need_venv = not uv and (context.text("cuda_method") == "wheel" or context.text("sglang_method") != "existing")
    chosen = _python(context, need_venv)
    context.facts.update(
        uv=uv,
        python=chosen.path if chosen else "",
        python_version=dotted(chosen.version) if chosen else "",
    )
    missing = packages.lacking(chosen, need_venv, context.text("sglang_method") == "git")
    install = packages.can_install()
    context.facts["packages"] = packages.names(missing) if install else []
    for package in [] if install else missing:
        context.findings.problem(
            f"{package.lacking} is missing: {package.reason}",
            "programs and libraries",
            f"As root: {packages.install_command(missing)}",
        )


def _uv(context: Context) -> str:
    """uv as role sglang would find it."""
    given = context.text("sglang_uv")
    installer = context.text("sglang_installer")
    if installer == "pip":
        return ""
    found = given if given and os.access(given, os.X_OK) else "" if given else shutil.which("uv") or ""
    if given and not found:
        context.findings.problem(f"{given} is no program", "sglang_uv", "Give the path of uv, or leave it empty")
    elif installer == "uv" and not found:
        context.findings.problem(
            "is uv, but there is no uv in PATH", "sglang_installer", "Install uv, set sglang_uv, or use auto or pip"
        )
    return found


def _python(context: Context, need_venv: bool) -> interpreters.Interpreter | None:
    existing = context.text("sglang_method") == "existing"
    name = "sglang_existing_python" if existing else "sglang_python"
    given = context.text(name)
    user = context.text("sglang_user")
    if given:
        found = interpreters.probe(given, resolve=not existing)
        why = "it does not run as a Python" if found is None else ""
        if found is not None and not existing:
            why = interpreters.unsuitable(found, context.needs, user, need_venv, installable=True)
        if why:
            context.findings.problem(
                f"{given} will not do: {why}", name, f"Give a CPython {_python_range(context)}, or leave it empty"
            )
            return None
        return found
    chosen, rejected = interpreters.choose(interpreters.candidates(), context.needs, user, need_venv)
    if chosen is None:
        context.findings.problem(
            f"no suitable Python for SGLang {context.text('sglang_version')} was found "
            f"(seen: {'; '.join(rejected) or 'none'})",
            name,
            f"Install a CPython {_python_range(context)} that {user} may read, or give its path",
        )
    return chosen


def _python_range(context: Context) -> str:
    return f"from {dotted(context.needs.python_oldest)} to {dotted(context.needs.python_newest)}"


def check_sglang(context: Context) -> None:
    method, version = context.text("sglang_method"), context.text("sglang_version")
    archive = context.text("sglang_sdist")
    if method == "sdist" and not archive and not context.needs.source_archive:
        context.findings.problem(
            f"is sdist, and the package index has no source archive of SGLang {version}",
            "sglang_method",
            "Use git or wheel, or give an archive in sglang_sdist",
        )
    for name in ("sglang_sdist", "sglang_wheel", "sglang_constraints", "sglang_wheelhouse"):
        if context.text(name) and not Path(context.text(name)).exists():
            context.findings.problem(
                f"{context.text(name)} does not exist", name, "Copy it to the host, or leave it empty"
            )
    if method in {"git", "sdist"} and context.needs.rust:
        missing = [tool for tool in ("cargo", "protoc") if not shutil.which(tool)]
        if missing:
            context.findings.problem(
                f"is {method}, but {' and '.join(missing)} is not in PATH; SGLang {version} builds Rust code",
                "sglang_method",
                "Install them (rustc 1.92 or newer, protobuf-compiler), or use wheel",
            )
    if method == "existing":
        root = context.text("sglang_existing_root")
        if not root or not (Path(root) / "sglang").is_dir():
            context.findings.problem(
                f"is {root!r}, where no package sglang lies",
                "sglang_existing_root",
                "Give the directory that holds the package sglang, for instance .../python or .../site-packages",
            )
    if context.text("threshold_patch_state") == "present" and context.plan.get("mechanism") == "refused":
        context.findings.problem(
            f"{version} cannot get the threshold: {context.plan.get('reason')}",
            "sglang_version",
            "Choose another version, or set threshold_patch_state to absent to run it without the threshold",
        )


def check_threshold(context: Context) -> None:
    if threshold.VARIABLE not in context.settings:
        return
    number = threshold.check_value(context.settings[threshold.VARIABLE], context.findings)
    arguments, environment = context.settings.get("server_arguments"), context.settings.get("server_environment")
    if number is None or context.text("threshold_patch_state") != "present":
        return
    threshold.check_effect(
        number,
        arguments if isinstance(arguments, dict) else {},
        environment if isinstance(environment, dict) else {},
        context.text("sglang_version"),
        context.findings,
    )

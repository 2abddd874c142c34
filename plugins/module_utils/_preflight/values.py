# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values that no role could work with, found before any role starts."""

from __future__ import annotations

import re
import typing as t
from pathlib import PurePosixPath

from ansible_collections.inferops.blackwell.plugins.module_utils._preflight.findings import Findings
from ansible_collections.inferops.blackwell.plugins.module_utils._preflight.versions import is_version, numbers

CHOICES: dict[str, tuple[str, ...]] = {
    "sglang_device": ("cuda", "cpu"),
    "sglang_method": ("git", "sdist", "wheel", "existing"),
    "sglang_installer": ("auto", "uv", "pip"),
    "cuda_method": ("wheel", "existing", "none"),
    "model_method": ("path", "tiny"),
    "threshold_patch_state": ("present", "absent"),
    "server_manager": ("auto", "systemd", "supervisor"),
}
# Smallest and largest value.
RANGES: dict[str, tuple[int, int]] = {
    "server_port": (1, 65535),
    "server_timeout_seconds": (1, 86400),
    "sglang_keep_releases": (1, 1000),
    "model_seed": (0, 2**63 - 1),
}
# Names that become parts of paths and units.
NAMES: dict[str, str] = {
    "sglang_user": r"[a-z_][a-z0-9_.-]{0,31}",
    "server_name": r"[a-z0-9][a-z0-9-]{0,63}",
}
DICTIONARIES = ("server_arguments", "server_environment")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_CAPABILITY = re.compile(r"\d{1,2}\.\d")


def integer(value: t.Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    return int(value) if isinstance(value, str) and re.fullmatch(r"-?\d+", value.strip()) else None


def capabilities(value: t.Any) -> list[str] | None:
    """Compute capabilities such as `12.0`, from a list or from `-e cuda_compute_capabilities=12.0,10.3`."""
    items = value.split(",") if isinstance(value, str) else value
    if not isinstance(items, (list, tuple)):
        items = [items]
    texts = [str(item).strip().strip("[]'\" ") for item in items]
    return texts if texts and all(_CAPABILITY.fullmatch(text) for text in texts) else None


def check_choices(settings: t.Mapping[str, t.Any], findings: Findings) -> None:
    for name, allowed in CHOICES.items():
        if name in settings and settings[name] not in allowed:
            findings.problem(f"is {settings[name]!r}", name, f"Use one of {', '.join(allowed)}")


def check_numbers(settings: t.Mapping[str, t.Any], findings: Findings) -> None:
    for name, (lowest, highest) in RANGES.items():
        if name not in settings:
            continue
        number = integer(settings[name])
        if number is None or not lowest <= number <= highest:
            findings.problem(f"is {settings[name]!r}", name, f"Give a whole number from {lowest} to {highest}")


def check_names(settings: t.Mapping[str, t.Any], findings: Findings) -> None:
    for name, pattern in NAMES.items():
        if name in settings and not re.fullmatch(pattern, str(settings[name])):
            findings.problem(f"is {settings[name]!r}", name, "Use lower-case letters, digits and dashes only")


def check_dictionaries(settings: t.Mapping[str, t.Any], findings: Findings) -> None:
    for name in DICTIONARIES:
        if name in settings and not isinstance(settings[name], dict):
            findings.problem(
                f"is no dictionary but {type(settings[name]).__name__}",
                name,
                f"On a command line write it as JSON: -e '{{\"{name}\": {{...}}}}'",
            )


def check_paths(settings: t.Mapping[str, t.Any], findings: Findings) -> None:
    prefix = PurePosixPath(str(settings.get("sglang_prefix") or ""))
    if not prefix.is_absolute() or prefix == PurePosixPath("/"):
        findings.problem(
            f"is {settings.get('sglang_prefix')!r}",
            "sglang_prefix",
            "Give an absolute path, for instance /opt/inferops",
        )
    elif re.search(r"[\s:%'\"$]", str(prefix)):
        findings.problem(
            f"{str(prefix)!r} holds a space, a colon, a quote, a dollar or a percent sign",
            "sglang_prefix",
            "Search paths and units cannot hold it: give a plain path",
        )
    home = str(settings.get("cuda_home") or "")
    if ":" in home:
        findings.problem(
            f"{home!r} holds a colon; compilers that read CUDA_HOME then look in a directory of that name",
            "cuda_home",
            "Give one directory, for instance /usr/local/cuda",
        )


def check_versions(settings: t.Mapping[str, t.Any], findings: Findings) -> None:
    version = str(settings.get("sglang_version", ""))
    if not is_version(version):
        findings.problem(f"is {version!r}", "sglang_version", "Give a released version, for instance 0.5.9")
    commit = str(settings.get("sglang_git_commit") or "")
    if commit and not _COMMIT.fullmatch(commit):
        findings.problem(f"is {commit!r}", "sglang_git_commit", "Give the full commit, 40 hexadecimal digits")
    if settings.get("cuda_method") == "wheel" and len(numbers(str(settings.get("cuda_version", "")))) < 2:
        findings.problem(f"is {settings.get('cuda_version')!r}", "cuda_version", "Give a version, for instance 13.0.2")
    if "cuda_compute_capabilities" in settings and capabilities(settings["cuda_compute_capabilities"]) is None:
        findings.problem(
            f"is {settings['cuda_compute_capabilities']!r}",
            "cuda_compute_capabilities",
            "Give a list such as ['12.0'] (RTX PRO 6000, RTX 50), ['10.0'] (B200) or ['10.3'] (B300)",
        )


def check_values(settings: t.Mapping[str, t.Any], findings: Findings) -> None:
    """Everything that can be said without looking at the host."""
    check_choices(settings, findings)
    check_numbers(settings, findings)
    check_names(settings, findings)
    check_dictionaries(settings, findings)
    check_paths(settings, findings)
    check_versions(settings, findings)

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values that make no sense, and versions."""

from __future__ import annotations

import typing as t

import pytest
from ansible_collections.inferops.blackwell.plugins.module_utils._preflight.findings import Findings
from ansible_collections.inferops.blackwell.plugins.module_utils._preflight.values import (
    CHOICES,
    capabilities,
    check_values,
    integer,
)
from ansible_collections.inferops.blackwell.plugins.module_utils._preflight.versions import (
    NEEDS,
    is_version,
    needs_of,
    numbers,
)

GOOD: dict[str, t.Any] = {
    "sglang_prefix": "/opt/inferops",
    "sglang_user": "sglang",
    "sglang_version": "0.5.9",
    "cuda_method": "wheel",
    "cuda_version": "13.0.2",
    "cuda_compute_capabilities": ["12.0"],
    "server_port": "30000",
    "server_name": "main",
    "server_arguments": {},
}


def wrong(**settings: t.Any) -> list[str]:
    """Where the problems are."""
    findings = Findings()
    check_values({**GOOD, **settings}, findings)
    assert all(found.remedy and found.what for found in findings.problems)
    return [found.where for found in findings.problems]


def test_good_values_pass() -> None:
    assert wrong() == []


@pytest.mark.parametrize("name", list(CHOICES))
def test_each_choice_is_checked_and_its_values_listed(name: str) -> None:
    findings = Findings()
    check_values({**GOOD, name: "nonsense"}, findings)
    (problem,) = findings.problems
    assert problem.where == name
    assert all(choice in problem.remedy for choice in CHOICES[name])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("server_port", 0),
        ("server_port", 65536),
        ("server_port", "http"),
        ("server_port", True),
        ("server_port", None),
        ("sglang_keep_releases", 0),
        ("server_timeout_seconds", -5),
        ("sglang_user", "a b"),
        ("sglang_user", ""),
        ("server_name", "../x"),
        ("server_name", "Main"),
        ("server_arguments", "--tp 8"),
        ("server_environment", ["A=1"]),
        ("sglang_prefix", "opt/inferops"),
        ("sglang_prefix", "/"),
        ("sglang_prefix", ""),
        ("sglang_prefix", None),
        ("sglang_prefix", "/opt/in ferops"),
        ("sglang_prefix", "/opt/a:b"),
        ("cuda_home", ":/usr/local/cuda-12.8"),
        ("sglang_version", "main"),
        ("sglang_version", ""),
        ("sglang_git_commit", "bbe9c7e"),
        ("cuda_version", "latest"),
        ("cuda_compute_capabilities", []),
        ("cuda_compute_capabilities", "sm_120"),
        ("cuda_compute_capabilities", ["120"]),
    ],
)
def test_a_value_without_sense_is_one_problem_at_its_variable(name: str, value: t.Any) -> None:
    assert wrong(**{name: value}) == [name]


def test_all_of_them_are_found_at_once() -> None:
    assert len(wrong(sglang_method="x", server_port="y", sglang_prefix="z", sglang_version="main")) == 4


def test_what_is_not_given_is_not_checked() -> None:
    findings = Findings()
    check_values({"sglang_prefix": "/opt/x", "sglang_version": "0.5.9"}, findings)
    assert findings.problems == []


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (["12.0", "10.3"], ["12.0", "10.3"]),
        ("12.0,10.3", ["12.0", "10.3"]),
        ("12.0", ["12.0"]),
        (12.0, ["12.0"]),
        ([10.3], ["10.3"]),
        ("['12.0']", ["12.0"]),
        (None, None),
    ],
)
def test_capabilities_come_in_many_shapes(value: t.Any, expected: t.Any) -> None:
    assert capabilities(value) == expected


def test_integers_from_the_command_line_are_strings() -> None:
    assert (integer("30000"), integer(" 7 "), integer("7.0"), integer(False)) == (30000, 7, None, None)


def test_drivers_are_compared_as_numbers() -> None:
    assert numbers("580.82.07") < numbers("580.126.09")


@pytest.mark.parametrize("version", ["0.5.9", "0.5.10.post1", "0.5.13rc1", "0.5.10.dev3+gabc"])
def test_versions_of_sglang_are_read(version: str) -> None:
    assert is_version(version)


@pytest.mark.parametrize(
    ("version", "python", "glibc", "archive"),
    [
        ("0.5.4", (3, 10), (2, 28), True),
        ("0.5.9", (3, 10), (2, 28), True),
        ("0.5.10.post1", (3, 10), (2, 28), True),
        ("0.5.11", (3, 10), (2, 34), False),
        ("0.5.22", (3, 10), (2, 34), False),
        ("0.5.23", (3, 11), (2, 34), False),
        ("0.6.0", (3, 11), (2, 34), False),
    ],
)
def test_needs_by_version(version: str, python: tuple[int, ...], glibc: tuple[int, ...], archive: bool) -> None:
    needs = needs_of(version)
    assert (needs.python_oldest, needs.glibc, needs.source_archive) == (python, glibc, archive)


def test_needs_are_in_order_and_the_proven_python_is_inside_the_range() -> None:
    assert [numbers(entry.since) for entry in NEEDS] == sorted(numbers(entry.since) for entry in NEEDS)
    assert all(entry.python_oldest <= entry.python_proven <= entry.python_newest for entry in NEEDS)

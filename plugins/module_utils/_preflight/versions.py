# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What each SGLang needs of a host, as data.

Sources, all read from the packages themselves: `requires-python`; the platform tags of the wheels (pure Python up to
0.5.10.post1, then manylinux_2_34); the kernels' wheels (sgl-kernel 0.3.x and its successors: manylinux2014, glibc
2.17, but torch's are manylinux_2_28); the newest Python for which every exact pin of SGLang has a wheel (outlines-core
0.1.26, pinned by all of them through outlines 0.1.11, ends at 3.12); the last version with a source archive on the
package index; the CUDA that the pinned torch is built for.
"""

from __future__ import annotations

import re
import typing as t

Version = tuple[int, ...]


class Needs(t.NamedTuple):
    """Valid from `since` on, until the next entry."""

    since: str
    python_oldest: Version
    python_newest: Version
    python_proven: Version  # SGLang was served with it by our own tests
    glibc: Version
    source_archive: bool  # on the package index
    rust: bool  # a build from source needs cargo and protoc
    cuda_major: int  # of its torch


NEEDS = (
    Needs("0.5.0", (3, 10), (3, 12), (3, 11), (2, 28), True, False, 12),
    Needs("0.5.11", (3, 10), (3, 12), (3, 11), (2, 34), False, True, 13),
    Needs("0.5.23", (3, 11), (3, 12), (3, 11), (2, 34), False, True, 13),
)

_NUMBER = re.compile(r"\d+(\.\d+)*")
_SGLANG = re.compile(r"\d+\.\d+(\.\d+)?((a|b|rc)\d+)?(\.?post\d+)?(\.dev\d+)?(\+[A-Za-z0-9.]+)?")


def numbers(text: str) -> Version:
    """The leading dotted integers of a version, to compare: 580.82.07 is below 580.126.09."""
    match = _NUMBER.match(text.strip())
    return tuple(int(part) for part in match[0].split(".")) if match else ()


def is_version(text: str) -> bool:
    return _SGLANG.fullmatch(text) is not None


def needs_of(version: str) -> Needs:
    """The entry for a version; an unreadable one gets that of the oldest."""
    wanted = numbers(version)
    found = NEEDS[0]
    for entry in NEEDS:
        if wanted >= numbers(entry.since):
            found = entry
    return found


def dotted(version: t.Sequence[int]) -> str:
    return ".".join(str(number) for number in version)


# The oldest driver that runs code of a CUDA major (NVIDIA's minor version compatibility), and the oldest one with
# which any Blackwell GPU works. NVIDIA's release notes and open-gpu-kernel-modules.
DRIVER_FOR_CUDA: dict[int, str] = {12: "525.60.13", 13: "580.65.06"}
DRIVER_FOR_BLACKWELL = "570.86.15"
# The package index carries nvcc itself from this CUDA on; the older wheels hold ptxas and headers only.
CUDA_WHEELS_SINCE = "13.0"

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wheel and sdist of the SGLang release that the tests patch, each checked by its hash.

python3 tests/bed/downloads.py [wheel] [sdist]      prints one path each, downloads what is missing
"""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path

import bed

LOCK = Path(__file__).with_name("sglang.txt")
KINDS = {
    "wheel": ("sglang-0.5.9-py3-none-any.whl", "--only-binary"),
    "sdist": ("sglang-0.5.9.tar.gz", "--no-binary"),
}


def known(path: Path) -> bool:
    hashes = re.findall(r"sha256:([0-9a-f]{64})", LOCK.read_text())
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() in hashes


def archive(kind: str) -> Path:
    """Path of the archive; pip brings it, from whatever index this machine is set to."""
    name, choice = KINDS[kind]
    path = bed.cache("downloads") / name
    if not known(path):
        bed.say(f"downloading {name}")
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        bed.run(*pip, f"{choice}=sglang", "--require-hashes", "--requirement", LOCK, "--dest", path.parent)
    if not known(path):
        bed.give_up(f"{path} is not the file that {LOCK.name} names")
    return path


if __name__ == "__main__":
    for wanted in sys.argv[1:] or KINDS:
        print(archive(wanted))

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Shared libraries, as the system's loader and a directory have them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def loader_finds(library: str) -> bool:
    """Whether a program that is started plainly, without our own search path, can load a library."""
    environment = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    done = subprocess.run(
        [sys.executable, "-c", "import ctypes, sys; ctypes.CDLL(sys.argv[1])", library],
        env=environment,
        capture_output=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    return done.returncode == 0


def library_below(folder: Path, library: str) -> str:
    """The directory below `folder` that holds a library, empty when there is none."""
    return next((str(path.parent) for path in sorted(folder.rglob(library)) if path.exists()), "")

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the parts of the test bed share: where the cache lies, how commands run and how trouble is told.

Everything that is made once and used again lies below INFEROPS_CACHE (default ~/.cache/inferops):

    docker/      data of the Docker engine that `engine.py` starts, its log and its pid
    images/      base images as tar archives, so that a new engine imports them in seconds
    downloads/   wheel and sdist of SGLang, checked by hash
    mount/       mounted at /opt in containers: uv's cache beside the prefix, so that uv makes hard links
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[2]
LABEL = "org.inferops.bed"


def cache(*parts: str) -> Path:
    """A directory of the cache, made when it is missing."""
    default = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "inferops"
    path = Path(os.environ.get("INFEROPS_CACHE") or default).absolute().joinpath(*parts)
    path.mkdir(parents=True, exist_ok=True)
    return path


def say(message: str) -> None:
    """Progress goes to stderr; stdout is for what the caller asked for."""
    print(f"bed: {message}", file=sys.stderr, flush=True)


def give_up(message: str) -> NoReturn:
    say(message)
    raise SystemExit(1)


def run(*argv: str | Path) -> None:
    """Run a command whose output people want to see while it runs."""
    done = subprocess.run([str(item) for item in argv], stdout=sys.stderr)
    if done.returncode:
        give_up(f"failed with exit status {done.returncode}: {' '.join(map(str, argv))}")


def output(*argv: str | Path) -> str | None:
    """What a command prints, or None when it is not there or fails."""
    try:
        done = subprocess.run([str(item) for item in argv], capture_output=True, text=True)
    except FileNotFoundError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def as_root(argv: Sequence[str | Path]) -> list[str]:
    """The command, through sudo where we are not root; sudo must not ask for a password."""
    if os.geteuid() == 0:
        return [str(item) for item in argv]
    if output("sudo", "-n", "true") is None:
        give_up(f"this needs root and sudo asks for a password; run it once as root: {' '.join(map(str, argv))}")
    return ["sudo", "-n", *(str(item) for item in argv)]

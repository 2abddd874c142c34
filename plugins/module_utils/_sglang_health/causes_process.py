# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reasons that only say how the process ended. They stand last."""

from __future__ import annotations

from ansible_collections.inferops.blackwell.plugins.module_utils._sglang_health.cause import FRAME, Cause, row

PROCESS: tuple[Cause, ...] = (
    # ---- the process -----------------------------------------------------------------------
    row(
        "import_error",
        r"(?:" + FRAME + r"(?:(?! *File )[^\n]*\n){0,3}?)?^(?:ImportError|ModuleNotFoundError): (?P<why>.+)$",
        "an import fails: {why}",
        "The virtual environment does not fit the tree: build the release anew, or roll back.",
    ),
    row(
        "scheduler_killed",
        r"scheduler is dead[^\n]*\n(?:[^\n]*\n){0,6}?[^\n]*Exit code: -(?P<signal>\d+)\s*$",
        "a scheduler process was killed by signal {signal} while the server was starting",
        "Signal 9 is mostly the kernel short of memory (dmesg), 11 a crash in compiled code, 8 a wrong CUDA build.",
    ),
    row(
        "crash",
        r"(?:Fatal Python error: (?P<why>.*)|Segmentation fault|SIGSEGV|SIGFPE|Illegal instruction)",
        "compiled code crashed",
        "Mostly packages of different CUDA or PyTorch versions, or a CPU without the needed instructions.",
    ),
    row(
        "warmup_failed",
        r"Initialization failed\. warmup error: ",
        "the server came up, but its first request failed",
        "The traceback in the log says where; a missing kernel for this GPU shows first here.",
        decisive=True,
    ),
    row(
        "exception",
        FRAME + r"(?:(?! *File )[^\n]*\n){0,4}?^(?P<kind>[A-Za-z_][\w.]*(?:Error|Exception|Interrupt)): ?(?P<why>.*)$",
        "{kind} in {file}, line {line}: {why}",
        "Read the whole traceback in the log.",
    ),
)

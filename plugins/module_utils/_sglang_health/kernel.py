# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the kernel says about killed processes and lost GPUs. Needs the right to read /dev/kmsg; without it: nothing."""

from __future__ import annotations

import contextlib
import os
import re
import time
import typing as t

_KILLED = re.compile(
    r"(?:Out of memory: |Memory cgroup out of memory: )?Killed process (?P<pid>\d+) \((?P<name>[^)]*)\)"
)
_XID = re.compile(r"NVRM: Xid \(PCI:[^)]*\): \d+")


class KernelWords(t.NamedTuple):
    """Lines since a moment: `killed` by pid, `xid` in order."""

    killed: dict[int, str]
    xid: list[str]


def words_since(epoch: float | None) -> KernelWords:
    return sort_out(_lines(), None if epoch is None else epoch - _boot_epoch())


def sort_out(records: t.Iterable[tuple[float, str]], since_boot: float | None) -> KernelWords:
    """`records`: seconds since boot, and text."""
    killed: dict[int, str] = {}
    xid: list[str] = []
    for seconds, text in records:
        if since_boot is not None and seconds < since_boot - 1:
            continue
        match = _KILLED.search(text)
        if match:
            killed[int(match["pid"])] = text
        elif _XID.search(text):
            xid.append(text)
    return KernelWords(killed, xid)


def _boot_epoch() -> float:
    return time.time() - time.clock_gettime(time.CLOCK_MONOTONIC)


def _lines() -> t.Iterator[tuple[float, str]]:
    """Records of /dev/kmsg: `priority,sequence,microseconds,flags;text`, one for each read()."""
    with contextlib.suppress(OSError):
        handle = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
        try:
            while True:
                try:
                    record = os.read(handle, 8192)
                except BlockingIOError:
                    return
                except BrokenPipeError:
                    # Overwritten while we read; the next read goes on with the oldest there is.
                    continue
                head, _semicolon, text = record.decode("utf-8", "replace").partition(";")
                with contextlib.suppress(ValueError, IndexError):
                    yield int(head.split(",")[2]) / 1e6, text.split("\n")[0]
        finally:
            os.close(handle)

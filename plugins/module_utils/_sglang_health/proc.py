# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Processes and listening sockets, as /proc tells them. Nothing here needs root, but root sees more."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import time
import typing as t
from pathlib import Path

_LISTEN = "0A"


class Stat(t.NamedTuple):
    """One process. `exit_status` is what wait() would say of a zombie; 0 where the kernel does not tell."""

    pid: int
    name: str
    state: str
    parent: int
    session: int
    started: float
    exit_status: int

    @property
    def alive(self) -> bool:
        return self.state not in ("Z", "X")


class Listener(t.NamedTuple):
    """Who holds a port. Without the right to look into other accounts' processes there is no pid."""

    address: str
    pid: int | None
    text: str


def stat(pid: int, proc: Path = Path("/proc")) -> Stat | None:
    with contextlib.suppress(OSError, ValueError, IndexError):
        head, _bracket, rest = (proc / str(pid) / "stat").read_text("utf-8", "replace").rpartition(")")
        # `rest` begins with the third field of proc(5).
        fields = rest.split()
        return Stat(
            pid=pid,
            name=head.partition("(")[2],
            state=fields[0],
            parent=int(fields[1]),
            session=int(fields[3]),
            started=int(fields[19]) / os.sysconf("SC_CLK_TCK"),
            exit_status=int(fields[49]),
        )
    return None


def started_at(process: Stat) -> float:
    """Seconds since the epoch. The kernel counts from boot, suspension included."""
    return time.time() - time.clock_gettime(time.CLOCK_BOOTTIME) + process.started


def descendants(pid: int, proc: Path = Path("/proc")) -> list[Stat]:
    """All living and dead children, and their children."""
    by_parent: dict[int, list[Stat]] = {}
    for entry in proc.glob("[0-9]*"):
        found = stat(int(entry.name), proc)
        if found:
            by_parent.setdefault(found.parent, []).append(found)
    result: list[Stat] = []
    todo = [pid]
    while todo:
        children = by_parent.pop(todo.pop(), [])
        result.extend(children)
        todo.extend(child.pid for child in children)
    return result


def command(pid: int, proc: Path = Path("/proc")) -> str:
    """The program and its first argument. The rest may hold a secret."""
    with contextlib.suppress(OSError):
        words = (proc / str(pid) / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")
        return " ".join(word for word in words[:3] if word)
    return ""


def in_cgroup(pid: int, group: str, proc: Path = Path("/proc")) -> bool:
    with contextlib.suppress(OSError):
        lines = (proc / str(pid) / "cgroup").read_text("utf-8", "replace").splitlines()
        return any(f"{line}/".partition(":/")[2].startswith(f"{group.lstrip('/')}/") for line in lines)
    return False


def listener(host: str, port: int, proc: Path = Path("/proc")) -> Listener | None:
    """Who listens where a client of host:port ends up; the exact address goes before a wildcard."""
    wanted = _addresses(host)
    found = [entry for entry in _listening(port, proc) if entry[0] in wanted]
    if not found:
        return None
    address, inode, uid = min(found, key=lambda entry: wanted.index(entry[0]))
    owner = _owner(inode, proc)
    if owner is None:
        return Listener(address, None, f"a process of account {_account(uid)} (only root sees which)")
    known = stat(owner, proc)
    name = known.name if known else "?"
    return Listener(address, owner, f"process {owner} ({name}): {command(owner, proc)}")


def _addresses(host: str) -> list[str]:
    addresses = []
    with contextlib.suppress(OSError):
        addresses = [str(info[4][0]) for info in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)]
    return [*dict.fromkeys(addresses), "0.0.0.0", "::"]  # noqa: S104 - compared with, not bound to


def _listening(port: int, proc: Path) -> t.Iterator[tuple[str, str, int]]:
    """Address, socket inode and owner's uid of every socket that listens on the port."""
    for name in ("tcp", "tcp6"):
        with contextlib.suppress(OSError):
            for line in (proc / "net" / name).read_text().splitlines()[1:]:
                fields = line.split()
                address, _colon, number = fields[1].partition(":")
                if fields[3] == _LISTEN and int(number, 16) == port:
                    yield _readable(address), fields[9], int(fields[7])


def _readable(address: str) -> str:
    """The kernel prints addresses as 32-bit words in the machine's byte order."""
    words = [int(address[at : at + 8], 16) for at in range(0, len(address), 8)]
    packed = b"".join(struct.pack("=I", word) for word in words)
    readable = socket.inet_ntop(socket.AF_INET if len(words) == 1 else socket.AF_INET6, packed)
    return readable[len("::ffff:") :] if readable.startswith("::ffff:") else readable


def _owner(inode: str, proc: Path) -> int | None:
    wanted = f"socket:[{inode}]"
    for entry in proc.glob("[0-9]*"):
        with contextlib.suppress(OSError):
            for descriptor in os.scandir(entry / "fd"):
                with contextlib.suppress(OSError):
                    if os.readlink(descriptor.path) == wanted:  # noqa: PTH115
                        return int(entry.name)
    return None


def _account(uid: int) -> str:
    with contextlib.suppress(ImportError, KeyError):
        import pwd

        return pwd.getpwuid(uid).pw_name
    return str(uid)

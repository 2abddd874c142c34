# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who listens on a TCP port, from /proc alone."""

from __future__ import annotations

import ipaddress
import os
import pwd
import struct
import typing as t
from pathlib import Path

_LISTEN = "0A"


class Listener(t.NamedTuple):
    address: str
    uid: int
    inode: str


class Owner(t.NamedTuple):
    pid: int  # 0 where it may not be seen
    name: str
    user: str


def _address(text: str) -> str:
    """`0100007F` -> 127.0.0.1: words of four bytes, each little-endian."""
    raw = b"".join(struct.pack("<I", int(text[index : index + 8], 16)) for index in range(0, len(text), 8))
    return str(ipaddress.ip_address(raw))


def listeners(port: int, proc: Path = Path("/proc")) -> list[Listener]:
    found = []
    for name in ("tcp", "tcp6"):
        table = proc / "net" / name
        for line in table.read_text(encoding="ascii").splitlines()[1:] if table.is_file() else []:
            fields = line.split()
            address, _, hexadecimal = fields[1].partition(":")
            if fields[3] == _LISTEN and int(hexadecimal, 16) == port:
                found.append(Listener(_address(address), int(fields[7]), fields[9]))
    return found


def collides(wanted: str, address: str) -> bool:
    """Whether a server on `wanted` and a listener on `address` exclude each other."""
    try:
        first, second = ipaddress.ip_address(wanted), ipaddress.ip_address(address)
    except ValueError:  # a name: it may stand for any address
        return True
    if isinstance(second, ipaddress.IPv6Address) and second.ipv4_mapped:
        second = second.ipv4_mapped
    return first == second or first.is_unspecified or second.is_unspecified


def process_of(inode: str, proc: Path = Path("/proc")) -> int:
    """The process that holds the socket; 0 when it may not be seen (another account's, without root)."""
    wanted = f"socket:[{inode}]"
    for folder in proc.glob("[0-9]*"):
        try:
            if any(os.readlink(entry.path) == wanted for entry in os.scandir(folder / "fd")):  # noqa: PTH115
                return int(folder.name)
        except OSError:
            continue
    return 0


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8", "replace")
    except OSError:
        return ""


def command_of(pid: int, proc: Path = Path("/proc")) -> str:
    return " ".join(_read(proc / str(pid) / "cmdline").split("\0")).strip()


def parent_of(pid: int, proc: Path = Path("/proc")) -> int:
    """Field 4 of /proc/PID/stat; the name before it may hold spaces and parentheses."""
    fields = _read(proc / str(pid) / "stat").rpartition(")")[2].split()
    return int(fields[1]) if len(fields) > 1 else 0


def is_ours(pid: int, prefix: str, unit: str, proc: Path = Path("/proc")) -> bool:
    """Whether a process is our server: below the prefix, in our unit, or started by something below the prefix."""
    marks = (f"{prefix.rstrip('/')}/", f"/{unit}")
    while pid > 1:
        folder = proc / str(pid)
        seen = [command_of(pid, proc), _read(folder / "cgroup")]
        for name in ("exe", "cwd"):
            try:
                seen.append(f"{(folder / name).readlink()}/")
            except OSError:
                continue
        if any(mark in text for mark in marks for text in seen):
            return True
        pid = parent_of(pid, proc)
    return False


def account_runs_ours(uid: int, prefix: str, unit: str, proc: Path = Path("/proc")) -> bool:
    """Whether our server is among an account's processes, for sockets whose process may not be seen.

    Root in a container sees command lines and control groups of other accounts, but not what files they hold.
    """
    for folder in proc.glob("[0-9]*"):
        try:
            same = folder.stat().st_uid == uid
        except OSError:
            continue
        if same and is_ours(int(folder.name), prefix, unit, proc):
            return True
    return False


def owner_of(listener: Listener, proc: Path = Path("/proc")) -> Owner:
    pid = process_of(listener.inode, proc)
    try:
        user = pwd.getpwuid(listener.uid).pw_name
    except KeyError:
        user = str(listener.uid)
    return Owner(pid, _read(proc / str(pid) / "comm").strip() if pid else "", user)

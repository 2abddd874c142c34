# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The machine: system, memory, prefix, port."""

from __future__ import annotations

import os
import platform

from ansible_collections.inferops.blackwell.plugins.module_utils._preflight import host, interpreters, ports, values
from ansible_collections.inferops.blackwell.plugins.module_utils._preflight.context import GIB, Context
from ansible_collections.inferops.blackwell.plugins.module_utils._preflight.versions import dotted, numbers

# Left free in any case, for logs and caches.
DISK_RESERVE = 1 * GIB


def check_system(context: Context) -> None:
    system = host.operating_system()
    libc = host.glibc()
    memory = host.memory_bytes()
    context.facts.update(os=system, glibc=libc, memory_bytes=memory, service_manager=host.service_manager())
    if platform.system() != "Linux" or system["architecture"] not in {"x86_64", "aarch64"}:
        context.findings.problem(
            f"{platform.system()} on {system['architecture']}",
            "architecture",
            "SGLang's kernels are built for Linux on x86_64 and aarch64: use such a host",
        )
    if numbers(libc) < context.needs.glibc:
        context.findings.problem(
            f"glibc {libc} is there" if libc else "the C library is not glibc",
            "C library",
            f"The wheels of SGLang {context.text('sglang_version')} and torch need glibc {dotted(context.needs.glibc)} "
            "or newer: use a newer distribution",
        )
    if context.text("server_manager") == "systemd" and context.facts["service_manager"] != "systemd":
        context.findings.problem(
            "is systemd, but systemd does not run here as the init system, or the play is not root",
            "server_manager",
            "Use auto or supervisor, or run with become (inferops_become: true)",
        )
    if memory < context.memory_bytes:
        context.findings.problem(
            f"{memory / GIB:.1f} GiB of {context.memory_bytes / GIB:.1f} GiB",
            "memory",
            "Use a larger machine or container limit, or lower preflight_memory_bytes if you know better",
        )


def check_user_and_prefix(context: Context) -> None:
    root = os.geteuid() == 0
    user = context.text("sglang_user")
    me = interpreters.current_user()
    if not root and user != me:
        context.findings.problem(
            f"is {user}, but the play runs as {me}, who cannot start anything as another account",
            "sglang_user",
            f"Run with become (inferops_become: true), or set sglang_user to {me}",
        )
    if not context.prefix.is_absolute():
        return
    near = host.nearest_existing(context.prefix)
    free = host.disk_free_bytes(near)
    context.facts["disk_free_bytes"] = free
    if not near.is_dir() or not os.access(near, os.W_OK | os.X_OK):
        context.findings.problem(
            f"{near} is not a directory that {me} may write to",
            "sglang_prefix",
            "Run with become (inferops_become: true), or choose a prefix that this account may write to",
        )
    built = host.has_release(context.prefix, context.text("sglang_version"))
    wanted = DISK_RESERVE if built or context.text("sglang_method") == "existing" else context.disk_bytes
    if free < wanted:
        context.findings.problem(
            f"{free / GIB:.1f} GiB are free at {near}, {wanted / GIB:.1f} GiB are needed",
            "sglang_prefix",
            "Make room, choose a prefix on a larger file system, or lower preflight_disk_bytes if you know better",
        )


def check_port(context: Context) -> None:
    port = values.integer(context.settings.get("server_port"))
    if port is None:
        return
    unit = f"sglang@{context.text('server_name')}.service"
    for listener in ports.listeners(port):
        if not ports.collides(context.text("server_host") or "127.0.0.1", listener.address):
            continue
        owner = ports.owner_of(listener)
        if owner.pid and ports.is_ours(owner.pid, str(context.prefix), unit):
            continue
        if not owner.pid and ports.account_runs_ours(listener.uid, str(context.prefix), unit):
            continue
        who = f"{owner.name} (pid {owner.pid}" if owner.pid else "a process that this account may not see ("
        context.findings.problem(
            f"port {port} is taken on {listener.address} by {who}{', ' if owner.pid else ''}user {owner.user})",
            "server_port",
            "Stop that process, or choose another server_port",
        )

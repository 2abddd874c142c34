# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who holds a port, from a made-up /proc and from the real one."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from ansible_collections.inferops.blackwell.plugins.module_utils._preflight.ports import (
    account_runs_ours,
    collides,
    is_ours,
    listeners,
    owner_of,
    parent_of,
)

TABLE = (
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
    "   0: 0100007F:7530 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1001        0 4711 1 0 100 0 0 10 0\n"
    "   1: 0100007F:7530 0100007F:D431 01 00000000:00000000 00:00000000 00000000  1001        0 4712 1 0 100 0 0 10 0\n"
    "   2: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4713 1 0 100 0 0 10 0\n"
)
TABLE6 = (
    "  sl  local_address                         remote_address                        st\n"
    "   0: 00000000000000000000000001000000:7530 00000000000000000000000000000000:0000 0A 00000000:00000000 "
    "00:00000000 00000000     0        0 4714 1 0 100 0 0 10 0\n"
)


def make_proc(root: Path, table6: str = "") -> Path:
    (root / "net").mkdir(parents=True)
    (root / "net/tcp").write_text(TABLE)
    (root / "net/tcp6").write_text(table6 or TABLE6.splitlines()[0] + "\n")
    return root


def add_process(proc: Path, pid: int, command: list[str], parent: int = 1, **more: str) -> Path:
    folder = proc / str(pid)
    (folder / "fd").mkdir(parents=True)
    (folder / "cmdline").write_bytes("\0".join(command).encode() + b"\0")
    (folder / "comm").write_text(f"{Path(command[0]).name}\n")
    (folder / "stat").write_text(f"{pid} (a (tricky) name) S {parent} 1 1\n")
    (folder / "cgroup").write_text(more.get("cgroup", "0::/user.slice\n"))
    for name in ("exe", "cwd"):
        (folder / name).symlink_to(more.get(name, "/usr/bin/python3" if name == "exe" else "/"))
    if "inode" in more:
        (folder / "fd/3").symlink_to(f"socket:[{more['inode']}]")
    return folder


def test_only_listeners_of_that_port_are_found(tmp_path: Path) -> None:
    proc = make_proc(tmp_path, TABLE6)
    assert [(found.address, found.uid) for found in listeners(30000, proc)] == [("127.0.0.1", 1001), ("::1", 0)]
    assert listeners(30001, proc) == []


def test_owner_is_named_with_its_process(tmp_path: Path) -> None:
    proc = make_proc(tmp_path)
    add_process(proc, 77, ["/usr/sbin/nginx"], inode="4711")
    (listener,) = listeners(30000, proc)
    assert owner_of(listener, proc)[:2] == (77, "nginx")


def test_owner_out_of_sight_still_has_its_account(tmp_path: Path) -> None:
    (listener,) = listeners(30000, make_proc(tmp_path))
    owner = owner_of(listener._replace(uid=0), tmp_path)
    assert (owner.pid, owner.user) == (0, "root")


@pytest.mark.parametrize(
    ("wanted", "address", "expected"),
    [
        ("127.0.0.1", "127.0.0.1", True),
        ("127.0.0.1", "0.0.0.0", True),  # noqa: S104
        ("127.0.0.1", "::", True),
        ("0.0.0.0", "10.0.0.1", True),  # noqa: S104
        ("10.0.0.1", "::ffff:10.0.0.1", True),
        ("10.0.0.1", "10.0.0.2", False),
        ("127.0.0.1", "10.0.0.2", False),
        ("gpu1.example.com", "10.0.0.2", True),
    ],
)
def test_only_addresses_that_exclude_each_other_collide(wanted: str, address: str, expected: bool) -> None:
    assert collides(wanted, address) is expected


PREFIX, UNIT = "/opt/inferops", "sglang@main.service"


@pytest.mark.parametrize(
    ("command", "more"),
    [
        (["/opt/inferops/releases/x/venv/bin/python", "-m", "sglang.launch_server"], {}),
        (["python", "-m", "sglang.launch_server"], {"cgroup": "0::/system.slice/sglang@main.service\n"}),
        (["python"], {"cwd": "/opt/inferops/current"}),
        (["python"], {"exe": "/opt/inferops/releases/x/venv/bin/python3.11"}),
    ],
)
def test_our_own_server_is_known(tmp_path: Path, command: list[str], more: dict[str, str]) -> None:
    add_process(tmp_path, 50, command, **more)
    assert is_ours(50, PREFIX, UNIT, tmp_path)


def test_a_child_of_our_supervisor_is_ours(tmp_path: Path) -> None:
    add_process(tmp_path, 40, ["/usr/bin/python3", "/opt/inferops/supervisor/bin/supervisord"])
    add_process(tmp_path, 50, ["sglang::scheduler"], parent=40)
    assert parent_of(50, tmp_path) == 40
    assert is_ours(50, PREFIX, UNIT, tmp_path)


@pytest.mark.parametrize(
    ("command", "more"),
    [
        (["/usr/bin/python3", "-m", "http.server"], {}),
        (["/opt/inferops-old/venv/bin/python"], {}),
        (["python"], {"cgroup": "0::/system.slice/sglang@other.service\n"}),
    ],
)
def test_anything_else_is_not_ours(tmp_path: Path, command: list[str], more: dict[str, str]) -> None:
    add_process(tmp_path, 50, command, **more)
    assert not is_ours(50, PREFIX, UNIT, tmp_path)


def test_a_real_listener_is_found_with_its_process() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        (listener,) = listeners(server.getsockname()[1])
        assert listener.address == "127.0.0.1"
        assert owner_of(listener).pid == os.getpid()
    assert listeners(0) == []


@pytest.mark.parametrize(("command", "expected"), [("/opt/inferops/venv/bin/python", True), ("nginx", False)])
def test_our_server_is_known_by_its_account_where_its_files_are_out_of_sight(
    tmp_path: Path, command: str, expected: bool
) -> None:
    uid = add_process(tmp_path, 50, [command]).stat().st_uid
    assert account_runs_ours(uid, PREFIX, UNIT, tmp_path) is expected
    assert not account_runs_ours(uid + 1, PREFIX, UNIT, tmp_path)

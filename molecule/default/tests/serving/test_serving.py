# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""After the deployment: the patched server serves, as its own user, under systemd's hardening."""

from __future__ import annotations

from pathlib import Path

import pytest

UNIT = "sglang@main.service"
PREFIX = "/opt/inferops"
SERVER_ARGS = "sglang/srt/server_args.py"
LINES = {
    476: "    speculative_disable_batch_threshold: int = 0  # 0 = always speculate",
    3985: '            "--speculative-disable-batch-threshold",',
    3987: "            default=ServerArgs.speculative_disable_batch_threshold,",
}
# By the rules of PEP 552: a hash of the source, or its time and size.
PYC_IS_VALID = """
import importlib.util, os, struct, sys
source = sys.argv[1]
with open(importlib.util.cache_from_source(source), "rb") as stream:
    flags, stamp = struct.unpack("<4xI8s", stream.read(16))
with open(source, "rb") as stream:
    by_hash = importlib.util.source_hash(stream.read())
status = os.stat(source)
sys.exit(stamp != (by_hash if flags & 1 else struct.pack("<II", int(status.st_mtime), status.st_size)))
"""


def test_the_unit_runs_and_starts_at_boot(host):
    assert host.service(UNIT).is_running
    assert host.service(UNIT).is_enabled


def test_it_answers_a_real_request(server):
    assert len(server.generate()) == 8


def test_the_threshold_is_on_its_command_line_and_in_its_settings(server):
    arguments = server.arguments
    assert arguments[arguments.index("--speculative-disable-batch-threshold") + 1] == "8"
    assert server.ask("/get_server_info")["speculative_disable_batch_threshold"] == 8


def test_the_version_is_what_was_asked_for(server):
    assert server.release["version"] == "0.5.9"
    assert server.ask("/get_server_info")["version"] == "0.5.9"


@pytest.mark.parametrize("number", LINES)
def test_the_lines_stand_where_the_repaired_file_has_them(host, server, number):
    line = host.check_output("sed -n %sp %s", str(number), f"{server.release['root']}/{SERVER_ARGS}")
    assert line == LINES[number]


def test_the_service_imports_the_tree_that_was_patched(host, server):
    release = server.release
    find = "from importlib.util import find_spec; print(find_spec('sglang').origin)"
    origin = host.check_output("cd / && %s -c %s", release["python"], find)
    assert origin == f"{release['root']}/sglang/__init__.py"
    runs = server.seen_by_the_service("readlink -f /proc/%s/exe", str(server.pid))
    assert runs == host.check_output("readlink -f %s", release["python"])


def test_the_manifest_of_the_patch_agrees_with_the_disk(module, server, hashes):
    root = server.release["root"]
    patches = module("python_patch_info", root=root, store=f"{PREFIX}/patches")["patches"]
    assert [patch["status"] for patch in patches] == ["applied"]
    now = hashes(root)
    assert {file["path"]: now[file["path"]] for file in patches[0]["files"]} == {
        file["path"]: file["sha256_after"] for file in patches[0]["files"]
    }


def test_the_toolkit_compiles_for_the_compute_capability(host):
    source = 'extern "C" __global__ void f(int *x) { *x = 1; }'
    script = 'home=$(ls -d /opt/inferops/cuda/*/ | head -1); nvcc=$(find "$home" -name nvcc -path "*/bin/*" | head -1);'
    script += ' cd /tmp && printf %s "$1" >f.cu && "$nvcc" -arch=sm_120 -cubin f.cu && test -s f.cubin'
    host.check_output("sh -euc %s sh %s", script, source)


def test_the_server_runs_as_its_own_user_and_may_not_gain_more(host, server):
    status = host.check_output("cat /proc/%s/status", str(server.pid)).splitlines()
    values = dict(line.split(":\t", 1) for line in status if ":\t" in line)
    assert values["Uid"].split() == [str(host.user("sglang").uid)] * 4
    assert values["NoNewPrivs"] == "1"


@pytest.mark.parametrize("path", ["/usr/bin", "/etc", "/opt/inferops/models", "/opt/inferops/releases", "/var/lib"])
def test_the_service_sees_the_system_read_only(server, path):
    mounts = server.mounts()
    nearest = max((point for point in mounts if Path(path).is_relative_to(point)), key=len)
    assert "ro" in mounts[nearest], nearest


def test_the_service_may_write_its_caches(server):
    assert "rw" in server.mounts()[f"{PREFIX}/cache"]


def test_the_service_has_a_temporary_directory_of_its_own_and_no_homes(host, server):
    host.check_output("touch /tmp/of-the-host")
    assert "of-the-host" not in server.seen_by_the_service("ls /proc/%s/root/tmp", str(server.pid))
    assert {"/tmp", "/var/tmp", "/root", "/home"} <= server.mounts().keys()


def test_the_release_belongs_to_root_and_the_service_can_only_read_it(host, server):
    release = host.check_output("readlink -f %s/current", PREFIX)
    assert release.startswith(f"{PREFIX}/releases/")
    # uv leaves an empty lock file behind that everybody may take.
    search = "find %s -xdev ! -type l ! -path '*/venv/.lock' \\( ! -user root -o -perm /022 \\) -print"
    writable = host.run(search, release)
    assert writable.stdout == ""
    assert host.run("runuser -u sglang -- cat %s", f"{server.release['root']}/{SERVER_ARGS}").rc == 0


def test_bytecode_was_compiled_when_the_release_was_built(host, server):
    assert host.run("ls %s/sglang/srt/__pycache__/server_args.*.pyc", server.release["root"]).rc == 0
    # The service cannot write there, so what is there must be valid for the patched file.
    host.check_output("%s -c %s %s", server.release["python"], PYC_IS_VALID, f"{server.release['root']}/{SERVER_ARGS}")

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Base images for the containers of the tests: Debian with systemd as PID 1, made here by debootstrap.

    python3 tests/bed/images.py [bookworm] [trixie]     prints one image tag per suite, makes what is missing

No image registry is asked. An image is known by a digest of what goes into it, so a change here makes a new one and
the old one is removed. It is looked for in the engine, then as an archive in the cache, then built.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import bed

SUITES = {"bookworm": "12", "trixie": "13"}
# What a freshly installed server has and the roles rely on; nothing of what they install themselves.
PACKAGES = (
    "ca-certificates",
    "dbus",
    "git",
    "iproute2",
    "openssh-server",
    "procps",
    "python3",
    "python3-apt",
    "python3-venv",
    "sudo",
    "systemd",
    "systemd-sysv",
)
# The init system of a container has no console to watch and no hardware to wait for.
MASKED = ("getty.target", "systemd-udevd.service", "systemd-networkd-wait-online.service")
CHANGES = ('CMD ["/sbin/init"]', "ENV container=docker", f"LABEL {bed.LABEL}=image")
SCRIPT = Path(__file__).with_name("debootstrap.sh")
SOURCES = Path("/etc/apt")


def digest(suite: str) -> str:
    seen = hashlib.sha256(SCRIPT.read_bytes())
    seen.update(repr((suite, PACKAGES, MASKED, CHANGES)).encode())
    return seen.hexdigest()[:12]


def mirror() -> list[str]:
    """The Debian mirror this host uses itself; nothing where it is no Debian: debootstrap knows one."""
    files = [SOURCES / "sources.list", *sorted((SOURCES / "sources.list.d").glob("*"))]
    for path in files:
        if not path.is_file():
            continue
        found = re.search(r"^(?:URIs:|deb(?: \[[^]]*\])?)\s+(https?://\S+/debian/?)(?:\s|$)", path.read_text(), re.M)
        if found:
            return [found[1]]
    return []


def build(suite: str, archive: Path) -> None:
    """Bootstrap the suite into a directory beside the archive and pack it; the archive appears whole or not at all."""
    if shutil.which("debootstrap", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin") is None:
        bed.give_up("debootstrap is missing; install it (Debian, Ubuntu: apt-get install debootstrap)")
    bed.say(f"bootstrapping Debian {suite}, once; about a minute")
    root = Path(tempfile.mkdtemp(prefix=f"{suite}-", dir=archive.parent))
    partial = archive.with_suffix(".partial")
    try:
        bed.run(*bed.as_root(["sh", SCRIPT, suite, root, ",".join(PACKAGES), partial, " ".join(MASKED), *mirror()]))
        partial.rename(archive)
    finally:
        subprocess.run(bed.as_root(["rm", "-rf", root, partial]))


def image(suite: str) -> str:
    """Tag of the suite's image; afterwards the engine has it."""
    name = f"inferops-bed/debian-{suite}"
    key = digest(suite)
    tag = f"{name}:{key}"
    if bed.output("docker", "version", "--format", "{{.Server.Version}}") is None:
        bed.give_up("no Docker engine answers; start one, or let .ci/run or `make engine` do it")
    if bed.output("docker", "image", "inspect", tag) is not None:
        return tag
    archive = bed.cache("images") / f"debian-{suite}-{key}.tar"
    if not archive.exists():
        build(suite, archive)
    bed.run("docker", "import", *(f"--change={change}" for change in CHANGES), archive, tag)
    drop_older(name, tag, archive)
    return tag


def drop_older(name: str, tag: str, archive: Path) -> None:
    """What an earlier version of this file made is of no use any more."""
    for line in (bed.output("docker", "images", "--format", "{{.Repository}}:{{.Tag}}", name) or "").split():
        if line != tag:
            bed.output("docker", "rmi", line)
    for path in archive.parent.glob(f"{archive.name.rsplit('-', 1)[0]}-*.tar"):
        if path != archive:
            path.unlink()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=f"of {', '.join(SUITES)}; default: all")
    for suite in parser.parse_args().suites or SUITES:
        if suite not in SUITES:
            bed.give_up(f"no such suite: {suite}; there are {', '.join(SUITES)}")
        print(image(suite), flush=True)


if __name__ == "__main__":
    main()

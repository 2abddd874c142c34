# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Docker engine that the tests need, and one of our own for machines where none runs (a CI runner).

    python3 tests/bed/engine.py check      says what is missing for the tests, all of it; changes nothing
    python3 tests/bed/engine.py start      prints `started`; does and prints nothing where an engine answers already
    python3 tests/bed/engine.py stop       stops only an engine that `start` has started

Its images and containers lie below the cache directory, so that the next start finds them.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import bed

PROGRAMS = {"docker": "docker.io", "debootstrap": "debootstrap", "git": "git", "ssh-keygen": "openssh-client"}
START_SECONDS = 60
STOP_SECONDS = 60


def answers() -> bool:
    return bed.output("docker", "version", "--format", "{{.Server.Version}}") is not None


def pid_file() -> Path:
    return bed.cache("docker") / "dockerd.pid"


def ours() -> int | None:
    """Process id of the engine that we started, if it still runs."""
    try:
        pid = int(pid_file().read_text())
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except (OSError, ValueError):
        return None
    return pid if str(pid_file()).encode() in command else None


def missing() -> list[str]:
    """What the machine lacks for `make test`, each with what to do about it."""
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    found = [
        f"{program} is not installed (Debian, Ubuntu: apt-get install {package})"
        for program, package in PROGRAMS.items()
        if shutil.which(program, path=path) is None
    ]
    if shutil.which("docker") is not None and not answers():
        why = subprocess.run(["docker", "version"], capture_output=True, text=True).stderr.strip()
        found.append(f"no Docker engine answers: {why.splitlines()[-1] if why else 'docker version failed'}")
    return found


def check() -> None:
    if problems := missing():
        for problem in problems:
            bed.say(f"missing: {problem}")
        bed.give_up(
            "the tests need a Docker engine; .ci/run installs what is missing, starts one, and runs `make test`"
        )


def start() -> None:
    if answers():
        return
    home = bed.cache("docker")
    log = home / "dockerd.log"
    bed.say(f"starting dockerd, its data below {home}")
    argv = ["dockerd", f"--data-root={home / 'data'}", "--exec-root=/run/inferops-docker", f"--pidfile={pid_file()}"]
    if os.geteuid() != 0:
        argv.append(f"--group={os.getgid()}")
    environment = {**os.environ, "PATH": f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"}
    with log.open("wb") as stream:
        # Its own session: an interrupt at the terminal must not reach it before the containers are gone.
        process = subprocess.Popen(
            bed.as_root(argv),
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            env=environment,
            start_new_session=True,
        )
    deadline = time.monotonic() + START_SECONDS
    while not answers():
        if process.poll() is not None or time.monotonic() > deadline:
            tail = "\n".join(log.read_text(errors="replace").splitlines()[-15:])
            bed.give_up(f"dockerd does not answer; the end of {log}:\n{tail}")
        time.sleep(0.2)
    print("started")


def stop() -> None:
    pid = ours()
    if pid is None:
        return
    bed.say("stopping the dockerd that we started")
    subprocess.run(bed.as_root(["kill", f"-{signal.SIGTERM.value}", str(pid)]))
    deadline = time.monotonic() + STOP_SECONDS
    while ours() is not None:
        if time.monotonic() > deadline:
            bed.give_up(f"dockerd (pid {pid}) still runs after {STOP_SECONDS} s")
        time.sleep(0.2)


if __name__ == "__main__":
    actions = {"check": check, "start": start, "stop": stop}
    if len(sys.argv) != 2 or sys.argv[1] not in actions:
        raise SystemExit(__doc__)
    actions[sys.argv[1]]()

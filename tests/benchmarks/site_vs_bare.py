# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`make site` from nothing against the same work done by hand, side by side on this machine.

    python3 tests/benchmarks/site_vs_bare.py [--runs 3] [--work DIR] [--port 30000]

Every run starts from nothing: a fresh clone, an empty HOME, an empty cache of uv, of pip and of torch's
compiler. The two sides alternate, so that a slow hour of the network or the machine hits both. The bare side
is what a person types who knows all the answers already: the controller's environment, the toolkit's wheels,
libcuda, the model, `uv pip install`, and the server started by hand until its first answer. It has no checks,
no patch, no backup, no service manager and no way back.

Prints seconds per run and step, the medians and their ratio, and the second run of `make site`.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SGLANG = "sglang==0.5.9"
TOOLKIT = "cuda-toolkit[nvcc,cudart,crt,nvvm,cccl]==13.0.2"
SERVER_ARGUMENTS = [
    *("--host", "127.0.0.1", "--device", "cpu", "--dtype", "float32"),
    *("--attention-backend", "torch_native", "--sampling-backend", "pytorch"),
    *("--mem-fraction-static", "0.1", "--max-total-tokens", "4096", "--disable-overlap-schedule"),
]


class Side:
    """One side of one run: a home of its own, and the seconds of each step."""

    def __init__(self, work: Path, name: str) -> None:
        self.home = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=work))
        self.log = self.home / "log.txt"
        self.steps: dict[str, float] = {}
        kept = {
            key: value
            for key, value in os.environ.items()
            if key
            not in {
                "PYTHONDONTWRITEBYTECODE",
                "UV_CACHE_DIR",
                "PIP_CACHE_DIR",
                "XDG_CACHE_HOME",
                "VIRTUAL_ENV",
            }
        }
        self.environment = {**kept, "HOME": str(self.home)}

    def run(self, *argv: str, cwd: Path | None = None, **more: str) -> None:
        """Run one command; its output goes to the side's log, which is shown when the command fails."""
        with self.log.open("ab") as log:
            done = subprocess.run(
                argv,
                cwd=cwd or self.home,
                env={**self.environment, **more},
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        if done.returncode:
            tail = "\n".join(self.log.read_text(errors="replace").splitlines()[-30:])
            raise SystemExit(f"{' '.join(argv)} failed with {done.returncode}:\n{tail}\n(log: {self.log})")

    @contextlib.contextmanager
    def step(self, name: str) -> Iterator[None]:
        start = time.monotonic()
        yield
        self.steps[name] = time.monotonic() - start

    def clone(self) -> Path:
        self.run("git", "clone", "--quiet", str(ROOT), "checkout")
        return self.home / "checkout"

    @property
    def seconds(self) -> float:
        return sum(self.steps.values())


def make_site(work: Path, port: int) -> tuple[Side, float]:
    """Both runs of `make site` in a fresh clone; the second is timed on its own."""
    side = Side(work, "site")
    checkout = side.clone()
    arguments = f"ARGS=--extra-vars server_port={port}"
    with side.step("make site"):
        side.run("make", "site", arguments, cwd=checkout)
    summary = json.loads((checkout / ".quickstart/summary.json").read_text())
    print(
        f"  site: patch {summary['patch_status']}, healthy after {summary['seconds_to_healthy']} s",
        flush=True,
    )
    start = time.monotonic()
    side.run("make", "site", arguments, cwd=checkout)
    second = time.monotonic() - start
    side.run("make", "clean-quickstart", arguments, cwd=checkout)
    return side, second


def bare(work: Path, port: int) -> Side:
    """The same result by hand, without any of the collection's checks."""
    side = Side(work, "bare")
    checkout = side.clone()
    uv = str(checkout / ".venv/bin/uv")
    with side.step("controller environment"):
        side.run("make", "setup", cwd=checkout)
    with side.step("toolkit wheels"):
        side.run(uv, "pip", "install", "--target", str(side.home / "cuda"), TOOLKIT)
    with side.step("libcuda"):
        libcuda = unpack_libcuda(side)
    with side.step("model"):
        side.run(
            *(str(checkout / ".venv/bin/ansible"), "localhost", "-m", "inferops.blackwell.tiny_model"),
            *("-a", f"path={side.home / 'model'}"),
            cwd=checkout,
            ANSIBLE_PYTHON_INTERPRETER=str(checkout / ".venv/bin/python"),
        )
    with side.step("uv pip install"):
        side.run(uv, "venv", "--python", sys.executable, "venv")
        side.run(uv, "pip", "install", "--python", "venv/bin/python", SGLANG)
    with side.step("server to first answer"):
        serve_until_first_answer(side, libcuda, port)
    return side


def unpack_libcuda(side: Side) -> Path:
    """libcuda1 with apt directories of our own, as in the quickstart; the system's apt stays untouched."""
    apt = side.home / "apt"
    for name in ("state/lists/partial", "cache/archives/partial", "sources"):
        (apt / name).mkdir(parents=True)
    for source in Path("/etc/apt/sources.list.d").glob("*.sources"):
        text = source.read_text().replace("Components: main", "Components: main non-free")
        (apt / "sources" / source.name).write_text(text)
    options = [
        *("-o", f"Dir::State={apt / 'state'}", "-o", f"Dir::Cache={apt / 'cache'}"),
        *("-o", "Dir::Etc::sourcelist=/dev/null", "-o", f"Dir::Etc::sourceparts={apt / 'sources'}"),
        *("-o", "APT::Sandbox::User=root"),
    ]
    side.run("apt-get", *options, "update", cwd=apt)
    side.run("apt-get", *options, "download", "libcuda1", cwd=apt)
    (package,) = apt.glob("libcuda1_*.deb")
    side.run("dpkg-deb", "-x", str(package), str(apt / "root"))
    return next((apt / "root").rglob("libcuda.so.1")).parent


def serve_until_first_answer(side: Side, libcuda: Path, port: int) -> None:
    environment = {
        **side.environment,
        "LD_LIBRARY_PATH": str(libcuda),
        "SGLANG_USE_CPU_ENGINE": "1",
        # By default below /tmp, where the next run would find it warm: it makes the start a third shorter.
        "TORCHINDUCTOR_CACHE_DIR": str(side.home / "inductor"),
    }
    argv = [
        str(side.home / "venv/bin/python"),
        "-m",
        "sglang.launch_server",
        "--model-path",
        str(side.home / "model"),
    ]
    with side.log.open("ab") as log:
        server = subprocess.Popen(
            [*argv, "--port", str(port), *SERVER_ARGUMENTS],
            env=environment,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        while not first_answer(port):
            if server.poll() is not None:
                raise SystemExit(f"the bare server ended with {server.returncode}; log: {side.log}")
            time.sleep(0.5)
    finally:
        # Without a service manager its processes outlive a SIGTERM of the first one.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGKILL)
        server.wait(60)


def first_answer(port: int) -> bool:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/generate",
        data=json.dumps({"text": "Hello", "sampling_params": {"max_new_tokens": 8, "temperature": 0}}).encode(),
        headers={"Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return "text" in json.load(answer)
    except OSError:
        return False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3, help="runs of each side (default 3)")
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()), help="where both sides work")
    parser.add_argument("--port", type=int, default=30000, help="a free port for the servers (default 30000)")
    options = parser.parse_args()
    site_seconds, bare_seconds, second_seconds = [], [], []
    for number in range(1, options.runs + 1):
        side, second = make_site(options.work, options.port)
        print(f"run {number}  make site      {side.seconds:7.1f} s   (second run {second:.1f} s)", flush=True)
        site_seconds.append(side.seconds)
        second_seconds.append(second)
        first = side.home
        os.sync()
        side = bare(options.work, options.port)
        steps = ", ".join(f"{name} {seconds:.1f}" for name, seconds in side.steps.items())
        print(f"run {number}  bare           {side.seconds:7.1f} s   ({steps})", flush=True)
        bare_seconds.append(side.seconds)
        # Not between the sides: removing 20 GB slows down whoever runs next.
        for home in (first, side.home):
            shutil.rmtree(home)
        os.sync()
    ratio = statistics.median(site_seconds) / statistics.median(bare_seconds)
    print(f"median     make site {statistics.median(site_seconds):.1f} s, bare {statistics.median(bare_seconds):.1f} s")
    print(f"ratio      {ratio:.2f}  (aim: at most 1.25)")
    print(f"second run {statistics.median(second_seconds):.1f} s")


if __name__ == "__main__":
    main()

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The real SGLang with its real packages on a CPU, made once and kept in the cache.

    <cache>/eagle-cpu/venv-<digest>      SGLANG_REQUIREMENTS, installed by uv
    <cache>/eagle-cpu/libcuda            the distribution's libcuda1, unpacked: sgl-kernel does not import without it
    <cache>/eagle-cpu/models-<digest>    target and draft, made by harness/make_models.py

Each part is built beside its place and renamed, so what is there is complete. Needs uv and, for libcuda1, apt.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent / "bed"))

import bed  # noqa: E402

SGLANG_VERSION = "0.5.9"
# Triton 3.5's interpreter fails on numpy 2.3 and later ("only 0-dimensional arrays can be converted").
SGLANG_REQUIREMENTS = (f"sglang=={SGLANG_VERSION}", "numpy<2.3")
SGLANG_PYTHON = ">=3.10,<3.13"


@dataclass(frozen=True)
class Environment:
    """Where the parts lie."""

    python: Path
    package: Path  # the pristine `sglang`, never changed
    libcuda: Path
    models: Path

    def variables(self, *trees: Path) -> dict[str, str]:
        """Environment variables for a process whose `sglang` is the first of `trees`."""
        inherited = {k: v for k, v in os.environ.items() if k not in ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH")}
        loader = [str(self.libcuda), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
        return {
            **inherited,
            "LD_LIBRARY_PATH": os.pathsep.join(loader),
            "PYTHONPATH": os.pathsep.join(map(str, trees)),
            "SGLANG_USE_CPU_ENGINE": "1",
            "CUDA_VISIBLE_DEVICES": "",  # also where there is a GPU
            "OMP_NUM_THREADS": "1",
        }


def provide() -> Environment:
    """Everything the harness needs, made where it is missing."""
    home = bed.cache("eagle-cpu")
    with _alone(home / "lock"):
        venv = _once(home / f"venv-{_digest(*SGLANG_REQUIREMENTS)}", _install_sglang)
        libcuda = _once(home / "libcuda", _unpack_libcuda)
        python = venv / "bin" / "python"
        package = next(venv.glob("lib/python*/site-packages/sglang"))
        library = next(libcuda.rglob("libcuda.so.1")).parent
        maker = HERE / "harness" / "make_models.py"
        unfinished = Environment(python, package, library, models=Path())

        def make_models(path: Path) -> None:
            bed.say("training the draft model (a minute, once)")
            _run(str(python), str(maker), str(path), env=unfinished.variables())

        models = _once(home / f"models-{_digest(maker.read_text())}", make_models)
    return Environment(python, package, library, models)


@contextlib.contextmanager
def _alone(lock: Path) -> Iterator[None]:
    with open(lock, "w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _once(path: Path, make: Callable[[Path], None]) -> Path:
    if not path.exists():
        unfinished = path.with_name(f"{path.name}.part")
        shutil.rmtree(unfinished, ignore_errors=True)
        make(unfinished)
        unfinished.rename(path)
    return path


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]


def _run(*argv: str, env: dict[str, str] | None = None, cwd: Path | None = None) -> str:
    done = subprocess.run(argv, env=env, cwd=cwd, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(argv)} exits {done.returncode}:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    return done.stdout.strip()


def _install_sglang(path: Path) -> None:
    uv = os.environ.get("INFEROPS_UV") or shutil.which("uv") or str(Path(sys.executable).with_name("uv"))
    if not Path(uv).exists():
        raise RuntimeError("uv is needed to install SGLang for these tests: put it on PATH or name it in INFEROPS_UV")
    bed.say(f"installing {' '.join(SGLANG_REQUIREMENTS)} (10 GB, a minute or more, once)")
    python = _run(uv, "python", "find", "--no-python-downloads", SGLANG_PYTHON)
    # Relocatable: it is renamed when complete.
    _run(uv, "venv", "--relocatable", "--python", python, str(path))
    _run(uv, "pip", "install", "--python", str(path / "bin" / "python"), *SGLANG_REQUIREMENTS)


def _unpack_libcuda(path: Path) -> None:
    """Debian's libcuda1 with apt directories of our own: the system's apt stays as it is, and root is not needed."""
    apt = path / "apt"
    for name in ("state/lists/partial", "cache/archives/partial", "sources"):
        (apt / name).mkdir(parents=True)
    _copy_sources_with_nonfree(apt / "sources")
    options = (
        *("-o", f"Dir::State={apt / 'state'}", "-o", f"Dir::Cache={apt / 'cache'}"),
        *("-o", "Dir::Etc::sourcelist=/dev/null", "-o", f"Dir::Etc::sourceparts={apt / 'sources'}"),
        *("-o", "Debug::NoLocking=true", "-o", "APT::Sandbox::User="),
    )
    bed.say("unpacking libcuda1")
    _run("apt-get", *options, "update", cwd=apt)
    _run("apt-get", *options, "download", "libcuda1", cwd=apt)
    (package,) = apt.glob("libcuda1_*.deb")
    _run("dpkg-deb", "-x", str(package), str(path / "root"))
    shutil.rmtree(apt)


def _copy_sources_with_nonfree(target: Path) -> None:
    """The system's sources of the distribution itself, with the component that holds NVIDIA's libraries."""
    codename = platform.freedesktop_os_release()["VERSION_CODENAME"]
    for source in Path("/etc/apt/sources.list.d").glob("*.sources"):
        stanzas = re.split(r"\n\s*\n", source.read_text())
        ours = [s for s in stanzas if re.search(rf"(?m)^Suites:.*\b{codename}\b", s)]
        text = "\n\n".join(re.sub(r"(?m)^Components:.*$", "Components: main non-free", s) for s in ours)
        (target / source.name).write_text(f"{text}\n")
    for source in [Path("/etc/apt/sources.list"), *Path("/etc/apt/sources.list.d").glob("*.list")]:
        if source.is_file():
            lines = re.findall(rf"(?m)^(deb\s.*\s{codename}(?:-\w+)?\smain)\b", source.read_text())
            (target / source.name).write_text("".join(f"{line} non-free\n" for line in lines))


if __name__ == "__main__":
    print(provide())

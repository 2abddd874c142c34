# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All checks of one host, in the order a person would read them."""

from __future__ import annotations

import os
import platform
import shutil
import typing as t
from pathlib import Path

from ansible_collections.inferops.blackwell.plugins.module_utils._loader import library_below, loader_finds
from ansible_collections.inferops.blackwell.plugins.module_utils._preflight import (
    devices,
    host,
    interpreters,
    model_directory,
    packages,
    ports,
    threshold,
    values,
)
from ansible_collections.inferops.blackwell.plugins.module_utils._preflight.findings import Findings
from ansible_collections.inferops.blackwell.plugins.module_utils._preflight.versions import (
    CUDA_WHEELS_SINCE,
    DRIVER_FOR_BLACKWELL,
    DRIVER_FOR_CUDA,
    dotted,
    needs_of,
    numbers,
)

GIB = 1024**3
# Left free in any case, for logs and caches.
DISK_RESERVE = 1 * GIB


class Preflight:
    """Collects findings and facts; `settings` are the role variables by name, as raw as the user gave them."""

    def __init__(self, settings: dict[str, t.Any], plan: dict[str, t.Any], disk_bytes: int, memory_bytes: int) -> None:
        self.settings = {"threshold_patch_state": "present", **settings}
        self.plan = plan
        self.disk_bytes = disk_bytes
        self.memory_bytes = memory_bytes
        self.findings = Findings()
        self.facts: dict[str, t.Any] = {}
        self.prefix = Path(self.text("sglang_prefix") or "/")
        self.needs = needs_of(self.text("sglang_version"))

    def text(self, name: str) -> str:
        value = self.settings.get(name)
        return "" if value is None else str(value)

    def run(self) -> None:
        values.check_values(self.settings, self.findings)
        self.check_system()
        self.check_user_and_prefix()
        self.check_python()
        self.check_sglang()
        self.check_threshold()
        self.check_cuda()
        self.check_device()
        self.check_model()
        self.check_port()

    # ---- the machine ----
    def check_system(self) -> None:
        system = host.operating_system()
        libc = host.glibc()
        memory = host.memory_bytes()
        self.facts.update(os=system, glibc=libc, memory_bytes=memory, service_manager=host.service_manager())
        if platform.system() != "Linux" or system["architecture"] not in {"x86_64", "aarch64"}:
            self.findings.problem(
                f"{platform.system()} on {system['architecture']}",
                "architecture",
                "SGLang's kernels are built for Linux on x86_64 and aarch64: use such a host",
            )
        if numbers(libc) < self.needs.glibc:
            self.findings.problem(
                f"glibc {libc} is there" if libc else "the C library is not glibc",
                "C library",
                f"The wheels of SGLang {self.text('sglang_version')} and torch need glibc {dotted(self.needs.glibc)} "
                "or newer: use a newer distribution",
            )
        if memory < self.memory_bytes:
            self.findings.problem(
                f"{memory / GIB:.1f} GiB of {self.memory_bytes / GIB:.1f} GiB",
                "memory",
                "Use a larger machine or container limit, or lower preflight_memory_bytes if you know better",
            )

    def check_user_and_prefix(self) -> None:
        root = os.geteuid() == 0
        user = self.text("sglang_user")
        me = interpreters.current_user()
        if not root and user != me:
            self.findings.problem(
                f"is {user}, but the play runs as {me}, who cannot start anything as another account",
                "sglang_user",
                f"Run with become (inferops_become: true), or set sglang_user to {me}",
            )
        if not self.prefix.is_absolute():
            return
        near = host.nearest_existing(self.prefix)
        free = host.disk_free_bytes(near)
        self.facts["disk_free_bytes"] = free
        if not near.is_dir() or not os.access(near, os.W_OK | os.X_OK):
            self.findings.problem(
                f"{near} is not a directory that {me} may write to",
                "sglang_prefix",
                "Run with become (inferops_become: true), or choose a prefix that this account may write to",
            )
        built = host.has_release(self.prefix, self.text("sglang_version"))
        wanted = DISK_RESERVE if built or self.text("sglang_method") == "existing" else self.disk_bytes
        if free < wanted:
            self.findings.problem(
                f"{free / GIB:.1f} GiB are free at {near}, {wanted / GIB:.1f} GiB are needed",
                "sglang_prefix",
                "Make room, choose a prefix on a larger file system, or lower preflight_disk_bytes if you know better",
            )

    # ---- Python and programs ----
    def check_python(self) -> None:
        uv = self._uv()
        need_venv = not uv and self.text("cuda_method") != "none" or not uv and self.text("sglang_method") != "existing"
        chosen = self._python(need_venv)
        self.facts.update(
            uv=uv,
            python=chosen.path if chosen else "",
            python_version=dotted(chosen.version) if chosen else "",
        )
        missing = packages.lacking(chosen, need_venv, self.text("sglang_method") == "git")
        install = packages.can_install()
        self.facts["packages"] = packages.names(missing) if install else []
        for package in [] if install else missing:
            self.findings.problem(
                f"{package.lacking} is missing: {package.reason}",
                "programs and libraries",
                f"As root: {packages.install_command(missing)}",
            )

    def _uv(self) -> str:
        """uv as role sglang would find it."""
        given = self.text("sglang_uv")
        installer = self.text("sglang_installer")
        if installer == "pip":
            return ""
        found = given if given and os.access(given, os.X_OK) else "" if given else shutil.which("uv") or ""
        if given and not found:
            self.findings.problem(f"{given} is no program", "sglang_uv", "Give the path of uv, or leave it empty")
        elif installer == "uv" and not found:
            self.findings.problem(
                "is uv, but there is no uv in PATH", "sglang_installer", "Install uv, set sglang_uv, or use auto or pip"
            )
        return found

    def _python(self, need_venv: bool) -> interpreters.Interpreter | None:
        existing = self.text("sglang_method") == "existing"
        name = "sglang_existing_python" if existing else "sglang_python"
        given = self.text(name)
        user = self.text("sglang_user")
        if given:
            found = interpreters.probe(given, resolve=not existing)
            why = "it does not run as a Python" if found is None else ""
            if found is not None and not existing:
                why = interpreters.unsuitable(found, self.needs, user, need_venv, installable=True)
            if why:
                self.findings.problem(
                    f"{given} will not do: {why}", name, f"Give a CPython {self._python_range()}, or leave it empty"
                )
                return None
            return found
        chosen, rejected = interpreters.choose(interpreters.candidates(), self.needs, user, need_venv)
        if chosen is None:
            self.findings.problem(
                f"no suitable Python for SGLang {self.text('sglang_version')} was found "
                f"(seen: {'; '.join(rejected) or 'none'})",
                name,
                f"Install a CPython {self._python_range()} that {user} may read, or give its path",
            )
        return chosen

    def _python_range(self) -> str:
        return f"from {dotted(self.needs.python_oldest)} to {dotted(self.needs.python_newest)}"

    # ---- SGLang ----
    def check_sglang(self) -> None:
        method, version = self.text("sglang_method"), self.text("sglang_version")
        archive = self.text("sglang_sdist")
        if method == "sdist" and not archive and not self.needs.source_archive:
            self.findings.problem(
                f"is sdist, and the package index has no source archive of SGLang {version}",
                "sglang_method",
                "Use git or wheel, or give an archive in sglang_sdist",
            )
        for name in ("sglang_sdist", "sglang_wheel", "sglang_constraints", "sglang_wheelhouse"):
            if self.text(name) and not Path(self.text(name)).exists():
                self.findings.problem(
                    f"{self.text(name)} does not exist", name, "Copy it to the host, or leave it empty"
                )
        if method in {"git", "sdist"} and self.needs.rust:
            missing = [tool for tool in ("cargo", "protoc") if not shutil.which(tool)]
            if missing:
                self.findings.problem(
                    f"is {method}, but {' and '.join(missing)} is not in PATH; SGLang {version} builds Rust code",
                    "sglang_method",
                    "Install them (rustc 1.92 or newer, protobuf-compiler), or use wheel",
                )
        if method == "existing":
            root = self.text("sglang_existing_root")
            if not root or not (Path(root) / "sglang").is_dir():
                self.findings.problem(
                    f"is {root!r}, where no package sglang lies",
                    "sglang_existing_root",
                    "Give the directory that holds the package sglang, for instance .../python or .../site-packages",
                )
        if self.text("threshold_patch_state") == "present" and self.plan.get("mechanism") == "refused":
            self.findings.problem(
                f"{version} cannot get the threshold: {self.plan.get('reason')}",
                "sglang_version",
                "Choose another version, or set threshold_patch_state to absent to run it without the threshold",
            )

    def check_threshold(self) -> None:
        if threshold.VARIABLE not in self.settings:
            return
        number = threshold.check_value(self.settings[threshold.VARIABLE], self.findings)
        arguments, environment = self.settings.get("server_arguments"), self.settings.get("server_environment")
        if number is None or self.text("threshold_patch_state") != "present":
            return
        threshold.check_effect(
            number,
            arguments if isinstance(arguments, dict) else {},
            environment if isinstance(environment, dict) else {},
            self.text("sglang_version"),
            self.findings,
        )

    # ---- CUDA ----
    def check_cuda(self) -> None:
        method, version = self.text("cuda_method"), self.text("cuda_version")
        if method == "wheel" and numbers(version) and numbers(version) < numbers(CUDA_WHEELS_SINCE):
            self.findings.problem(
                f"is {version}, and the package index has nvcc only from {CUDA_WHEELS_SINCE} on",
                "cuda_version",
                "Use a newer toolkit, or install this one and set cuda_method to existing",
            )
        if method == "existing":
            home = self.text("cuda_home") or "/usr/local/cuda"
            if ":" not in home and not os.access(Path(home) / "bin/nvcc", os.X_OK):
                self.findings.problem(
                    f"{home}/bin/nvcc does not exist", "cuda_home", "Give the directory of a CUDA toolkit, or use wheel"
                )
        major = numbers(version)[:1]
        if self.text("sglang_device") == "cuda" and method == "wheel" and major and major[0] != self.needs.cuda_major:
            self.findings.warning(
                f"is {version}, but the torch of SGLang {self.text('sglang_version')} is built for "
                f"CUDA {self.needs.cuda_major}: kernels compiled at run time may not load beside it",
                "cuda_version",
                f"Use a CUDA {self.needs.cuda_major} toolkit (cuda_method: existing), or a SGLang for this one",
            )

    def check_device(self) -> None:
        self.facts.update(gpus=[], driver="", libcuda="")
        device = self.text("sglang_device")
        if device == "cpu":
            self.facts["libcuda"] = self._libcuda()
        elif device == "cuda":
            self._check_driver()

    def _libcuda(self) -> str:
        """`loader`, a directory below the prefix, or empty: role preflight then asks apt."""
        if loader_finds("libcuda.so.1"):
            return "loader"
        return library_below(self.prefix / "lib/libcuda", "libcuda.so.1")

    def _check_driver(self) -> None:
        driver = devices.ask_driver()
        self.facts.update(gpus=driver.gpus, driver=driver.version)
        if driver.error:
            self.findings.problem(
                f"no NVIDIA driver answers: {driver.error}",
                "sglang_device",
                "Install the driver (open kernel module) and reboot, or set sglang_device to cpu",
            )
            return
        wanted = values.capabilities(self.settings.get("cuda_compute_capabilities")) or []
        for gpu in driver.gpus:
            if wanted and gpu["compute_capability"] not in wanted:
                self.findings.problem(
                    f"GPU {gpu['index']} ({gpu['model']}) has {gpu['compute_capability']}, wanted is {wanted}",
                    "cuda_compute_capabilities",
                    f"Set it to {sorted({gpu['compute_capability'] for gpu in driver.gpus})}",
                )
                break
        major = numbers(self.text("cuda_version"))[:1] if self.text("cuda_method") == "wheel" else ()
        floors = {DRIVER_FOR_CUDA.get(number, "") for number in (*major, self.needs.cuda_major)} - {""}
        if any(numbers(gpu["compute_capability"]) >= (10,) for gpu in driver.gpus):
            floors.add(DRIVER_FOR_BLACKWELL)
        floor = max(floors, key=numbers, default="")
        if numbers(driver.version) < numbers(floor):
            self.findings.problem(
                f"is {driver.version}, {floor} or newer is needed by the CUDA and the GPUs here",
                "NVIDIA driver",
                "Upgrade the driver",
            )

    # ---- model and port ----
    def check_model(self) -> None:
        if self.text("model_method") != "path":
            return
        path = self.text("model_path")
        if not path.startswith("/"):
            self.findings.problem(
                f"is {path!r}", "model_path", "Give the absolute path of the model's directory on the host"
            )
            return
        for problem in model_directory.inspect(Path(path), self.text("sglang_user")).problems:
            self.findings.problem(
                f"{path}: {problem}", "model_path", "Put the complete model there, readable by the user"
            )

    def check_port(self) -> None:
        port = values.integer(self.settings.get("server_port"))
        if port is None:
            return
        unit = f"sglang@{self.text('server_name')}.service"
        for listener in ports.listeners(port):
            if not ports.collides(self.text("server_host") or "127.0.0.1", listener.address):
                continue
            owner = ports.owner_of(listener)
            if owner.pid and ports.is_ours(owner.pid, str(self.prefix), unit):
                continue
            who = f"{owner.name} (pid {owner.pid}" if owner.pid else "a process that this account may not see ("
            self.findings.problem(
                f"port {port} is taken on {listener.address} by {who}{', ' if owner.pid else ''}user {owner.user})",
                "server_port",
                "Stop that process, or choose another server_port",
            )

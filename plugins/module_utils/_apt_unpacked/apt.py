# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""apt with state, cache and sources of its own: the system's are only read.

apt verifies signatures and digests as always. The system's configuration (proxies, credentials, keyrings) holds,
except for its hooks: they are meant for the system's lists, and some of them delete files below /var/cache/apt.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import typing as t
from pathlib import Path

from ansible_collections.inferops.blackwell.plugins.module_utils._apt_unpacked.sources import Source

_HOOK = re.compile(r"^(APT::Update::(Pre|Post)-Invoke|DPkg::(Pre|Post)-|Dir::|APT::Archives::|RPM::)", re.IGNORECASE)
_CANDIDATE = re.compile(r"^\s+Candidate: (?P<version>.+)$", re.MULTILINE)
TOOLS = ("apt-get", "apt-cache", "apt-config", "dpkg-deb")


class AptError(Exception):
    """Something that the person who runs the play must know, in one message."""


class PrivateApt:
    """An apt that works in `directory` only."""

    def __init__(self, directory: Path, sources: t.Sequence[Source]) -> None:
        self.directory = directory
        self.sources = sources
        self.complaints: list[str] = []
        for name in ("state/lists/partial", "cache/archives/partial", "sources", "download", "tmp"):
            (directory / name).mkdir(parents=True)
        for number, source in enumerate(sources):
            (directory / "sources" / f"{number:03d}{source.suffix}").write_text(source.text, encoding="utf-8")
        # apt-key makes files in the temporary directory even to verify.
        self.environment = {**os.environ, "LC_ALL": "C", "TMPDIR": str(directory / "tmp")}
        self.environment["APT_CONFIG"] = str(self._configuration())

    def _configuration(self) -> Path:
        """The system's settings without hooks and directories, then ours; what stands later holds."""
        dump = subprocess.run(
            ["apt-config", "dump"], env=self.environment, capture_output=True, text=True, check=False
        ).stdout
        kept = [line for line in dump.splitlines() if not _HOOK.match(line)]
        ours = {
            "Dir::State": self.directory / "state",
            # Nothing is installed as far as this apt knows: a candidate is one that a repository offers.
            "Dir::State::status": self.directory / "status",
            "Dir::Cache": self.directory / "cache",
            "Dir::Etc": "/etc/apt",
            # apt reads these after this file; all that they say is in the dump already.
            "Dir::Etc::main": self.directory / "none",
            "Dir::Etc::parts": self.directory / "none",
            "Dir::Etc::sourcelist": self.directory / "none",
            "Dir::Etc::sourceparts": self.directory / "sources",
            # The sandbox's user could not enter a directory below a private one.
            "APT::Sandbox::User": "root",
            "APT::Get::AllowUnauthenticated": "false",
            "Acquire::AllowInsecureRepositories": "false",
            "Acquire::AllowWeakRepositories": "false",
            "Acquire::AllowDowngradeToInsecureRepositories": "false",
            "Acquire::Languages": "none",
            "Acquire::Retries": "2",
            "Acquire::http::Timeout": "30",
            "Acquire::https::Timeout": "30",
        }
        (self.directory / "none").mkdir()
        (self.directory / "status").touch()
        path = self.directory / "apt.conf"
        path.write_text("\n".join(kept + [f'{name} "{value}";' for name, value in ours.items()]) + "\n", "utf-8")
        return path

    def _run(self, *argv: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            argv,
            cwd=self.directory / "download",
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )

    def update(self) -> None:
        """Fetch the indexes. A failure counts only when a package is not found then: one mirror may be enough."""
        done = self._run("apt-get", "update")
        said = [line for line in done.stderr.splitlines() if line.startswith(("E:", "W:"))]
        self.complaints = said or ([f"apt-get update ended with {done.returncode}"] if done.returncode else [])

    def candidate(self, package: str) -> str:
        """The version that apt would take, empty when there is none."""
        done = self._run("apt-cache", "policy", package)
        match = _CANDIDATE.search(done.stdout)
        return "" if match is None or match["version"] == "(none)" else match["version"].strip()

    def candidates(self, packages: t.Sequence[str]) -> dict[str, str]:
        """The version of each package, or an error that names all without one."""
        self.update()
        versions = {package: self.candidate(package) for package in packages}
        missing = [package for package, version in versions.items() if not version]
        if missing:
            places = "; ".join(source.shown for source in self.sources)
            why = f" apt said: {' '.join(self.complaints)}" if self.complaints else ""
            raise AptError(f"apt has no candidate for {', '.join(missing)} in: {places}.{why}")
        return versions

    def download(self, package: str) -> Path:
        """The verified archive of one package."""
        before = set((self.directory / "download").glob("*.deb"))
        done = self._run("apt-get", "download", package)
        new = set((self.directory / "download").glob("*.deb")) - before
        if done.returncode or len(new) != 1:
            raise AptError(f"apt-get download {package} failed with {done.returncode}: {done.stderr.strip()}")
        return new.pop()

    def unpack(self, archive: Path, into: Path) -> None:
        done = self._run("dpkg-deb", "-x", str(archive), str(into))
        if done.returncode:
            raise AptError(f"dpkg-deb -x {archive.name} failed with {done.returncode}: {done.stderr.strip()}")


def missing_tools() -> list[str]:
    return [name for name in TOOLS if not shutil.which(name)]

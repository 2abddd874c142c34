# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Packages below a directory: complete, or not there. apt is a stand-in that hands out archives of its own."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest
from ansible_collections.inferops.blackwell.plugins.module_utils._apt_unpacked.apt import AptError, PrivateApt
from ansible_collections.inferops.blackwell.plugins.module_utils._apt_unpacked.sources import Source
from ansible_collections.inferops.blackwell.plugins.module_utils._apt_unpacked.unpacked import (
    MARKER,
    is_complete,
    private_apt,
    read_marker,
    refuse_foreign,
    unpack,
)


class FakeApt:
    """Offers libcuda1; unpacks one library and a link."""

    def __init__(self, directory: Path, fail_at: str = "") -> None:
        self.directory = directory
        self.fail_at = fail_at

    def candidates(self, packages: list[str]) -> dict[str, str]:
        return dict.fromkeys(packages, "535.1-1")

    def download(self, package: str) -> Path:
        if self.fail_at == "download":
            raise AptError("network is down")
        path = self.directory / f"{package}.deb"
        path.write_bytes(package.encode())
        return path

    def unpack(self, archive: Path, into: Path) -> None:
        library = into / "usr/lib" / archive.stem
        library.mkdir(parents=True)
        (library / "libcuda.so.535").write_bytes(b"ELF")
        (library / "libcuda.so.1").symlink_to("libcuda.so.535")
        if self.fail_at == "unpack":
            raise AptError("no space")


def make(tmp_path: Path, fail_at: str = "") -> FakeApt:
    (tmp_path / "apt").mkdir(exist_ok=True)
    return FakeApt(tmp_path / "apt", fail_at)


def test_what_was_unpacked_is_complete_and_says_what_it_is(tmp_path: Path) -> None:
    dest = tmp_path / "lib/libcuda"
    marker = unpack(make(tmp_path), dest, ["libcuda1"])  # type: ignore[arg-type]
    digest = hashlib.sha256(b"libcuda1").hexdigest()
    assert marker["packages"] == [{"name": "libcuda1", "version": "535.1-1", "sha256": digest}]
    assert marker["files"] == ["usr/lib/libcuda1/libcuda.so.1", "usr/lib/libcuda1/libcuda.so.535"]
    assert is_complete(dest, read_marker(dest), ["libcuda1"])
    assert dest.stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize("missing", ["usr/lib/libcuda1/libcuda.so.1", "usr/lib/libcuda1/libcuda.so.535", MARKER])
def test_a_missing_file_makes_it_incomplete(tmp_path: Path, missing: str) -> None:
    dest = tmp_path / "libcuda"
    unpack(make(tmp_path), dest, ["libcuda1"])  # type: ignore[arg-type]
    (dest / missing).unlink()
    assert not is_complete(dest, read_marker(dest), ["libcuda1"])


def test_other_packages_make_it_incomplete(tmp_path: Path) -> None:
    dest = tmp_path / "libcuda"
    unpack(make(tmp_path), dest, ["libcuda1"])  # type: ignore[arg-type]
    assert not is_complete(dest, read_marker(dest), ["libcuda1", "libnuma1"])


@pytest.mark.parametrize("fail_at", ["download", "unpack"])
def test_a_failure_leaves_what_was_there_and_nothing_beside_it(tmp_path: Path, fail_at: str) -> None:
    dest = tmp_path / "lib/libcuda"
    unpack(make(tmp_path), dest, ["libcuda1"])  # type: ignore[arg-type]
    before = (dest / MARKER).read_bytes()
    with pytest.raises(AptError):
        unpack(make(tmp_path, fail_at), dest, ["libcuda1", "libnuma1"])  # type: ignore[arg-type]
    assert (dest / MARKER).read_bytes() == before
    assert [path.name for path in dest.parent.iterdir()] == ["libcuda"]


def test_what_a_killed_run_left_is_cleared_away(tmp_path: Path) -> None:
    dest = tmp_path / "lib/libcuda"
    (tmp_path / "lib/.libcuda.new-abc/usr").mkdir(parents=True)
    unpack(make(tmp_path), dest, ["libcuda1"])  # type: ignore[arg-type]
    assert [path.name for path in dest.parent.iterdir()] == ["libcuda"]


def test_a_directory_that_is_not_ours_is_refused(tmp_path: Path) -> None:
    (tmp_path / "precious").touch()
    with pytest.raises(AptError, match="was not made by this module"):
        refuse_foreign(tmp_path)


def test_an_empty_directory_may_be_used(tmp_path: Path) -> None:
    refuse_foreign(tmp_path)


def test_a_broken_marker_vouches_for_nothing(tmp_path: Path) -> None:
    (tmp_path / MARKER).write_text("{")
    assert read_marker(tmp_path) == {}
    assert not is_complete(tmp_path, {}, ["libcuda1"])


def test_without_apt_the_tools_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(AptError, match="apt-get, apt-cache, apt-config, dpkg-deb not found"):
        private_apt(tmp_path / "apt", tmp_path, [])


def fake_tools(folder: Path, monkeypatch: pytest.MonkeyPatch, **scripts: str) -> None:
    """Programs of apt's names, found first."""
    for name, script in {"apt-config": "true", "apt-get": "true", "apt-cache": "true", **scripts}.items():
        path = folder / name.replace("_", "-")
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


SOURCE = Source("http://x/debian a non-free", ".list", "deb http://x/debian a non-free\n")


def test_no_candidate_names_package_places_and_what_apt_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_tools(tmp_path, monkeypatch, apt_get="echo 'W: Failed to fetch http://x/debian: refused' >&2")
    with pytest.raises(AptError) as caught:
        PrivateApt(tmp_path / "apt", [SOURCE]).candidates(["libcuda1"])
    assert "no candidate for libcuda1 in: http://x/debian a non-free" in str(caught.value)
    assert "W: Failed to fetch http://x/debian: refused" in str(caught.value)


def test_candidate_is_read_from_the_policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_tools(tmp_path, monkeypatch, apt_cache="printf 'libcuda1:\n  Installed: (none)\n  Candidate: 535.2-1\n'")
    assert PrivateApt(tmp_path / "apt", [SOURCE]).candidates(["libcuda1"]) == {"libcuda1": "535.2-1"}


def test_hooks_of_the_system_do_not_run_and_signatures_stay_required(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dump = (
        'APT::Update::Post-Invoke:: "rm -f /var/cache/apt/archives/*.deb";\n'
        'DPkg::Post-Invoke:: "true";\nAcquire::http::Proxy "http://proxy.example.com:3128";\n'
        'Acquire::AllowInsecureRepositories "true";\nDir::Cache "var/cache/apt";\n'
    )
    fake_tools(tmp_path, monkeypatch, apt_config=f"cat <<'EOF'\n{dump}EOF")
    apt = PrivateApt(tmp_path / "apt", [SOURCE])
    text = Path(apt.environment["APT_CONFIG"]).read_text()
    assert "Invoke" not in text
    assert "proxy.example.com" in text
    assert text.rindex('AllowInsecureRepositories "false"') > text.rindex('AllowInsecureRepositories "true"')
    assert "var/cache/apt" not in text.replace(str(tmp_path), "")


@pytest.mark.skipif(not shutil.which("apt-config"), reason="needs apt")
def test_apt_itself_reads_the_configuration_and_stays_in_its_directory(tmp_path: Path) -> None:
    import subprocess

    apt = PrivateApt(tmp_path / "apt", [SOURCE])
    dump = subprocess.run(
        ["apt-config", "dump"], env=apt.environment, capture_output=True, text=True, check=True
    ).stdout
    for name in ("Dir::State", "Dir::State::status", "Dir::Cache", "Dir::Etc::sourceparts"):
        assert f'{name} "{tmp_path}/apt' in dump
    assert json.dumps("APT::Update::Post-Invoke::") not in dump
    assert 'APT::Get::AllowUnauthenticated "false"' in dump

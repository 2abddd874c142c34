# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The private copy of the system's package sources."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.inferops.blackwell.plugins.module_utils._apt_unpacked.sources import (
    deb822,
    distribution_of,
    one_line,
    system_sources,
)

DEBIAN_DEB822 = """\
Types: deb deb-src
# a mirror of our own
URIs: https://mirror.example.com/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: https://packages.example.com/node
Suites: nodistro
Components: main
Signed-By: /usr/share/keyrings/node.gpg
"""


def test_deb822_keeps_address_suites_and_keyring_and_replaces_the_components() -> None:
    (source,) = deb822(DEBIAN_DEB822, "debian", ["non-free"])
    assert source.suffix == ".sources"
    assert source.text.splitlines() == [
        "types: deb",
        "uris: https://mirror.example.com/debian",
        "suites: bookworm bookworm-updates",
        "components: non-free",
        "signed-by: /usr/share/keyrings/debian-archive-keyring.gpg",
    ]
    assert source.shown == "https://mirror.example.com/debian bookworm bookworm-updates non-free"


def test_deb822_without_wanted_components_keeps_those_of_the_system() -> None:
    (source,) = deb822(DEBIAN_DEB822, "debian", [])
    assert "components: main contrib" in source.text


def test_deb822_key_inside_the_stanza_comes_along() -> None:
    text = (
        "Types: deb\nURIs: http://deb.debian.org/debian\nSuites: trixie\nComponents: main\n"
        "Signed-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n mQINBGPL0BUBEADmW5Ny=\n"
        " -----END PGP PUBLIC KEY BLOCK-----\n"
    )
    (source,) = deb822(text, "debian", ["non-free"])
    assert "signed-by:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n mQINBGPL0BUBEADmW5Ny=\n -----END" in source.text


@pytest.mark.parametrize("line", ["Enabled: no", "Enabled: false"])
def test_deb822_disabled_entry_is_left_out(line: str) -> None:
    assert deb822(f"{line}\nTypes: deb\nURIs: http://x/debian\nSuites: a\nComponents: main\n", "debian", []) == []


def test_deb822_source_packages_are_left_out() -> None:
    assert deb822("Types: deb-src\nURIs: http://x/debian\nSuites: a\nComponents: main\n", "debian", []) == []


@pytest.mark.parametrize("field", ["Trusted", "Allow-Insecure", "Allow-Weak", "Allow-Downgrade-To-Insecure"])
def test_deb822_what_weakens_verification_is_dropped(field: str) -> None:
    (source,) = deb822(f"Types: deb\nURIs: http://x/debian\nSuites: a\nComponents: main\n{field}: yes\n", "debian", [])
    assert "yes" not in source.text


def test_one_line_keeps_options_and_replaces_the_components() -> None:
    text = (
        "deb [arch=amd64 signed-by=/usr/share/keyrings/d.gpg] http://deb.debian.org/debian bookworm main contrib # x\n"
    )
    (source,) = one_line(text, "debian", ["non-free"])
    assert source == (
        "http://deb.debian.org/debian bookworm non-free",
        ".list",
        "deb [arch=amd64 signed-by=/usr/share/keyrings/d.gpg] http://deb.debian.org/debian bookworm non-free\n",
    )


@pytest.mark.parametrize(
    "line",
    [
        "# deb http://deb.debian.org/debian bookworm main",
        "deb-src http://deb.debian.org/debian bookworm main",
        "deb https://packages.example.com/apt cloud-sdk main",
        "",
    ],
)
def test_one_line_that_is_off_for_sources_or_of_a_third_party_is_left_out(line: str) -> None:
    assert one_line(line, "debian", []) == []


def test_one_line_what_weakens_verification_is_dropped() -> None:
    (source,) = one_line("deb [trusted=yes allow-insecure=yes] http://x/debian a main\n", "debian", [])
    assert source.text == "deb http://x/debian a main\n"


def test_both_formats_are_found_below_etc_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / "sources.list").write_text("deb http://one/debian a main\n")
    (tmp_path / "sources.list.d/two.sources").write_text(DEBIAN_DEB822)
    (tmp_path / "sources.list.d/three.list").write_text("deb http://three/debian a main\n")
    (tmp_path / "sources.list.d/four.list.disabled").write_text("deb http://four/debian a main\n")
    places = [source.shown.split()[0] for source in system_sources(tmp_path, "debian", [])]
    assert places == ["http://one/debian", "http://three/debian", "https://mirror.example.com/debian"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [('PRETTY_NAME="x"\nID=debian\n', "debian"), ('ID="ubuntu"\nID_LIKE=debian\n', "ubuntu"), ("", "")],
)
def test_distribution_is_the_id_of_os_release(text: str, expected: str) -> None:
    assert distribution_of(text) == expected

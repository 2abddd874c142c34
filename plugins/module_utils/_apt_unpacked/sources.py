# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The distribution's own package sources, out of the system's files, for a private copy.

Only entries of the distribution itself are taken: a component such as `non-free` means nothing to a third party's
repository. Whatever would let apt accept unsigned data is left out, so the private copy is never laxer than apt's
own default. Formats: sources.list(5), one-line and deb822.
"""

from __future__ import annotations

import re
import typing as t
from pathlib import Path

# Options of sources.list(5) that weaken verification.
_INSECURE = {"trusted", "allow-insecure", "allow-weak", "allow-downgrade-to-insecure"}
_ONE_LINE = re.compile(r"^deb\s+(?:\[(?P<options>[^\]]*)\]\s*)?(?P<uri>\S+)\s+(?P<suite>\S+)\s+(?P<components>.+)$")
# A field of a deb822 stanza, with its continuation lines.
_FIELD = re.compile(r"^(?P<name>[A-Za-z0-9-]+):(?P<value>.*(?:\n[ \t].*)*)", re.MULTILINE)


class Source(t.NamedTuple):
    """One entry for the private copy, and how to name it to a person."""

    shown: str
    suffix: str
    text: str


def of_distribution(text: str, distribution: str) -> bool:
    """Whether an entry's addresses or keyring name the distribution (`debian`, `ubuntu`)."""
    return distribution in text.lower()


def one_line(text: str, distribution: str, components: t.Sequence[str]) -> list[Source]:
    """Entries of a .list file."""
    found = []
    for raw in text.splitlines():
        line = raw.split("#", 1)[0].strip()
        match = _ONE_LINE.match(line)
        if not match or not of_distribution(line, distribution):
            continue
        options = [
            option
            for option in (match["options"] or "").split()
            if option.split("=")[0].rstrip("+-").lower() not in _INSECURE
        ]
        bracket = f"[{' '.join(options)}] " if options else ""
        place = f"{match['uri']} {match['suite']} {' '.join(components) or match['components'].strip()}"
        found.append(Source(place, ".list", f"deb {bracket}{place}\n"))
    return found


def deb822(text: str, distribution: str, components: t.Sequence[str]) -> list[Source]:
    """Stanzas of a .sources file. A key that stands inside `Signed-By` comes along."""
    found = []
    kept = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    for stanza in re.split(r"\n\s*\n", kept):
        fields = {match["name"].lower(): match["value"].rstrip() for match in _FIELD.finditer(stanza)}
        telling = f"{fields.get('uris', '')} {fields.get('signed-by', '')}"
        if (
            "deb" not in fields.get("types", "").split()
            or fields.get("enabled", "yes").strip().lower() in {"no", "false", "0", "off", "without", "disable"}
            or "components" not in fields
            or not of_distribution(telling, distribution)
        ):
            continue
        fields["types"] = " deb"
        fields["components"] = f" {' '.join(components) or fields['components'].strip()}"
        # As it stood, line breaks too: a key is a block of lines.
        lines = [f"{name}:{value}" for name, value in fields.items() if name not in _INSECURE]
        place = " ".join(f"{fields.get('uris', '')} {fields.get('suites', '')} {fields['components']}".split())
        found.append(Source(place, ".sources", "\n".join(lines) + "\n"))
    return found


def system_sources(etc: Path, distribution: str, components: t.Sequence[str]) -> list[Source]:
    """All entries of the distribution below `etc` (/etc/apt); `components` replaces theirs when it is not empty."""
    found: list[Source] = []
    files = [etc / "sources.list", *sorted((etc / "sources.list.d").glob("*"))]
    for path in files:
        read = {".list": one_line, ".sources": deb822}.get(path.suffix)
        if read is None or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        found += read(text, distribution, components)
    return found


def distribution_of(os_release: str) -> str:
    """`ID` of os-release, and for a derivative that is neither Debian nor Ubuntu the same (it has its own archive)."""
    match = re.search(r'^ID="?([A-Za-z0-9._-]+)"?\s*$', os_release, re.MULTILINE)
    return match[1].lower() if match else ""

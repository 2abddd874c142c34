# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules of the whole repository: licences, addresses, sizes, and roles whose defaults and documentation agree."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
GPL = (
    "# Copyright (c) 2026, inferops contributors",
    "# GNU General Public License v3.0+ "
    "(see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)",
    "# SPDX-License-Identifier: GPL-3.0-or-later",
)
# Code that becomes part of SGLang has SGLang's licence.
APACHE = "# SPDX-License-Identifier: Apache-2.0"
LONGEST_LINES = 300
# A table of cases is read from top to bottom only once.
LONGEST_LINES_OF_CASES = 450
MEASURED = {".py", ".yml", ".yaml", ".j2", ".sh"}
# In pieces, so that this file does not name what it looks for.
HOSTS = [
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("registry-1", "docker", "io"),
        ("index", "docker", "io"),
        ("quay", "io"),
        ("ghcr", "io"),
        ("galaxy", "ansible", "com"),
        ("npmjs", "org"),
    )
]


def tracked() -> list[Path]:
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(listing, cwd=ROOT, capture_output=True, check=True)
    paths = [ROOT / name for name in done.stdout.decode().split("\0") if name]
    return [path for path in paths if path.is_file() and not path.is_symlink()]


try:
    FILES = tracked()
except (OSError, subprocess.CalledProcessError):
    pytest.skip("not a git checkout", allow_module_level=True)
ROLES = sorted(path.parent.parent for path in (ROOT / "roles").glob("*/tasks/main.yml"))


def load(path: Path) -> Any:
    return yaml.safe_load(path.read_text()) if path.is_file() else None


def options(role: Path) -> dict[str, dict[str, Any]]:
    """Documented options of all entry points of a role."""
    specs = load(role / "meta" / "argument_specs.yml") or {}
    found: dict[str, dict[str, Any]] = {}
    for entry in specs.get("argument_specs", {}).values():
        found.update(entry.get("options", {}))
    return found


def defaults_of_all_roles() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for role in ROLES:
        found.update(load(role / "defaults" / "main.yml") or {})
    return found


def relative(paths: list[Path]) -> list[str]:
    return [str(path.relative_to(ROOT)) for path in paths]


def test_every_python_file_states_its_licence():
    def licensed(path: Path) -> bool:
        lines = path.read_text().splitlines()
        head = lines[1:] if lines and lines[0].startswith("#!") else lines
        return tuple(head[:3]) == GPL or APACHE in lines[:5]

    assert relative([path for path in FILES if path.suffix == ".py" and not licensed(path)]) == []


def test_every_yaml_file_begins_as_a_document():
    yamls = [path for path in FILES if path.suffix in {".yml", ".yaml"}]
    assert relative([path for path in yamls if not re.match(r"(#.*\n)*---\n", path.read_text())]) == []


def test_no_package_registry_is_named():
    """The machine's own settings decide where packages come from."""
    found = []
    for path in FILES:
        text = path.read_bytes().decode(errors="replace")
        found += [f"{path.relative_to(ROOT)}: {host}" for host in HOSTS if re.search(rf"\b{re.escape(host)}\b", text)]
    assert found == []


def test_no_file_has_to_be_scrolled_for_minutes():
    def limit(path: Path) -> int:
        return LONGEST_LINES_OF_CASES if path.is_relative_to(ROOT / "tests" / "unit") else LONGEST_LINES

    measured = [path for path in FILES if path.suffix in MEASURED]
    assert relative([path for path in measured if len(path.read_text().splitlines()) > limit(path)]) == []


def test_the_action_group_names_every_module():
    group = load(ROOT / "meta" / "runtime.yml")["action_groups"]["blackwell"]
    modules = {path.stem for path in (ROOT / "plugins" / "modules").glob("*.py")}
    assert set(group) == modules


@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.name)
class TestRole:
    def test_every_option_is_described_and_typed(self, role):
        poor = [
            name for name, option in options(role).items() if not (option.get("description") and option.get("type"))
        ]
        assert options(role), "no meta/argument_specs.yml with options"
        assert poor == []

    def test_every_default_is_documented_with_the_same_value(self, role):
        defaults = load(role / "defaults" / "main.yml") or {}
        documented = options(role)
        wrong = {
            name: (value, documented.get(name, {}).get("default", "not documented"))
            for name, value in defaults.items()
            if documented.get(name, {}).get("default", None) != value and not is_template(value)
        }
        assert wrong == {}
        assert set(defaults) - set(documented) == set()

    def test_every_documented_default_is_one(self, role):
        defaults = defaults_of_all_roles()
        wrong = {
            name: (option["default"], defaults.get(name, "no default"))
            for name, option in options(role).items()
            if "default" in option and not is_template(defaults.get(name)) and defaults.get(name) != option["default"]
        }
        assert wrong == {}

    def test_options_carry_the_prefix_of_the_role_that_declares_them(self, role):
        own = load(role / "defaults" / "main.yml") or {}
        foreign = [name for name in own if not name.startswith(f"{role.name}_")]
        assert foreign == []


def is_template(value: object) -> bool:
    """A default that is computed cannot be written into the documentation as a value."""
    return isinstance(value, str) and "{{" in value


def test_links_between_documents_lead_somewhere() -> None:
    lost = []
    for document in [path for path in tracked() if path.suffix == ".md"]:
        for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", document.read_text()):
            if "://" not in link and not (document.parent / link).exists():
                lost.append(f"{document.relative_to(ROOT)}: {link}")
    assert lost == []

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which mechanism gives a version of SGLang the batch threshold, and what it inserts.

All facts are data below roles/threshold_patch/files: `mechanisms.yml` (version ranges) and `recipes/*/recipe.yml`
(one per shape of SGLang's code, each with the versions it was proven on). This module only looks them up.
"""

from __future__ import annotations

import hashlib
import json
import typing as t
from pathlib import Path

import yaml
from ansible.errors import AnsibleError
from packaging.version import InvalidVersion, Version

FILES = Path(__file__).resolve().parents[2] / "roles" / "threshold_patch" / "files"
PRISTINE = "pristine"
DIGEST_LENGTH = 12


def load_mechanisms(files: Path = FILES) -> list[dict[str, t.Any]]:
    """The version ranges, in order."""
    return t.cast("list[dict[str, t.Any]]", yaml.safe_load((files / "mechanisms.yml").read_text("utf-8")))


def load_recipes(files: Path = FILES) -> dict[str, dict[str, t.Any]]:
    """Recipes by shape, with the text of the files they add: ready for python_patch."""
    recipes = {}
    for path in sorted((files / "recipes").glob("*/recipe.yml")):
        recipe = yaml.safe_load(path.read_text("utf-8"))
        for item in recipe["files"]:
            if "source" in item:
                item["content"] = (path.parent / item.pop("source")).read_text("utf-8")
        recipes[path.parent.name] = recipe
    if not recipes:
        raise AnsibleError(f"no patch recipe below {files / 'recipes'}: the collection is incomplete")
    return recipes


def digest_of(recipes: t.Sequence[dict[str, t.Any]]) -> str:
    """Twelve hex digits that change with whatever python_patch would be given, and with nothing else.

    Comments in a recipe and the list of proven versions leave it alone: a release is 10 GB to build.
    """
    applied = [{"name": recipe["name"], "files": recipe["files"]} for recipe in recipes]
    text = json.dumps(applied, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:DIGEST_LENGTH]


def released(version: str) -> Version | None:
    """`version` as a released one, or None where it names none: empty, a development build, or no version at all.

    setuptools_scm writes development versions (0.5.10.dev3+gabc, or 0.0.0.dev0 in a shallow clone without tags):
    they say where a tree was cut, not what is in it.
    """
    try:
        parsed = Version(version)
    except InvalidVersion:
        return None
    return None if parsed.is_devrelease else Version(parsed.public)


def mechanism_for(version: Version, mechanisms: t.Sequence[dict[str, t.Any]]) -> dict[str, t.Any]:
    """The entry of mechanisms.yml that holds `version`."""
    for entry in mechanisms:
        if "before" not in entry or version < Version(str(entry["before"])):
            return entry
    raise AnsibleError(f"mechanisms.yml has no entry for SGLang {version}: its last one must have no `before`")


def limit_of(threshold: t.Any) -> int:
    """The threshold as a number, 0 where it limits nothing or is no number: preflight reports that."""
    try:
        return max(0, int(threshold))
    except (TypeError, ValueError):
        return 0


def settings_of(entry: dict[str, t.Any], limit: int, steps: int) -> list[str]:
    """What to launch with so that the threshold has an effect, as lines for people."""
    if limit == 0:
        return []
    tiers = json.dumps({"1": {"candidate_steps": [steps]}, str(limit + 1): {"candidate_steps": [0]}})
    values = {"{threshold}": str(limit), "{steps}": str(steps), "{tiers}": tiers}
    lines = []
    for line in entry.get("settings", []):
        for name, value in values.items():
            line = line.replace(name, value)
        lines.append(line)
    return lines


def make_plan(
    version: str,
    *,
    state: str = "present",
    native_flag: bool = False,
    threshold: t.Any = 0,
    steps: int = 3,
    files: Path = FILES,
) -> dict[str, t.Any]:
    """What to do with a tree of `version`; see the lookup `threshold_plan` for the keys."""
    recipes = load_recipes(files)
    mechanisms = load_mechanisms(files)
    entry, mechanism, reason, chosen = choose(released(version), version, mechanisms, recipes, native_flag)
    limit = limit_of(threshold)
    offered = mechanism != "refused" and limit > 0
    return {
        "version": version,
        "mechanism": mechanism,
        "reason": reason,
        "recipes": [{"shape": shape, **recipe} for shape, recipe in chosen.items()],
        "digest": digest_of(list(chosen.values())) if chosen and state == "present" else PRISTINE,
        "settings": settings_of(entry, limit, steps) if offered else [],
        "environment": entry.get("environment", {}) if offered else {},
        "native_settings": settings_of(mechanisms[-1], limit, steps),
        "native_markers": mechanisms[-1]["markers"],
    }


def choose(
    known: Version | None,
    version: str,
    mechanisms: t.Sequence[dict[str, t.Any]],
    recipes: dict[str, dict[str, t.Any]],
    native_flag: bool,
) -> tuple[dict[str, t.Any], str, str, dict[str, dict[str, t.Any]]]:
    """The entry of mechanisms.yml, the mechanism, the reason for it and the recipes that may be applied.

    An unknown version gets every recipe: the structure of the tree then decides, and the digest covers them all.
    """
    if known is None:
        entry = next(entry for entry in mechanisms if entry["mechanism"] == "patch")
        reason = f"the version ({version or 'not stated'}) names no release: the structure of the tree decides"
        return entry, "patch", reason, recipes
    entry = mechanism_for(known, mechanisms)
    mechanism = entry["mechanism"]
    if mechanism == "refused" or (mechanism == "native" and not native_flag):
        return entry, mechanism, entry.get("reason", ""), {}
    chosen = {name: recipe for name, recipe in recipes.items() if known in map(Version, recipe["proven"])}
    if chosen:
        return entry, mechanism, "", chosen
    proven = sorted({one for recipe in recipes.values() for one in recipe["proven"]}, key=Version)
    reason = f"no recipe has been proven on it (proven: {', '.join(proven)})"
    if mechanism == "native":
        reason += "; leave out threshold_patch_native_flag and use its native tiers"
    return entry, "refused", reason, {}

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


def settings_of(entry: dict[str, t.Any], threshold: t.Any, steps: t.Any) -> list[str]:
    """What to launch with so that the threshold has an effect, as lines for people."""
    try:
        limit = int(threshold)
    except (TypeError, ValueError):
        return []  # preflight reports the bad value
    if limit <= 0:
        return []
    tiers = json.dumps({"1": {"candidate_steps": [int(steps)]}, str(limit + 1): {"candidate_steps": [0]}})
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
    steps: t.Any = 3,
    files: Path = FILES,
) -> dict[str, t.Any]:
    """What to do with a tree of `version`; see the lookup `threshold_plan` for the keys.

    An unknown version gets every recipe: the structure of the tree then decides, and the digest covers them all.
    """
    recipes = load_recipes(files)
    mechanisms = load_mechanisms(files)
    markers = [marker for entry in mechanisms for marker in entry.get("markers", [])]
    plan: dict[str, t.Any] = {
        "version": version,
        "mechanism": "patch",
        "reason": "",
        "recipes": [],
        "digest": PRISTINE,
        "settings": [],
        "native_markers": markers,
    }
    known = released(version)
    if known is None:
        plan["reason"] = f"the version ({version or 'not stated'}) names no release: the structure of the tree decides"
        plan["settings"] = settings_of(next(e for e in mechanisms if e["mechanism"] == "patch"), threshold, steps)
        chosen = recipes
    else:
        entry = mechanism_for(known, mechanisms)
        plan["mechanism"] = entry["mechanism"]
        plan["reason"] = entry.get("reason", "")
        plan["settings"] = settings_of(entry, threshold, steps)
        chosen = {k: r for k, r in recipes.items() if known in [Version(str(v)) for v in r["proven"]]}
        if plan["mechanism"] == "native" and native_flag and not chosen:
            plan["mechanism"] = "refused"
            plan["reason"] = "no recipe has been proven on it that adds the flag; use its native tiers"
        elif plan["mechanism"] == "patch" and not chosen:
            proven = sorted({str(v) for r in recipes.values() for v in r["proven"]}, key=Version)
            plan["mechanism"] = "refused"
            plan["reason"] = f"no recipe has been proven on it (proven: {', '.join(proven)})"
    if plan["mechanism"] == "patch" or (plan["mechanism"] == "native" and native_flag):
        plan["recipes"] = [{"shape": shape, **recipe} for shape, recipe in chosen.items()]
        if state == "present":
            plan["digest"] = digest_of(plan["recipes"])
    return plan

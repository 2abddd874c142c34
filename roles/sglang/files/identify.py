# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which SGLang an interpreter imports, as JSON. Run as `PYTHON -I - ROOT [DISTRIBUTION...]` with this file as input.

-I leaves the working directory and PYTHON* variables out, as the service does. SGLang's version module is
run without the package's own __init__, which would import half of SGLang.
"""

import ast
import importlib.metadata
import importlib.util
import json
import pathlib
import platform
import sys
import types


def installed_version(distribution):
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def written_version(directory):
    """The literal of _version.py, which setuptools_scm writes, or of version.py."""
    for name in ("_version.py", "version.py"):
        try:
            tree = ast.parse((directory / name).read_bytes())
        except (OSError, SyntaxError):
            continue
        for node in tree.body:
            names = [target.id for target in getattr(node, "targets", []) if isinstance(target, ast.Name)]
            value = getattr(node, "value", None)
            if "__version__" in names and isinstance(value, ast.Constant):
                return value.value
    return None


def imported_version(directory):
    package = types.ModuleType("sglang")
    package.__path__ = [str(directory)]
    sys.modules["sglang"] = package
    try:
        import sglang.version

        return sglang.version.__version__
    except Exception as error:  # whatever the tree raises is what the reader has to know
        return f"{type(error).__name__}: {error}"


def main():
    wanted, *distributions = sys.argv[1:]
    spec = importlib.util.find_spec("sglang")
    origin = spec.origin if spec else None
    versions = {name: installed_version(name) for name in distributions}
    identity = {
        "python_version": platform.python_version(),
        "packages": {name: version for name, version in versions.items() if version},
        "installed_version": installed_version("sglang"),
        "origin": origin,
        "inside": False,
    }
    if origin:
        directory = pathlib.Path(origin).parent
        identity["root"] = str(directory.parent)
        # Links on the way to a release are fine; the real files decide.
        identity["inside"] = pathlib.Path(wanted).resolve() in directory.resolve().parents
        identity["written_version"] = written_version(directory)
        identity["imported_version"] = imported_version(directory)
    print(json.dumps(identity))


main()

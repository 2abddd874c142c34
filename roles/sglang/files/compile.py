# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compile a release to bytecode, on all cores. Run by the release's own interpreter:

PYTHON -c SOURCE tree ROOT                  the package sglang in ROOT, or in the environment when that has it
PYTHON -c SOURCE imported MARKER NAME ...   what a start imports of these packages; MARKER says that it is done

The tree is apart because it is patched soon after: whoever reads a file while another replaces it may write bytecode
of the old text with the date of the new.
"""

import compileall
import json
import multiprocessing
import os
import pathlib
import sys
import sysconfig
import time

SECONDS_BETWEEN_LINES = 2
# What no start imports, or of which only the one model that is served.
NEVER_IMPORTED = (("tests",), ("transformers", "models"))


def compiled(path):
    """Whether `path` is Python of this version: templates and tests for other versions are not. Skips what is fresh."""
    try:
        return bool(compileall.compile_file(path, quiet=2))
    except (UnicodeError, ValueError, RecursionError):
        return False


def compile_all(files):
    count = done = 0
    said = time.monotonic()
    with multiprocessing.get_context("fork").Pool(len(os.sched_getaffinity(0))) as pool:
        for good in pool.imap_unordered(compiled, map(str, files), chunksize=32):
            count += 1
            done += good
            if time.monotonic() - said > SECONDS_BETWEEN_LINES:
                said = time.monotonic()
                print(f"{count} of {len(files)} files", flush=True)
    print(f"{done} files compiled, {count - done} are no Python of this version", flush=True)
    return {"compiled": done, "no_python": count - done, "python": sys.version.split()[0]}


def is_imported(parts):
    return not any(set(place) <= set(parts) for place in NEVER_IMPORTED)


def sources(package):
    module = package.with_name(package.name + ".py")
    return [module] if module.is_file() else package.rglob("*.py")


def write_marker(marker, counts):
    unfinished = marker.with_name(marker.name + ".new")
    unfinished.write_text(json.dumps(counts, indent=4) + "\n")
    unfinished.replace(marker)


def main():
    what, place, *packages = sys.argv[1:]
    site_packages = pathlib.Path(sysconfig.get_path("purelib"))
    if what == "tree":
        root = pathlib.Path(place)
        package = (root if (root / "sglang").is_dir() else site_packages) / "sglang"
        compile_all(sorted(package.rglob("*.py")))
    else:
        files = [file for name in packages for file in sources(site_packages / name)]
        files = sorted(file for file in files if is_imported(file.relative_to(site_packages).parts))
        write_marker(pathlib.Path(place), compile_all(files))


main()

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compile a release to bytecode, on all cores. Run by the release's own interpreter:

PYTHON -c SOURCE environment MARKER   all that is installed there, except SGLang; MARKER says at the end that it is done
PYTHON -c SOURCE tree ROOT            the package sglang in ROOT, or in the environment when that has it

The two are apart because the tree is patched soon after: whoever reads a file while another replaces it may write
bytecode of the old text with the date of the new. The standard library's compileall does the same work on one core
for minutes, since it hands out the files four at a time.
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
# What an import of SGLang reads most of. The patch is tried by such an import while the rest is still being compiled.
FIRST = ("torch", "transformers", "sympy", "numpy", "scipy")


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


def main():
    what, where = sys.argv[1], pathlib.Path(sys.argv[2])
    site_packages = pathlib.Path(sysconfig.get_path("purelib"))
    if what == "tree":
        root = where if (where / "sglang").is_dir() else site_packages
        compile_all(sorted((root / "sglang").rglob("*.py")))
        return
    # The tasks beside it go first, but not by much: a start waits for this, on a host that may be busy for days.
    os.nice(5)
    packages = sorted(
        (entry for entry in site_packages.iterdir() if entry.name != "sglang"),
        key=lambda entry: (entry.name not in FIRST, entry.name),
    )
    files = [file for entry in packages for file in ([entry] if entry.suffix == ".py" else entry.rglob("*.py"))]
    done = compile_all(files)
    unfinished = where.with_name(where.name + ".new")
    unfinished.write_text(json.dumps(done, indent=4) + "\n")
    unfinished.replace(where)


main()

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compile a release to bytecode, on all cores. Run by the release's own interpreter:

PYTHON -c SOURCE tree ROOT      the package sglang in ROOT, or in the environment when that has it
PYTHON -c SOURCE first          of all that is installed there, except SGLang: what a start imports most of
PYTHON -c SOURCE rest MARKER    all of it; MARKER says at the end that it is done

The tree is apart because it is patched soon after: whoever reads a file while another replaces it may write bytecode
of the old text with the date of the new. What a start imports is apart because a start has to wait for it: a third
of the work.
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
# Measured on 0.5.9: these hold nine tenths of what a server compiles when it starts without bytecode.
FIRST = frozenset(
    "aiohttp compressed_tensors fastapi flashinfer huggingface_hub mpmath networkx numpy nvidia_cutlass_dsl openai"
    " pydantic scipy setuptools sympy timm torch torchaudio torchvision transformers triton".split()
)
# Of those, what no start imports, or only the one model that is served.
NOT_FIRST = (("tests",), ("transformers", "models"))


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


def is_first(parts):
    return parts[0] in FIRST and not any(set(place) <= set(parts) for place in NOT_FIRST)


def environment(site_packages):
    """Two lists: what a start imports, and everything else; without SGLang."""
    files = sorted(file for file in site_packages.rglob("*.py") if file.relative_to(site_packages).parts[0] != "sglang")
    first = [file for file in files if is_first(file.relative_to(site_packages).parts)]
    return first, sorted(set(files) - set(first))


def main():
    what = sys.argv[1]
    site_packages = pathlib.Path(sysconfig.get_path("purelib"))
    if what == "tree":
        root = pathlib.Path(sys.argv[2])
        package = (root if (root / "sglang").is_dir() else site_packages) / "sglang"
        compile_all(sorted(package.rglob("*.py")))
    elif what == "first":
        compile_all(environment(site_packages)[0])
    else:
        first, later = environment(site_packages)
        marker = pathlib.Path(sys.argv[2])
        unfinished = marker.with_name(marker.name + ".new")
        # What the other run has compiled meanwhile is skipped.
        unfinished.write_text(json.dumps(compile_all(later + first), indent=4) + "\n")
        unfinished.replace(marker)


main()

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Python files that nobody here wrote: the wheel of SGLang, torch, and CPython's own library with its odd tests."""

from __future__ import annotations

import ast
import platform
import re
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import typing as t
import warnings
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "bed"))

import bed  # noqa: E402
import downloads  # noqa: E402

TORCH_LOCK = HERE / "torch.txt"


class Corpus(t.NamedTuple):
    """Files by their path, in the order of their paths."""

    title: str
    files: dict[str, bytes]


def sglang() -> Corpus:
    with zipfile.ZipFile(downloads.archive("wheel")) as wheel:
        names = sorted(name for name in wheel.namelist() if name.endswith(".py"))
        return Corpus(downloads.KINDS["wheel"][0], {name: wheel.read(name) for name in names})


def torch() -> Corpus:
    """The torch that this SGLang requires; of its wheel (900 MB) only the .py files are kept."""
    version = torch_version()
    archive = bed.cache("corpora") / f"torch-{version}.tar.gz"
    if not archive.exists():
        _unpack_torch(version, archive)
    with tarfile.open(archive) as tar:
        members = sorted((member for member in tar if member.isfile()), key=lambda member: member.name)
        found = {member.name: tar.extractfile(member) for member in members}
        return Corpus(f"torch {version}", {name: file.read() for name, file in found.items() if file is not None})


def torch_version() -> str:
    with zipfile.ZipFile(downloads.archive("wheel")) as wheel:
        name = next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
        found = re.search(r"(?m)^Requires-Dist: torch==([\d.]+)$", wheel.read(name).decode())
    assert found, "the wheel of SGLang names no version of torch"
    version = found[1]
    assert f"torch=={version} " in TORCH_LOCK.read_text(), f"SGLang requires torch {version}: bring {TORCH_LOCK} up"
    return version


def _unpack_torch(version: str, archive: Path) -> None:
    """uv takes the wheel from its cache, where the stage eagle_cpu has put it."""
    uv = Path(sys.executable).with_name("uv")
    with tempfile.TemporaryDirectory(dir=archive.parent) as directory:
        bed.say(f"unpacking the sources of torch {version} (the wheel has 900 MB, once)")
        command = [uv, "pip", "install", "--quiet", "--no-deps", "--target", directory, "--require-hashes"]
        platform_options = ["--python-version", "3.11", "--python-platform", "x86_64-manylinux_2_28"]
        subprocess.run([*command, *platform_options, "--requirements", TORCH_LOCK], check=True)
        unfinished = archive.with_name(f"{archive.name}.part")
        with tarfile.open(unfinished, "w:gz") as tar:
            for path in sorted(Path(directory).rglob("*.py")):
                tar.add(path, str(path.relative_to(directory)))
        unfinished.rename(archive)


def cpython() -> Corpus:
    """Lib of the running interpreter. Some distributions leave Lib/test out; then the title says so."""
    lib = Path(sysconfig.get_path("stdlib"))
    paths = [path for path in lib.rglob("*.py") if "-packages" not in str(path.relative_to(lib))]
    odd = list((lib / "test").glob("tokenize_tests*.txt"))
    files = {str(path.relative_to(lib)): path.read_bytes() for path in sorted([*paths, *odd]) if path.is_file()}
    without = "" if any(name.startswith("test/test_") for name in files) else " without Lib/test"
    return Corpus(f"CPython {platform.python_version()}, Lib{without}", files)


ALL: dict[str, t.Callable[[], Corpus]] = {"sglang": sglang, "torch": torch, "cpython": cpython}

ODDITIES: dict[str, t.Callable[[bytes], bool]] = {
    "byte order mark": lambda data: data.startswith(b"\xef\xbb\xbf"),
    "declares an encoding": lambda data: re.search(rb"\A(.*\n)?[ \t\f]*#.*coding[:=]", data[:400]) is not None,
    "non-ASCII": lambda data: not data.isascii(),
    "CR LF": lambda data: b"\r\n" in data,
    "CR alone": lambda data: re.search(rb"\r(?!\n)", data) is not None,
    "form feed": lambda data: b"\f" in data,
    "tab indentation": lambda data: b"\n\t" in data,
    "no final line end": lambda data: bool(data) and not data.endswith((b"\n", b"\r")),
    "empty": lambda data: not data.strip(),
    "`;` between statements": lambda data: re.search(rb"(?m)^[^#'\"\n]*;[^#'\"\n]*\w", data) is not None,
    "backslash continuation": lambda data: b"\\\n" in data,
}


def parsed(data: bytes) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None

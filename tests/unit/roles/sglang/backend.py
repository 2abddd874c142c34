# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A build backend (PEP 517 and 660) for a project named sglang: the standard library, nothing else."""

import os
import pathlib
import zipfile

TREE = pathlib.Path(__file__).resolve().parent


def _version():
    """What setuptools_scm does where no tag is seen: the environment's word, else a version that says nothing."""
    version = os.environ.get("SETUPTOOLS_SCM_PRETEND_VERSION_FOR_SGLANG", "0.0.0.dev0")
    (TREE / "sglang/_version.py").write_text(f"__version__ = version = {version!r}\n")
    return version


def _metadata(version):
    return f"Metadata-Version: 2.1\nName: sglang\nVersion: {version}\n"


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    version = _version()
    name = f"sglang-{version}-py3-none-any.whl"
    information = f"sglang-{version}.dist-info"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w") as wheel:
        wheel.writestr("__editable__.sglang.pth", f"{TREE}\n")
        wheel.writestr(f"{information}/METADATA", _metadata(version))
        wheel.writestr(f"{information}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{information}/RECORD", "")
    return name


build_wheel = build_editable


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    version = _version()
    information = pathlib.Path(metadata_directory) / f"sglang-{version}.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(_metadata(version))
    return information.name


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
module: cuda_home
short_description: Make one CUDA_HOME of NVIDIA's wheels
version_added: 0.1.0
author:
  - inferops contributors (@inferops)
description:
  - Takes the wheels of a CUDA toolkit that pip or uv unpacked with C(--target), and makes a directory of them that
    compilers, flashinfer and torch accept as E(CUDA_HOME), with C(bin/nvcc), C(include), C(nvvm) and C(lib64).
  - The directory appears complete or not at all.
extends_documentation_fragment:
  - inferops.blackwell.attributes
attributes:
  check_mode:
    support: full
  diff_mode:
    support: none
  idempotent:
    support: full
    details: A complete O(path) is left alone, and O(packages) need not exist then.
options:
  path:
    description: The directory to make. An incomplete one is replaced.
    type: path
    required: true
  packages:
    description: The directory with the unpacked wheels, on the file system of O(path). Its content is moved.
    type: path
    required: true
  version:
    description: The version of the toolkit, for the record.
    type: str
    required: true
"""

EXAMPLES = r"""
- name: Make a CUDA_HOME
  inferops.blackwell.cuda_home:
    path: /opt/inferops/cuda/13.0.2
    packages: /opt/inferops/cuda/.13.0.2.building/site
    version: 13.0.2
"""

RETURN = r"""
path:
  description: The directory.
  type: str
  returned: success
complete:
  description: Whether O(path) was complete before.
  type: bool
  returned: success
packages:
  description: The wheels in it and their versions; empty in check mode before the first run.
  type: dict
  returned: success
"""

import os
import typing as t
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.inferops.blackwell.plugins.module_utils._cuda_home import ToolkitError, assemble, read_marker


def main() -> t.NoReturn:
    module = AnsibleModule(
        argument_spec={
            "path": {"type": "path", "required": True},
            "packages": {"type": "path", "required": True},
            "version": {"type": "str", "required": True},
        },
        supports_check_mode=True,
    )
    os.umask(0o022)  # the service's account reads from here
    path = Path(module.params["path"])
    marker = read_marker(path)
    if marker or module.check_mode:
        module.exit_json(changed=not marker, complete=bool(marker), path=str(path), packages=marker.get("packages", {}))
    try:
        marker = assemble(Path(module.params["packages"]), path, module.params["version"])
    except (ToolkitError, OSError) as error:
        module.fail_json(msg=f"no CUDA_HOME was made in {path}: {error}")
    module.exit_json(changed=True, complete=False, path=str(path), packages=marker["packages"])


if __name__ == "__main__":
    main()

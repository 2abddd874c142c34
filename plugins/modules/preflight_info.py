# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
module: preflight_info
short_description: Check what a host has against what the roles of this collection will need
version_added: 0.1.0
author:
  - inferops contributors (@inferops)
description:
  - Looks at the host and at the variables of the roles, and returns every problem at once, each with where it is and
    what to do. Never fails because of one.
  - Needs no privileges, and does not change anything.
extends_documentation_fragment:
  - inferops.blackwell.attributes
  - inferops.blackwell.attributes.info_module
options:
  settings:
    description:
      - Role variables by name, with the values as the user gave them. What is not named is not checked.
      - Pass no secrets; of C(server_arguments) and C(server_environment) only what concerns speculation is read.
    type: dict
    required: true
  plan:
    description: What the lookup P(inferops.blackwell.threshold_plan#lookup) says of the version.
    type: dict
    default: {}
  disk_bytes:
    description: Space that a new release needs, with its environment and the toolkit.
    type: int
    default: 16106127360
  memory_bytes:
    description: Memory that the host must have.
    type: int
    default: 6442450944
"""

EXAMPLES = r"""
- name: Look at the host
  inferops.blackwell.preflight_info:
    settings:
      sglang_prefix: /opt/inferops
      sglang_version: "0.5.9"
      sglang_device: cpu
      server_port: 30000
  register: preflight
"""

RETURN = r"""
facts:
  description:
    - C(os), C(glibc), C(memory_bytes), C(disk_free_bytes), C(service_manager).
    - C(python) and C(python_version), the interpreter that was chosen, empty without a suitable one; C(uv).
    - C(packages), packages of the distribution that are lacking and can be installed, since the play is root.
    - C(gpus) and C(driver), as the driver tells; C(libcuda), V(loader), a directory, or empty.
  type: dict
  returned: success
problems:
  description: What keeps the roles from working.
  type: list
  elements: dict
  returned: success
  contains: &finding
    what:
      description: What is wrong.
      type: str
    where:
      description: The variable, path or part of the host.
      type: str
    remedy:
      description: What to do.
      type: str
    text:
      description: All of it in one line.
      type: str
warnings_found:
  description: What works, but likely not as intended.
  type: list
  elements: dict
  returned: success
  contains: *finding
"""

import typing as t

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.inferops.blackwell.plugins.module_utils._preflight.checks import look


def main() -> t.NoReturn:
    module = AnsibleModule(
        argument_spec={
            "settings": {"type": "dict", "required": True},
            "plan": {"type": "dict", "default": {}},
            "disk_bytes": {"type": "int", "default": 15 * 1024**3},
            "memory_bytes": {"type": "int", "default": 6 * 1024**3},
        },
        supports_check_mode=True,
    )
    seen = look(**module.params)
    module.exit_json(
        changed=False,
        facts=seen.facts,
        problems=[finding.as_dict() for finding in seen.findings.problems],
        warnings_found=[finding.as_dict() for finding in seen.findings.warnings],
    )


if __name__ == "__main__":
    main()

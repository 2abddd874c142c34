# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: sglang_release_info
short_description: List the SGLang releases below a prefix
version_added: 0.1.0
author:
  - inferops contributors (@inferops)
description:
  - Lists every release of SGLang that was built below a prefix, complete or not,
    with what is known of it and whether processes use it.
extends_documentation_fragment:
  - inferops.blackwell.attributes
  - inferops.blackwell.attributes.info_module
options:
  prefix:
    description: The directory that holds C(releases/) and the link C(current).
    type: path
    required: true
seealso:
  - module: inferops.blackwell.source_manifest
"""

EXAMPLES = r"""
- name: See what is installed
  inferops.blackwell.sglang_release_info:
    prefix: /opt/inferops
  register: installed

- name: Name the releases that were once healthy
  ansible.builtin.debug:
    msg: "{{ installed.releases | selectattr('healthy_at') | map(attribute='id') }}"
"""

RETURN = r"""
current:
  description: Id of the release that C(current) points to, empty without one.
  type: str
  returned: always
releases:
  description: One entry per release. Incomplete ones come first, then by time of build, the newest last.
  type: list
  elements: dict
  returned: always
  contains:
    id:
      description: Name of the release's directory.
      type: str
    directory:
      description: Its path.
      type: str
    complete:
      description: Whether its build came to its end.
      type: bool
    current:
      description: Whether C(current) points to it.
      type: bool
    built_at:
      description: When its build ended (ISO 8601, UTC), empty for an incomplete one.
      type: str
    healthy_at:
      description: When it was first seen healthy, empty if never.
      type: str
    processes:
      description:
        - Processes with an argument or a working directory inside the release, each with C(pid) and C(command);
          for an incomplete release that is the build at work.
      type: list
      elements: dict
    release:
      description: Content of its C(release.json), null for an incomplete one.
      type: dict
"""

import typing as t
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.inferops.blackwell.plugins.module_utils._releases import current_id, list_releases


def main() -> t.NoReturn:
    module = AnsibleModule(
        argument_spec={"prefix": {"type": "path", "required": True}},
        supports_check_mode=True,
    )
    prefix = Path(module.params["prefix"])
    module.exit_json(changed=False, current=current_id(prefix), releases=list_releases(prefix))


if __name__ == "__main__":
    main()

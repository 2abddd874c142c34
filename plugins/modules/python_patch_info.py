# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What python_patch has applied on a tree."""

from __future__ import annotations

DOCUMENTATION = r"""
module: python_patch_info
short_description: Show the patch sets of a tree and whether they still stand
version_added: 0.1.0
description:
  - Compares the files of a tree with the records of M(inferops.blackwell.python_patch) by content hash.
  - Reads only; where a run was interrupted, the next run of M(inferops.blackwell.python_patch) repairs it.
extends_documentation_fragment:
  - inferops.blackwell.attributes
  - inferops.blackwell.attributes.info_module
author:
  - inferops contributors (@inferops)
options:
  root:
    description: The tree.
    type: path
    required: true
  store:
    description:
      - Where backups and records are kept.
      - V(/var/lib/inferops/patches) for root and V(~/.local/state/inferops/patches) for others by default.
    type: path
  name:
    description: Only this patch set. One that the store does not know is V(pristine).
    type: str
seealso:
  - module: inferops.blackwell.python_patch
"""

EXAMPLES = r"""
- name: See what is applied
  inferops.blackwell.python_patch_info:
    root: /opt/inferops/current/src
  register: patched

- name: Require that nobody changed the patched files
  ansible.builtin.assert:
    that: patched.patches | map(attribute='status') | reject('in', ['applied', 'pristine']) | list | length == 0
"""

RETURN = r"""
patches:
  description: The patch sets of the tree, in the order in which they came.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: The patch set.
      type: str
      returned: always
    status:
      description:
        - V(applied), V(pristine), V(drifted) (a file was changed by someone else), V(missing) (a file is gone) or
          V(interrupted) (a run was killed; the next one repairs it).
      type: str
      returned: always
    files:
      description:
        - The files, as in M(inferops.blackwell.python_patch), and in C(sha256) the hash of what stands there now.
      type: list
      elements: dict
      returned: always
    applied_at:
      description: When the set was applied, UTC.
      type: str
      returned: always
    applied_by:
      description: Who applied it.
      type: str
      returned: always
    host:
      description: On which host.
      type: str
      returned: always
    python:
      description: The interpreter that proved it.
      type: str
      returned: always
    removed_at:
      description: When it was taken off, UTC.
      type: str
      returned: always
    removed_by:
      description: Who took it off.
      type: str
      returned: always
"""

import typing as t

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.inferops.blackwell.plugins.module_utils._python_patch.errors import PatchError
from ansible_collections.inferops.blackwell.plugins.module_utils._python_patch.options import default_store
from ansible_collections.inferops.blackwell.plugins.module_utils._python_patch.report import patches

# A writer holds the tree for well under a second, plus its validate commands.
LOCK_TIMEOUT_SECONDS = 60


def main() -> t.NoReturn:
    module = AnsibleModule(
        argument_spec={
            "root": {"type": "path", "required": True},
            "store": {"type": "path"},
            "name": {"type": "str"},
        },
        supports_check_mode=True,
    )
    options = module.params
    try:
        found = patches(options["root"], options["store"] or default_store(), options["name"], LOCK_TIMEOUT_SECONDS)
    except PatchError as error:
        module.fail_json(msg=str(error))
    module.exit_json(changed=False, patches=found)


if __name__ == "__main__":
    main()

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
module: sglang_tree_info
short_description: Read which SGLang a source tree holds
version_added: 0.1.0
author:
  - inferops contributors (@inferops)
description:
  - Reads the version of a tree without importing it, so what it needs may be missing, and it may be broken.
  - Looks, in this order, at the literal in C(sglang/_version.py) and C(sglang/version.py), at the metadata beside the
    package (C(dist-info), C(egg-info), C(PKG-INFO)), and at a git tag C(v...) on the commit that is checked out.
extends_documentation_fragment:
  - inferops.blackwell.attributes
  - inferops.blackwell.attributes.info_module
options:
  root:
    description: The directory that contains the package C(sglang).
    type: path
    required: true
"""

EXAMPLES = r"""
- name: Read the version of a tree
  inferops.blackwell.sglang_tree_info:
    root: /opt/sglang/python
  register: tree
"""

RETURN = r"""
package:
  description: Path of the package. Empty where O(root) holds none.
  returned: always
  type: str
  sample: /opt/sglang/python/sglang
version:
  description: The version as written. Empty where nothing states it, as in a shallow clone without tags.
  returned: always
  type: str
  sample: 0.5.9
version_source:
  description: What stated it.
  returned: always
  type: str
  sample: sglang/_version.py
nearby:
  description: Where O(root) holds no package, directories close to it that do.
  returned: always
  type: list
  elements: str
"""

import typing as t
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.inferops.blackwell.plugins.module_utils._sglang_tree import read_tree


def main() -> t.NoReturn:
    module = AnsibleModule(
        argument_spec={"root": {"type": "path", "required": True}},
        supports_check_mode=True,
    )
    module.exit_json(changed=False, **read_tree(Path(module.params["root"]))._asdict())


if __name__ == "__main__":
    main()

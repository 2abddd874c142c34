# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
module: model_info
short_description: Check whether a directory holds a model that can be served
version_added: 0.1.0
author:
  - inferops contributors (@inferops)
description:
  - Reads the configuration, the index of the weights and the header of every weight file, not the weights.
  - Finds missing parts, downloads that were cut off, Git LFS pointers in place of weights, and files that the
    account of the server may not read.
  - Never fails because of what it finds.
extends_documentation_fragment:
  - inferops.blackwell.attributes
  - inferops.blackwell.attributes.info_module
options:
  path:
    description: The directory of the model.
    type: path
    required: true
  user:
    description:
      - The account that must be able to read it. One that does not exist yet is taken for a stranger to all files.
      - Without root the question is asked for the account that runs the module.
    type: str
    required: true
"""

EXAMPLES = r"""
- name: Look at the model
  inferops.blackwell.model_info:
    path: /data/models/llama
    user: sglang
  register: model

- name: Stop when something is wrong with it
  ansible.builtin.assert:
    that: model.problems | length == 0
"""

RETURN = r"""
architecture:
  description: The class of the model, as its configuration names it; empty when unknown.
  type: str
  returned: success
  sample: LlamaForCausalLM
bytes:
  description: Size of all weight files.
  type: int
  returned: success
weights:
  description: Names of the weight files, also of those that are missing.
  type: list
  elements: str
  returned: success
problems:
  description: What would keep a server from loading it.
  type: list
  elements: str
  returned: success
"""

import typing as t
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.inferops.blackwell.plugins.module_utils._preflight.model_directory import inspect


def main() -> t.NoReturn:
    module = AnsibleModule(
        argument_spec={"path": {"type": "path", "required": True}, "user": {"type": "str", "required": True}},
        supports_check_mode=True,
    )
    model = inspect(Path(module.params["path"]), module.params["user"])
    module.exit_json(changed=False, **model._asdict())


if __name__ == "__main__":
    main()

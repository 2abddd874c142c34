# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where patterns stand in a Python file."""

from __future__ import annotations

DOCUMENTATION = r"""
module: python_source_info
short_description: Look for syntax patterns in a Python file
version_added: 0.1.0
description:
  - A grep that reads the syntax tree, so that comments, strings, line breaks and the order of keywords do not matter.
  - The file is parsed, never imported, in the interpreter that runs the module.
extends_documentation_fragment:
  - inferops.blackwell.attributes
  - inferops.blackwell.attributes.info_module
author:
  - inferops contributors (@inferops)
options:
  path:
    description: The file.
    type: path
    required: true
  queries:
    description: What to look for.
    type: list
    elements: dict
    required: true
    suboptions:
      pattern:
        description: A pattern as in M(inferops.blackwell.python_patch).
        type: str
        required: true
      in:
        description: The dotted scope. The whole file with its nested scopes where absent.
        type: str
seealso:
  - module: inferops.blackwell.python_patch
"""

EXAMPLES = r"""
- name: Find an option of the server
  inferops.blackwell.python_source_info:
    path: /opt/inferops/current/src/sglang/srt/server_args.py
    queries:
      - in: ServerArgs.add_cli_args
        pattern: parser.add_argument("--speculative-disable-batch-threshold", ...)
  register: option
"""

RETURN = r"""
results:
  description: One item per query, in the same order.
  returned: success
  type: list
  elements: dict
  contains:
    pattern:
      description: The pattern, as given.
      type: str
      returned: always
    in:
      description: The scope, null for the whole file.
      type: str
      returned: always
    count:
      description: How often the pattern matches.
      type: int
      returned: always
    lines:
      description: The line on which each match begins.
      type: list
      elements: int
      returned: always
"""

import typing as t

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.inferops.blackwell.plugins.module_utils._python_patch.errors import PatchError
from ansible_collections.inferops.blackwell.plugins.module_utils._python_patch.report import query


def main() -> t.NoReturn:
    module = AnsibleModule(
        argument_spec={
            "path": {"type": "path", "required": True},
            "queries": {
                "type": "list",
                "elements": "dict",
                "required": True,
                "options": {"pattern": {"type": "str", "required": True}, "in": {"type": "str"}},
            },
        },
        supports_check_mode=True,
    )
    try:
        results = query(module.params["path"], module.params["queries"])
    except PatchError as error:
        module.fail_json(msg=str(error))
    module.exit_json(changed=False, results=results)


if __name__ == "__main__":
    main()

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
module: report
short_description: Print a text for people as it is
version_added: 0.1.0
description:
  - Prints a text to the output of the play, without quotes, escapes or indentation. The same in check mode.
  - It has an action plugin of the same name and runs on the controller only.
author:
  - inferops contributors (@inferops)
extends_documentation_fragment:
  - inferops.blackwell.attributes
  - inferops.blackwell.attributes.info_module
options:
  text:
    description: A text, or a list of its lines.
    type: raw
    required: true
"""

EXAMPLES = r"""
- name: Say where the server answers
  inferops.blackwell.report:
    text:
      - "host    {{ inventory_hostname }}"
      - "url     {{ server_result.url }}"
"""

RETURN = r"""
text:
  description: What was printed.
  returned: success
  type: str
"""

import typing as t

from ansible.module_utils.basic import AnsibleModule


def main() -> t.NoReturn:
    """Only reached by a caller that passes the action plugin by: there is nobody to print to on a target."""
    module = AnsibleModule(argument_spec={"text": {"type": "raw", "required": True}}, supports_check_mode=True)
    text = module.params["text"]
    module.exit_json(changed=False, text="\n".join(map(str, text)) if isinstance(text, list) else str(text))


if __name__ == "__main__":
    main()

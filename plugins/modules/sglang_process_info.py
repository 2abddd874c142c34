# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: sglang_process_info
short_description: See whether an SGLang server runs, and with which command line
version_added: 0.1.0
author:
  - inferops contributors (@inferops)
description:
  - Asks systemd or supervisor for the server's process and reads from C(/proc) what that process was started with.
  - Whether it answers is another question, for M(inferops.blackwell.sglang_health).
extends_documentation_fragment:
  - inferops.blackwell.attributes
  - inferops.blackwell.attributes.info_module
options:
  unit:
    description: The systemd unit.
    type: str
  program:
    description: The program of supervisor. Needs O(supervisor_socket).
    type: str
  supervisor_socket:
    description: The socket that supervisord listens on.
    type: path
  pid_file:
    description: Where the launch file noted the process; to find a server whose manager is gone.
    type: path
seealso:
  - module: inferops.blackwell.sglang_health
"""

EXAMPLES = r"""
- name: See what serves
  inferops.blackwell.sglang_process_info:
    unit: sglang@main.service
  register: serving

- name: Show its command line
  ansible.builtin.debug:
    msg: "{{ serving.arguments | join(' ') }}"
"""

RETURN = r"""
running:
  description: Whether there is a process.
  type: bool
  returned: always
manager:
  description:
    - The manager's own word for the state, for instance V(active), V(running), V(fatal).
    - V(down) when the manager does not answer, V(unknown) when it does not know the server.
  type: str
  returned: always
pid:
  description: The process, V(0) without one.
  type: int
  returned: always
arguments:
  description: Its command line.
  type: list
  elements: str
  returned: always
executable:
  description: The program that it runs, links resolved; empty when that may not be read.
  type: str
  returned: always
user:
  description: The account that it runs as.
  type: str
  returned: always
orphan:
  description: A server that was started by launch files and that its manager no longer knows, V(0) without one.
  type: int
  returned: always
launch:
  description: Digest of the launch files that it was started with; empty when that may not be read.
  type: str
  returned: always
"""

import typing as t

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.inferops.blackwell.plugins.module_utils._server_process import server_state


def main() -> t.NoReturn:
    module = AnsibleModule(
        argument_spec={
            "unit": {"type": "str"},
            "program": {"type": "str"},
            "supervisor_socket": {"type": "path"},
            "pid_file": {"type": "path"},
        },
        required_one_of=[("unit", "program")],
        mutually_exclusive=[("unit", "program")],
        required_by={"program": ("supervisor_socket",)},
        supports_check_mode=True,
    )
    params = module.params
    state = server_state(params["unit"], params["supervisor_socket"], params["program"], params["pid_file"])
    module.exit_json(changed=False, **state)


if __name__ == "__main__":
    main()

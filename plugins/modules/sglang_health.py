# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
module: sglang_health
short_description: Wait until an SGLang server really answers, or say why it never will
version_added: 0.1.0
description:
  - Waits until the server's process and its schedulers live, C(/health) has answered 200 several times in a row, and a
    real request for tokens was answered.
  - Fails at once, not at the time-out, when the process died, is restarted over and over, lost a scheduler, when
    another process holds the port, or when the log shows a known fatal cause. It names cause, evidence and remedy.
  - With its action plugin it shows what the server is doing while it waits.
author:
  - inferops contributors (@inferops)
extends_documentation_fragment:
  - inferops.blackwell.attributes
  - inferops.blackwell.attributes.info_module
options:
  url:
    description: Where the server answers, without a path.
    type: str
    required: true
  api_key:
    description: The key that the server wants. C(/health) itself needs none.
    type: str
  timeout_seconds:
    description: The longest time to wait. Big models and first starts on a new GPU take many minutes.
    type: int
    default: 1800
  process:
    description:
      - Who runs the server. Exactly one of V(unit) (a systemd unit), V(supervisor) (the name of a program; it needs
        V(supervisor_socket), or V(supervisor_config) that names the socket) and V(pid_file).
      - A string is a pid file when it begins with a slash, else a unit.
      - Without it, only the log and the answers count.
    type: raw
  log:
    description:
      - The server's log, a path; or the name of a unit, whose journal is read then.
    type: str
  log_offset:
    description:
      - The size of the log (bytes) before the server was started. What stands before it belongs to an earlier run.
      - Without it, the start time of the process and the time stamps in the log tell the runs apart.
    type: int
  healthy_answers:
    description: How many answers of C(/health) in a row count.
    type: int
    default: 3
  prompt:
    description: The text of the real request at the end.
    type: str
    default: The capital of France is
  input_ids:
    description: Token ids instead of O(prompt), for a server without tokenizer.
    type: list
    elements: int
  max_new_tokens:
    description: How many tokens to ask for.
    type: int
    default: 8
  generate_timeout_seconds:
    description: The longest time to wait for the answer of the real request; the first one may compile kernels.
    type: int
    default: 300
notes:
  - Who holds a port, and how a process of another account ended, only root sees. Nothing fails without it.
"""

EXAMPLES = r"""
- name: Wait for the server
  inferops.blackwell.sglang_health:
    url: http://127.0.0.1:30000
    process:
      unit: sglang@main.service
    log: sglang@main.service
    timeout_seconds: 1800

- name: The same where supervisor runs it
  inferops.blackwell.sglang_health:
    url: http://127.0.0.1:30000
    api_key: "{{ server_api_key }}"
    process:
      supervisor: sglang-main
      supervisor_socket: /opt/inferops/supervisor/supervisor.sock
    log: /opt/inferops/logs/sglang-main.log
    log_offset: "{{ log_before.stat.size | default(0) }}"
"""

RETURN = r"""
healthy:
  description: Whether the server answers. When it does not, the task fails.
  returned: always
  type: bool
seconds:
  description: How long it took from the first look.
  returned: always
  type: float
  sample: 52.3
phase:
  description: Where the server was in the end.
  returned: always
  type: str
  sample: healthy
cause:
  description: A stable id for the reason; null when healthy. docs/health.md lists them.
  returned: always
  type: str
  sample: port_taken
evidence:
  description: The lines that show it; null when healthy.
  returned: always
  type: str
  sample: "127.0.0.1:30000 is held by process 812 (nginx): nginx: master process"
remedy:
  description: What to do; null when healthy.
  returned: always
  type: str
pid:
  description: The main process, when O(process) tells.
  returned: always
  type: int
version:
  description: The version that the server says it has.
  returned: always
  type: str
  sample: 0.5.9
model:
  description: The model that the server says it serves.
  returned: always
  type: str
text:
  description: What it generated.
  returned: always
  type: str
"""

import typing as t

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.inferops.blackwell.plugins.module_utils._sglang_health.run import ARGUMENTS, SglangHealth


def main() -> t.NoReturn:
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)
    SglangHealth(module).run()


if __name__ == "__main__":
    main()

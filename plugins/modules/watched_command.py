# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
module: watched_command
short_description: Run a long command and show what it does while it runs
version_added: 0.1.0
description:
  - Runs a command that takes minutes (an installation, a download, a build) on the target, detached from the
    connection, and shows its newest line in the output of the play whenever it changes, and at least every 20
    seconds that it still runs.
  - The command writes to a log on the target. When it fails, the message holds the last lines and the path of the log.
  - When nobody watches any more (the play was interrupted, the controller died), the command and all that it
    started is ended within about a minute. An interrupted connection is taken up again within that time.
author:
  - inferops contributors (@inferops)
extends_documentation_fragment:
  - inferops.blackwell.attributes
attributes:
  check_mode:
    support: full
    details: The command is not run; the change is predicted from O(creates).
  diff_mode:
    support: none
  idempotent:
    support: partial
    details: Only with O(creates).
options:
  argv:
    description: The command as a list. No shell is involved. Needed unless O(job) is given.
    type: list
    elements: str
    default: []
  chdir:
    description: The directory to run the command in.
    type: path
  log:
    description:
      - The file on the target to append standard output and standard error to.
      - Without it a temporary file (mode V(0600)) is used, which stays only when the command fails.
    type: path
  label:
    description:
      - How the command is called in the output. The default is the name of the program.
    type: str
  timeout_seconds:
    description: After this time the command is ended and the task fails.
    type: int
    default: 3600
  creates:
    description: A path. When it exists the command is not run.
    type: path
  success_rcs:
    description: The exit statuses that mean success.
    type: list
    elements: int
    default: [0]
  background:
    description:
      - Start the command and go on with the play. A later task gets the returned RV(job) as its O(job), shows what the
        command does from then on, waits for its end and fails as it does.
      - Nobody watches meanwhile. If the play ends before, the command goes on to its end, for at most
        O(timeout_seconds); its result then stays in a small directory below the temporary directory.
      - A command that ends at once has its result returned by this task, and no RV(job).
    type: bool
    default: false
  nice:
    description:
      - Run the command so much nicer to everything else on the host, V(0) to V(19). Where the kernel shares out the
        cores by session (autogroup), the session gets that niceness too.
    type: int
    default: 0
  job:
    description:
      - A command that an earlier task started with O(background), to wait for. Of the other options only O(label),
        O(success_rcs) and O(timeout_seconds) matter then. A job is waited for once.
    type: dict
    suboptions:
      directory:
        description: Where command and watcher meet.
        type: path
        required: true
      log:
        description: What the command writes to.
        type: path
        required: true
      temporary_log:
        description: Whether the log goes when the command has succeeded.
        type: bool
        required: true
      start:
        description: Where the output of this command begins in the log, in bytes.
        type: int
        required: true
notes:
  - The C(environment) of the task is the environment of the command. E(PYTHONUNBUFFERED) is set unless it is there
    already, since a Python program would show nothing for minutes otherwise.
  - Passwords in URLs, and values of environment variables whose names say that they are secret (for instance
    E(HF_TOKEN)), are masked in everything that is shown or returned. The log itself holds what the command wrote.
    With C(no_log) only the elapsed time is shown.
  - C(async) is not supported and not needed.
"""

EXAMPLES = r"""
- name: Install SGLang
  inferops.blackwell.watched_command:
    argv: [/usr/local/bin/uv, pip, install, --python, /opt/sglang/venv/bin/python, sglang==0.5.9]
    log: /opt/sglang/logs/build.log
    label: install SGLang
    timeout_seconds: 1800
  environment:
    UV_CACHE_DIR: /opt/sglang/cache/uv

- name: Fetch the weights once
  inferops.blackwell.watched_command:
    argv: [/opt/sglang/venv/bin/hf, download, meta-llama/Llama-3.1-8B, --local-dir, /data/models/llama]
    creates: /data/models/llama/config.json
    label: download the model

- name: Compile while other tasks run
  inferops.blackwell.watched_command:
    argv: [/opt/sglang/venv/bin/python, -m, compileall, -q, /opt/sglang/venv/lib]
    background: true
  register: compiling

- name: Wait for it
  inferops.blackwell.watched_command:
    job: "{{ compiling.job }}"
    label: compile
  when: compiling.job is defined
"""

RETURN = r"""
job:
  description: What O(job) of a later task waits for.
  returned: with O(background), unless the command ended at once
  type: dict
rc:
  description: The exit status; negative when a signal ended the command.
  returned: when the command ran
  type: int
  sample: 0
seconds:
  description: How long the command ran.
  returned: when the command ran
  type: float
  sample: 71.4
log:
  description: The log on the target; empty when a temporary one was used and the command succeeded or wrote nothing.
  returned: success or failure of the command
  type: str
  sample: /opt/sglang/logs/build.log
stdout:
  description: The last lines that the command wrote, to standard output or standard error.
  returned: when the command ran
  type: str
tail:
  description: The same as a list.
  returned: when the command ran
  type: list
  elements: str
"""

import typing as t

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.inferops.blackwell.plugins.module_utils._watched_command.run import ARGUMENTS, WatchedCommand


def main() -> t.NoReturn:
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)
    WatchedCommand(module).run()


if __name__ == "__main__":
    main()

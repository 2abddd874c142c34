# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run a module's main() in this process, as Ansible would hand it its arguments."""

from __future__ import annotations

import contextlib
import io
import json
import types
import typing as t

from ansible.module_utils import basic


def run(
    module: types.ModuleType, *, check: bool = False, diff: bool = False, no_log: bool = False, **options: t.Any
) -> t.Any:
    """What the module prints; `rc` in it is the exit status."""
    arguments = {**options, "_ansible_check_mode": check, "_ansible_diff": diff, "_ansible_no_log": no_log}
    output = io.StringIO()
    with _arguments(arguments), contextlib.redirect_stdout(output):
        try:
            module.main()
        except SystemExit as ended:
            return {**json.loads(output.getvalue()), "rc": ended.code or 0}
    raise AssertionError("a module ends with exit_json or fail_json")


@contextlib.contextmanager
def _arguments(arguments: dict[str, t.Any]) -> t.Iterator[None]:
    try:
        from ansible.module_utils.testing import patch_module_args
    except ImportError:  # ansible-core 2.18 and older
        before = basic._ANSIBLE_ARGS
        basic._ANSIBLE_ARGS = json.dumps({"ANSIBLE_MODULE_ARGS": arguments}).encode()
        try:
            yield
        finally:
            basic._ANSIBLE_ARGS = before
    else:
        with patch_module_args(arguments):
            yield

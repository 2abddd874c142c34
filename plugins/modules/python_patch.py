# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Transactional, AST-anchored source patches."""

from __future__ import annotations

DOCUMENTATION = r"""
module: python_patch
short_description: Patch Python sources as one transaction, anchored in the syntax tree
version_added: 0.1.0
description:
  - Inserts and replaces statements in Python files at places that are named by patterns of the syntax tree,
    and adds new files. Either all files change or none.
  - Bytes outside the inserted and replaced text stay as they are. Before anything is written, the result is parsed
    and compiled, and its syntax tree without the inserted nodes is compared with the original's.
  - The pristine files are kept in a store outside the tree, and O(state=absent) gives them back byte for byte.
  - A file that someone else changed since, or that holds the edits already without a record in the store, is never
    overwritten.
extends_documentation_fragment:
  - inferops.blackwell.attributes
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: full
author:
  - inferops contributors (@inferops)
options:
  name:
    description: The name of the patch set on this tree.
    type: str
    required: true
  root:
    description: The tree that is patched. Every path of a file is relative to it and may not leave it.
    type: path
    required: true
  state:
    description:
      - With V(present) the tree holds the patch set.
      - With V(absent) its files are given back their pristine content; a success without change where the set
        is not applied. Only O(name), O(root) and O(store) are needed.
    type: str
    choices: [present, absent]
    default: present
  files:
    description: The files of the patch set. Required with O(state=present).
    type: list
    elements: dict
    suboptions:
      path:
        description: The file, relative to O(root).
        type: str
        required: true
      content:
        description:
          - The content of a file that does not exist in the pristine tree.
          - Exactly one of O(files[].content) and O(files[].edits) is given.
        type: str
      edits:
        description: Edits of an existing file. All are located on the pristine file.
        type: list
        elements: dict
        suboptions:
          in:
            description:
              - The dotted scope, for instance V(ServerArgs.add_cli_args). The module level where absent.
              - Where a name is defined several times, V(name#2) is its second definition.
            type: str
          after:
            description: Insert below the statement that this pattern names.
            type: str
          before:
            description: Insert above the statement that this pattern names.
            type: str
          replace:
            description: Replace exactly what this pattern matches.
            type: str
          at:
            description: Insert at the start of the scope, below its docstring, or at its end.
            type: str
            choices: [start, end]
          insert:
            description:
              - Dedented source. It takes indentation and line ends of its place.
              - May be empty with O(files[].edits[].replace) only.
            type: str
            required: true
      expect:
        description: Patterns that must hold in the result.
        type: list
        elements: dict
        suboptions:
          pattern:
            description: The pattern.
            type: str
            required: true
          in:
            description: The dotted scope. The module level where absent.
            type: str
          count:
            description: How often the pattern matches.
            type: int
            default: 1
  store:
    description:
      - Where backups and records are kept, readable by their owner only.
      - V(/var/lib/inferops/patches) for root and V(~/.local/state/inferops/patches) for others by default.
    type: path
  validate:
    description:
      - Commands that run with O(root) as working directory once the files are in place. If one fails, all files
        go back.
      - Each is split into words like a shell would do it, but never given to a shell.
    type: list
    elements: str
    default: []
  lock_timeout_seconds:
    description: How long to wait for another writer of the same tree or store.
    type: int
    default: 60
  prune:
    description: Remove backups that nothing refers to any more, and records of trees that are gone.
    type: bool
    default: false
  unsafe_writes:
    description: Write in place, not atomically, where a file cannot be replaced by a rename (a bind-mounted file).
    type: bool
    default: false
seealso:
  - module: inferops.blackwell.python_patch_info
  - module: inferops.blackwell.python_source_info
"""

EXAMPLES = r"""
- name: Add a field and its command line option
  inferops.blackwell.python_patch:
    name: batch-threshold
    root: /opt/inferops/current/src
    files:
      - path: sglang/srt/server_args.py
        edits:
          - in: ServerArgs
            after: "speculative_accept_threshold_acc: ... = ..."
            insert: "speculative_disable_batch_threshold: int = 0  # 0 = always speculate"
          - in: ServerArgs.add_cli_args
            after: parser.add_argument("--speculative-accept-threshold-acc", ...)
            insert: |
              parser.add_argument(
                  "--speculative-disable-batch-threshold",
                  type=int,
                  default=ServerArgs.speculative_disable_batch_threshold,
              )
        expect:
          - in: ServerArgs
            pattern: "speculative_disable_batch_threshold: int = 0"
    validate:
      - python3 -m py_compile sglang/srt/server_args.py

- name: Give the pristine files back
  inferops.blackwell.python_patch:
    name: batch-threshold
    root: /opt/inferops/current/src
    state: absent
"""

RETURN = r"""
status:
  description: What holds on the tree now. In a failure it may also be V(drifted), V(missing) or V(interrupted).
  returned: always
  type: str
  sample: applied
files:
  description: The files of the patch set.
  returned: success, and when a file was changed by someone else
  type: list
  elements: dict
  contains:
    path:
      description: The path, as given.
      type: str
      returned: always
    status:
      description: V(applied) or V(pristine); V(drifted) or V(missing) in a failure.
      type: str
      returned: always
    sha256_before:
      description: Hash of the pristine file, null for a new file.
      type: str
      returned: always
    sha256_after:
      description: Hash of the patched file.
      type: str
      returned: always
    backup:
      description: A plain copy of the pristine file, null for a new file.
      type: str
      returned: always
    edits:
      description: One item per edit, in the order of the recipe; one item for a new file.
      type: list
      elements: dict
      returned: always
      contains:
        first_line:
          description: First inserted line in the new file, null where nothing was inserted.
          type: int
          returned: always
        last_line:
          description: Last inserted line in the new file, null where nothing was inserted.
          type: int
          returned: always
"""

import typing as t

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.inferops.blackwell.plugins.module_utils._python_patch.engine import absent, present
from ansible_collections.inferops.blackwell.plugins.module_utils._python_patch.errors import PatchError
from ansible_collections.inferops.blackwell.plugins.module_utils._python_patch.options import default_store
from ansible_collections.inferops.blackwell.plugins.module_utils._python_patch.planning import Request

EDIT: dict[str, t.Any] = {
    "in": {"type": "str"},
    "after": {"type": "str"},
    "before": {"type": "str"},
    "replace": {"type": "str"},
    "at": {"type": "str", "choices": ["start", "end"]},
    "insert": {"type": "str", "required": True},
}
EXPECT: dict[str, t.Any] = {
    "pattern": {"type": "str", "required": True},
    "in": {"type": "str"},
    "count": {"type": "int", "default": 1},
}
FILE: dict[str, t.Any] = {
    "path": {"type": "str", "required": True},
    "content": {"type": "str"},
    "edits": {"type": "list", "elements": "dict", "options": EDIT},
    "expect": {"type": "list", "elements": "dict", "options": EXPECT},
}


def run(module: AnsibleModule) -> dict[str, t.Any]:
    options = module.params
    request = Request(
        name=options["name"],
        root=options["root"],
        store=options["store"] or default_store(),
        files=options["files"] or [],
        validate=options["validate"],
        lock_timeout_seconds=options["lock_timeout_seconds"],
        prune=options["prune"],
        unsafe_writes=options["unsafe_writes"],
        check=module.check_mode,
    )
    result = present(request) if options["state"] == "present" else absent(request)
    for warning in result.warnings:
        module.warn(warning)
    answer: dict[str, t.Any] = {"changed": result.changed, "status": result.status, "files": result.files}
    # A recipe under no_log shows nothing, not even through a callback that prints diffs.
    if module._diff and not module.no_log:
        answer["diff"] = result.diff
    return answer


def main() -> t.NoReturn:
    module = AnsibleModule(
        argument_spec={
            "name": {"type": "str", "required": True},
            "root": {"type": "path", "required": True},
            "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
            "files": {"type": "list", "elements": "dict", "options": FILE},
            "store": {"type": "path"},
            "validate": {"type": "list", "elements": "str", "default": []},
            "lock_timeout_seconds": {"type": "int", "default": 60},
            "prune": {"type": "bool", "default": False},
            "unsafe_writes": {"type": "bool", "default": False},
        },
        required_if=[("state", "present", ["files"])],
        supports_check_mode=True,
    )
    try:
        answer = run(module)
    except PatchError as error:
        extra: dict[str, t.Any] = {"status": error.status, "files": error.files}
        module.fail_json(msg=str(error), **{key: value for key, value in extra.items() if value is not None})
    module.exit_json(**answer)


if __name__ == "__main__":
    main()

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
module: tiny_model
short_description: Make a small language model from a seed, without downloads
version_added: 0.1.0
author:
  - inferops contributors (@inferops)
description:
  - Writes a directory that SGLang and transformers load like any other model. It is a C(LlamaForCausalLM) with a
    vocabulary of 512, hidden size 64, 4 layers and 4 heads, in float32, about 0.9 MB, with random weights and a
    byte-level BPE tokenizer.
  - It serves to prove an installation. What it generates has no meaning.
  - The same seed gives the same bytes on every machine.
extends_documentation_fragment:
  - inferops.blackwell.attributes
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
    details: Shows the sha256 of each file.
  idempotent:
    support: full
options:
  path:
    description:
      - The model's directory. It is replaced as a whole when it holds a model of this module that differs,
        and refused when it holds anything else.
    type: path
    required: true
  seed:
    description: What the weights are made of.
    type: int
    default: 0
"""

EXAMPLES = r"""
- name: Make a model to try the server with
  inferops.blackwell.tiny_model:
    path: /opt/inferops/models/tiny
"""

RETURN = r"""
path:
  description: The model's directory.
  type: str
  returned: success
files:
  description: The sha256 of each file.
  type: dict
  returned: success
"""

import os
import typing as t
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.inferops.blackwell.plugins.module_utils._tiny_model.directory import (
    ForeignModelError,
    is_current,
    make,
    present_digests,
    read_marker,
    refuse_foreign,
    write,
)


def main() -> t.NoReturn:
    module = AnsibleModule(
        argument_spec={"path": {"type": "path", "required": True}, "seed": {"type": "int", "default": 0}},
        supports_check_mode=True,
    )
    os.umask(0o022)  # the service's account reads from here
    path, seed = Path(module.params["path"]), module.params["seed"]
    if is_current(path, seed):
        module.exit_json(changed=False, path=str(path), files=read_marker(path)["files"])
    try:
        refuse_foreign(path)
        files, marker = make(seed)
        digests = marker["files"]
        before = present_digests(path, digests)
        if not module.check_mode:
            write(path, files, marker)
    except (ForeignModelError, OSError) as error:
        module.fail_json(msg=f"no model was made in {path}: {error}")
    module.exit_json(changed=True, path=str(path), files=digests, diff={"before": before, "after": digests})


if __name__ == "__main__":
    main()

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: source_manifest
short_description: Record, verify and restore the source files of a Python package
version_added: 0.1.0
author:
  - inferops contributors (@inferops)
description:
  - Records the SHA-256 and size of every file of a package below a tree, and the bytes themselves in an archive.
  - Verifies the tree against that record at any later time, and restores files from the archive.
  - Bytecode is never part of a record.
extends_documentation_fragment:
  - inferops.blackwell.attributes
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: full
options:
  root:
    description: The directory that contains the package.
    type: path
    required: true
  package:
    description: Name of the package's directory below O(root).
    type: str
    default: sglang
  manifest:
    description: The JSON file that holds the record. Its directory must exist.
    type: path
    required: true
  archive:
    description:
      - Gzipped tar archive of the recorded files.
      - Without it V(recorded) keeps hashes only. O(state=restored) needs it.
    type: path
  state:
    description:
      - V(recorded) makes the record where there is none. A record that exists is kept as it is,
        since the tree may have been patched after it was made.
      - V(verified) compares the tree with the record and changes nothing. Differences are returned;
        they are no failure.
      - V(restored) puts the recorded bytes back where they differ, after a copy of what stood there has been put aside.
    type: str
    choices: [recorded, verified, restored]
    default: verified
  except:
    description:
      - Paths relative to O(root), or globs over them, that are not compared and not restored,
        for instance the files that a patch set owns.
    type: list
    elements: str
    default: []
  files:
    description:
      - With O(state=restored), the paths relative to O(root) to restore. Absent means all that changed or are missing.
      - A file that is in the tree but not in the record is taken away when it is named here.
    type: list
    elements: str
  remove_extra:
    description: With O(state=restored) and without O(files), also take files away that are not in the record.
    type: bool
    default: false
  aside:
    description:
      - Directory that receives what V(restored) replaces or takes away.
      - Default is C(aside-<UTC time>) beside the manifest.
    type: path
seealso:
  - module: inferops.blackwell.python_patch
"""

EXAMPLES = r"""
- name: Record the package as it was built
  inferops.blackwell.source_manifest:
    root: /opt/inferops/releases/0.5.9-pristine/src
    manifest: /opt/inferops/releases/0.5.9-pristine/source-manifest.json
    archive: /opt/inferops/releases/0.5.9-pristine/source.tar.gz
    state: recorded

- name: See what differs, apart from the files of a patch
  inferops.blackwell.source_manifest:
    root: /opt/inferops/current/src
    manifest: /opt/inferops/current/source-manifest.json
    except:
      - sglang/srt/server_args.py

- name: Give one file its built bytes back
  inferops.blackwell.source_manifest:
    root: /opt/inferops/current/src
    manifest: /opt/inferops/current/source-manifest.json
    archive: /opt/inferops/current/source.tar.gz
    state: restored
    files:
      - sglang/srt/server_args.py
"""

RETURN = r"""
digest:
  description: One SHA-256 over the recorded hashes and paths of the whole package.
  type: str
  returned: always
file_count:
  description: Number of recorded files.
  type: int
  returned: always
record:
  description:
    - How the recorded files compare to the wheel's own RECORD, null where the tree has none.
  type: dict
  returned: always
  contains:
    path:
      description: The RECORD file.
      type: str
    compared:
      description: Number of files of the package that it names.
      type: int
    differing:
      description: Paths that differ from it.
      type: list
      elements: str
matches:
  description: Whether the tree equals the record, apart from O(except); after a restore, the tree as it is then.
  type: bool
  returned: always
changed_files:
  description: Files whose content differs, each with C(path), C(sha256_expected) and C(sha256_found).
  type: list
  elements: dict
  returned: state is verified or restored
missing_files:
  description: Files of the record that are not in the tree, in the same shape.
  type: list
  elements: dict
  returned: state is verified or restored
extra_files:
  description: Files of the tree that are not in the record, in the same shape.
  type: list
  elements: dict
  returned: state is verified or restored
restored:
  description: Paths that were given back or taken away.
  type: list
  elements: str
  returned: state is restored
aside:
  description: Where the replaced files are kept, empty when nothing was replaced.
  type: str
  returned: state is restored
"""

import typing as t
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.inferops.blackwell.plugins.module_utils._source_manifest import ManifestError
from ansible_collections.inferops.blackwell.plugins.module_utils._source_manifest_states import (
    Request,
    record,
    restored,
    verify,
)


def main() -> t.NoReturn:
    module = AnsibleModule(
        argument_spec={
            "root": {"type": "path", "required": True},
            "package": {"type": "str", "default": "sglang"},
            "manifest": {"type": "path", "required": True},
            "archive": {"type": "path"},
            "state": {"type": "str", "choices": ["recorded", "verified", "restored"], "default": "verified"},
            "except": {"type": "list", "elements": "str", "default": []},
            "files": {"type": "list", "elements": "str"},
            "remove_extra": {"type": "bool", "default": False},
            "aside": {"type": "path"},
        },
        required_if=[("state", "restored", ["archive"])],
        supports_check_mode=True,
    )
    request = Request(
        root=Path(module.params["root"]),
        package=module.params["package"],
        manifest=Path(module.params["manifest"]),
        archive=Path(module.params["archive"]) if module.params["archive"] else None,
        excepted=module.params["except"],
        files=module.params["files"],
        remove_extra=module.params["remove_extra"],
        aside=Path(module.params["aside"]) if module.params["aside"] else None,
        check_mode=module.check_mode,
    )
    work = {"recorded": record, "verified": verify, "restored": restored}[module.params["state"]]
    try:
        result = work(request)
    except (ManifestError, OSError) as exc:
        module.fail_json(msg=str(exc))
    module.exit_json(**result)


if __name__ == "__main__":
    main()

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
module: apt_unpacked
short_description: Unpack packages of the distribution below a directory, the system untouched
version_added: 0.1.0
author:
  - inferops contributors (@inferops)
description:
  - Downloads packages from the distribution's signed repositories and unpacks them below a directory.
    Nothing is installed, no maintainer script runs, and neither C(/etc/apt) nor C(/var/lib/apt) is written.
  - Works without root. apt runs with sources, lists and caches of its own in a temporary directory;
    it verifies signatures and digests as always. Proxies, credentials and keyrings of the system hold.
  - The sources are the system's own entries for the distribution; entries of third parties are left out.
  - Dependencies are not followed.
extends_documentation_fragment:
  - inferops.blackwell.attributes
attributes:
  check_mode:
    support: full
    details: Asks apt whether there is a candidate, and fails where there is none, but downloads and unpacks nothing.
  diff_mode:
    support: none
  idempotent:
    support: full
    details: What is unpacked already is not updated; remove O(dest) for that. The network is not asked then.
options:
  packages:
    description: Names of packages.
    type: list
    elements: str
    required: true
  dest:
    description:
      - The directory to unpack below. It is replaced as a whole, and refused when it holds anything else.
    type: path
    required: true
  components:
    description:
      - Components of the archive to look in, for instance V(non-free). Empty means those of the system's entries.
      - A component alone is much quicker to read than all of them.
    type: list
    elements: str
    default: []
  unless_library:
    description:
      - The name of a shared library, for instance V(libcuda.so.1). Where the system's loader finds it already,
        nothing is unpacked.
    type: str
  sources_root:
    description: The directory with C(sources.list) and C(sources.list.d).
    type: path
    default: /etc/apt
"""

EXAMPLES = r"""
- name: Provide libcuda without a driver
  inferops.blackwell.apt_unpacked:
    packages: [libcuda1]
    components: [non-free]
    dest: /opt/inferops/lib/libcuda
    unless_library: libcuda.so.1
"""

RETURN = r"""
packages:
  description: Name, version and sha256 of each archive; without sha256 in check mode.
  type: list
  elements: dict
  returned: success
  sample: [{name: libcuda1, version: 535.261.03-1, sha256: de1e9c...}]
files:
  description:
    - Paths of all files, relative to O(dest); empty in check mode before the first run, and where O(unless_library)
      says that nothing is needed.
  type: list
  elements: str
  returned: success
"""

import os
import tempfile
import typing as t
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.inferops.blackwell.plugins.module_utils._apt_unpacked.apt import AptError
from ansible_collections.inferops.blackwell.plugins.module_utils._apt_unpacked.unpacked import (
    is_complete,
    private_apt,
    read_marker,
    refuse_foreign,
    unpack,
)
from ansible_collections.inferops.blackwell.plugins.module_utils._loader import loader_finds


def main() -> t.NoReturn:
    module = AnsibleModule(
        argument_spec={
            "packages": {"type": "list", "elements": "str", "required": True},
            "dest": {"type": "path", "required": True},
            "components": {"type": "list", "elements": "str", "default": []},
            "unless_library": {"type": "str"},
            "sources_root": {"type": "path", "default": "/etc/apt"},
        },
        supports_check_mode=True,
    )
    os.umask(0o022)  # the service's account reads from here
    dest = Path(module.params["dest"])
    packages = module.params["packages"]
    library = module.params["unless_library"]
    if library and loader_finds(library):
        module.exit_json(changed=False, packages=[], files=[])
    marker = read_marker(dest)
    if is_complete(dest, marker, packages):
        module.exit_json(changed=False, packages=marker["packages"], files=marker["files"])
    try:
        refuse_foreign(dest)
        with tempfile.TemporaryDirectory(prefix="apt-", dir=module.tmpdir) as directory:
            apt = private_apt(Path(directory), Path(module.params["sources_root"]), module.params["components"])
            if module.check_mode:
                versions = apt.candidates(packages)
                entries = [{"name": name, "version": version} for name, version in versions.items()]
                module.exit_json(changed=True, packages=entries, files=[])
            marker = unpack(apt, dest, packages)
    except (AptError, OSError) as error:
        module.fail_json(msg=f"{', '.join(packages)} cannot be unpacked into {dest}: {error}")
    module.exit_json(changed=True, packages=marker["packages"], files=marker["files"])


if __name__ == "__main__":
    main()

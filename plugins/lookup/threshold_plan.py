# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
name: threshold_plan
short_description: How a version of SGLang gets the batch threshold, and the digest of what is inserted
version_added: 0.1.0
author:
  - inferops contributors (@inferops)
description:
  - Reads the data of role C(threshold_patch) on the controller; connects to no host.
  - Role C(sglang) names a release by RV(_list[0].digest) before the patch is applied to it.
options:
  _terms:
    description:
      - Versions of SGLang.
      - An empty string, or a development version, names no release. Then every recipe is returned, the digest covers
        them all, and the structure of the tree decides when the patch is applied.
    type: list
    elements: str
    required: true
  state:
    description: The wanted state of the patch. With V(absent) the digest is C(pristine).
    type: str
    choices: [present, absent]
    default: present
  native_flag:
    description: Whether the flag is wanted also where SGLang has native tiers.
    type: bool
    default: false
  threshold:
    description: The batch threshold that the settings are written for. Not checked here.
    type: raw
    default: 0
  steps:
    description: The number of speculative steps that the native settings are written for.
    type: int
    default: 3
"""

EXAMPLES = r"""
- name: Name the release
  ansible.builtin.set_fact:
    release_id: "{{ sglang_version }}-{{ plan.digest }}"
  vars:
    plan: "{{ lookup('inferops.blackwell.threshold_plan', sglang_version, state=wanted) }}"
    wanted: "{{ threshold_patch_state | default('present') }}"
"""

RETURN = r"""
_list:
  description: One dictionary per version.
  type: list
  elements: dict
  contains:
    version:
      description: The version as given.
      type: str
    mechanism:
      description: V(patch), V(native) (the tree stays as it is) or V(refused).
      type: str
    reason:
      description: Why a version is refused, or why the structure decides; else empty.
      type: str
    digest:
      description: Twelve hex digits of what is inserted, or V(pristine) where nothing is.
      type: str
    recipes:
      description:
        - The recipes that may be applied, each with C(shape), C(name), C(proven), and C(files) for python_patch.
      type: list
      elements: dict
    settings:
      description: What to launch SGLang with so that the threshold has an effect.
      type: list
      elements: str
    environment:
      description: Environment variables that the server needs so that the threshold has an effect.
      type: dict
    native_settings:
      description: The settings of a version with native tiers, whatever this one is.
      type: list
      elements: str
    native_markers:
      description: Where a tree that does not state its version shows that it has native tiers.
      type: list
      elements: dict
"""

import typing as t

from ansible.plugins.lookup import LookupBase
from ansible_collections.inferops.blackwell.plugins.plugin_utils.threshold_plan import make_plan


class LookupModule(LookupBase):
    """`lookup('inferops.blackwell.threshold_plan', version, state=...)`."""

    def run(
        self, terms: list[t.Any], variables: dict[str, t.Any] | None = None, **kwargs: t.Any
    ) -> list[dict[str, t.Any]]:
        self.set_options(var_options=variables, direct=kwargs)
        return [
            make_plan(
                str(term),
                state=self.get_option("state"),
                native_flag=self.get_option("native_flag"),
                threshold=self.get_option("threshold"),
                steps=self.get_option("steps"),
            )
            for term in terms
        ]

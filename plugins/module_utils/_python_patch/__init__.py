# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Transactional source patches, anchored in the syntax tree.

Standard library only, Python 3.9 and newer, nothing of Ansible: the modules are thin around it.

Reading order: `pattern` and `match` (the twelve rules), `scope` and `locate` (where an edit goes), `place`,
`insertion` and `edit` (which bytes), `proof` and `foreign` (what may not happen), `plan` (one file), `planning` (one
tree), `store`, `journal` and `transaction` (all files or none, whatever happens), `engine` (present and absent),
`report` (what stands where).
"""

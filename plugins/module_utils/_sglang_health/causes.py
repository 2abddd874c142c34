# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why an SGLang server does not come up: the words it leaves in its log, as a table.

The wording comes from the sources of SGLang 0.5.3 to 0.5.23, PyTorch, transformers, huggingface_hub, CPython's
argparse and glibc's loader, and from public reports of failed starts on Blackwell hosts.

The order is from the special to the general: the first row that is found explains the death. `{name}` in `what` and
`remedy` is a named group of the pattern. Evidence is the whole lines that the match touches.
"""

from __future__ import annotations

import re

from ansible_collections.inferops.blackwell.plugins.module_utils._sglang_health.cause import Cause
from ansible_collections.inferops.blackwell.plugins.module_utils._sglang_health.causes_host import HOST
from ansible_collections.inferops.blackwell.plugins.module_utils._sglang_health.causes_model import MODEL
from ansible_collections.inferops.blackwell.plugins.module_utils._sglang_health.causes_process import PROCESS
from ansible_collections.inferops.blackwell.plugins.module_utils._sglang_health.causes_setup import SETUP

CAUSES: tuple[Cause, ...] = (*SETUP, *HOST, *MODEL, *PROCESS)

# Words after which the server is lost, whatever the reason: the reason is searched in the whole table then.
DOOM = re.compile(
    r"(?:(?:Scheduler|DetokenizerManager|DataParallelController|TokenizerManager) hit an exception"
    r"|Received sigquit from a child process|SIGQUIT received\."
    r"|Rank \d+ scheduler is dead)",
    re.MULTILINE,
)

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One known reason for a server that does not come up."""

from __future__ import annotations

import re
import typing as t

# "File ..., line ..." of a traceback; the source line and the marks below it may follow.
FRAME = r'^ *File "(?P<file>[^"\n]+)", line (?P<line>\d+)[^\n]*\n'


class Cause(t.NamedTuple):
    """One known reason."""

    id: str
    pattern: t.Pattern[str]
    what: str
    remedy: str
    # The server never recovers, though its process may live on: fail without waiting for its death. Only for words
    # that nothing logs in passing (a caught and logged ImportError for instance is harmless).
    decisive: bool = False


def row(identifier: str, pattern: str, what: str, remedy: str, decisive: bool = False) -> Cause:
    return Cause(identifier, re.compile(pattern, re.MULTILINE), what, remedy, decisive)

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A small client for one SGLang server. It never uses a proxy: the server is asked where it listens."""

from __future__ import annotations

import http.client
import json
import typing as t
import urllib.error
import urllib.request

# The server gives its own probe 20 seconds (SGLANG_HEALTH_CHECK_TIMEOUT). A client that gives up earlier never sees
# the 503, and its abandoned requests pile up in the server.
HEALTH_SECONDS = 25.0
_LONGEST_BODY = 1 << 20


class Answer(t.NamedTuple):
    """status None: no answer, `error` says why."""

    status: int | None
    body: str
    error: str = ""

    def data(self) -> t.Any:
        """The JSON in the body, or None."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None


class Client:
    def __init__(self, url: str, api_key: str | None) -> None:
        self._url = url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def get(self, path: str, seconds: float) -> Answer:
        return self._ask(urllib.request.Request(self._url + path, headers=self._headers), seconds)  # noqa: S310

    def post(self, path: str, document: dict[str, t.Any], seconds: float) -> Answer:
        request = urllib.request.Request(  # noqa: S310 - the scheme was checked
            self._url + path,
            data=json.dumps(document).encode(),
            headers={**self._headers, "Content-Type": "application/json"},
        )
        return self._ask(request, seconds)

    def _ask(self, request: urllib.request.Request, seconds: float) -> Answer:
        try:
            with self._opener.open(request, timeout=seconds) as response:
                return Answer(response.status, _text(response))
        except urllib.error.HTTPError as error:
            return Answer(error.code, _text(error))
        except urllib.error.URLError as error:
            return Answer(None, "", str(error.reason))
        except (OSError, http.client.HTTPException) as error:
            return Answer(None, "", str(error) or type(error).__name__)


def _text(response: t.Any) -> str:
    try:
        return t.cast("bytes", response.read(_LONGEST_BODY)).decode("utf-8", "replace")
    except (OSError, http.client.HTTPException):
        return ""

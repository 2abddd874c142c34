# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks the server, in a thread, so that a request that hangs does not keep us from seeing the process die."""

from __future__ import annotations

import threading
import time
import typing as t

from ansible_collections.inferops.blackwell.plugins.module_utils._sglang_health.client import (
    HEALTH_SECONDS,
    Answer,
    Client,
)
from ansible_collections.inferops.blackwell.plugins.module_utils._sglang_health.diagnose import Finding

_PAUSE_SECONDS = 0.5
# A server that starts writes a line into its log for each 503.
_PAUSE_WHILE_STARTING_SECONDS = 1.0
# A good answer of /health takes a second.
_LONG_SECONDS = 3.0
_TRIES = 3
_SHOWN = 300


class Question(t.NamedTuple):
    """The real request at the end."""

    prompt: str
    input_ids: list[int] | None
    max_new_tokens: int
    seconds: float

    def document(self) -> dict[str, t.Any]:
        # ignore_eos: a model that ends at once would look like one that cannot answer.
        sampling = {"max_new_tokens": self.max_new_tokens, "temperature": 0, "ignore_eos": True}
        if self.input_ids:
            return {"input_ids": self.input_ids, "sampling_params": sampling}
        return {"text": self.prompt, "sampling_params": sampling}


class Probe:
    """`health` several times in a row, then one real answer. A state in between survives as `state`."""

    def __init__(self, client: Client, question: Question, wanted: int, state: dict[str, t.Any]) -> None:
        self._client = client
        self._question = question
        self._wanted = wanted
        self._thread: threading.Thread | None = None
        self._next_at = 0.0
        self._asked_at = 0.0
        self._heard = False
        self.answers: int = state.get("answers", 0)
        self._failures: int = state.get("failures", 0)
        self._strange: int = state.get("strange", 0)
        self.said: str = state.get("said", "")
        self.finding: Finding | None = None
        self.done = False
        self.facts: dict[str, t.Any] = {}

    def state(self) -> dict[str, t.Any]:
        return {"answers": self.answers, "failures": self._failures, "strange": self._strange, "said": self.said}

    @property
    def pending(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    @property
    def refused(self) -> bool:
        """It was asked, and does not answer (or keeps us waiting)."""
        waiting = self.pending and time.monotonic() - self._asked_at > _LONG_SECONDS
        return self.answers == 0 and not self.done and (self._heard or waiting)

    @property
    def phase(self) -> str | None:
        """None while nothing answers."""
        if self.answers >= self._wanted:
            return "waiting for a generated answer"
        return f"healthy {self.answers}/{self._wanted}" if self.answers else None

    def pause(self, seconds: float) -> None:
        """Wait so long, or until the request in flight is answered."""
        if self._thread is not None and self._thread.is_alive():
            self._thread.join(seconds)
        else:
            time.sleep(seconds)

    def step(self) -> None:
        """Ask the next thing unless something is being asked. Call it often."""
        if self.pending or self.done or self.finding or time.monotonic() < self._next_at:
            return
        ask = self._generate if self.answers >= self._wanted else self._health
        self._asked_at = time.monotonic()
        self._next_at = self._asked_at + _PAUSE_SECONDS
        self._thread = threading.Thread(target=ask, daemon=True)
        self._thread.start()

    def _health(self) -> None:
        answer = self._client.get("/health", HEALTH_SECONDS)
        if answer.status == 200:
            self.answers += 1
            self._strange = 0
            self.said = ""
            return
        self.answers = 0
        self._heard = True
        self.said = f"/health: {_said(answer)}"
        if answer.status is not None:
            self._next_at = time.monotonic() + _PAUSE_WHILE_STARTING_SECONDS
        # 503 is SGLang that starts, is busy, or has lost its scheduler; a gateway in front of it says 502 or 504.
        if answer.status is not None and answer.status not in (500, 502, 503, 504):
            self._strange += 1
            if self._strange >= _TRIES:
                self.finding = _stranger(answer)

    def _generate(self) -> None:
        model = self._get("/model_info", "/get_model_info")
        if model.status in (401, 403):
            self.finding = _unauthorized(model)
            return
        about = model.data() if model.status == 200 else None
        if isinstance(about, dict) and about.get("is_generation") is False:
            answer = self._client.post("/encode", {"text": self._question.prompt}, self._question.seconds)
            good = _embedded(answer)
        else:
            answer = self._client.post("/generate", self._question.document(), self._question.seconds)
            good = _generated(answer)
        if good:
            self._finish(about, answer)
            return
        self.said = f"/generate: {_said(answer)}"
        self._failures += 1
        self.answers = 0
        self._heard = True
        if answer.status in (401, 403):
            self.finding = _unauthorized(answer)
        elif self._failures >= _TRIES or answer.status in (400, 404, 422):
            self.finding = Finding(
                "generate_failed",
                "the server calls itself healthy, but does not answer a real request",
                self.said,
                "Read the log at the time of the request. For a server without tokenizer give input_ids.",
            )

    def _get(self, path: str, older_path: str) -> Answer:
        answer = self._client.get(path, HEALTH_SECONDS)
        return self._client.get(older_path, HEALTH_SECONDS) if answer.status == 404 else answer

    def _finish(self, about: t.Any, answer: Answer) -> None:
        info = self._get("/server_info", "/get_server_info")
        settings = info.data() if info.status == 200 else None
        replied = answer.data()
        self.facts = {
            "version": settings.get("version") if isinstance(settings, dict) else None,
            "model": about.get("model_path") if isinstance(about, dict) else None,
            "text": replied.get("text") if isinstance(replied, dict) else None,
        }
        self.done = True


def _generated(answer: Answer) -> bool:
    """Tokens came back. (The text alone may be empty: special tokens are not shown.)"""
    data = answer.data() if answer.status == 200 else None
    return isinstance(data, dict) and bool(data.get("text") or data.get("output_ids"))


def _embedded(answer: Answer) -> bool:
    data = answer.data() if answer.status == 200 else None
    return isinstance(data, dict) and bool(data.get("embedding"))


def _said(answer: Answer) -> str:
    if answer.status is None:
        return answer.error
    return f"HTTP {answer.status} {' '.join(answer.body.split())[:_SHOWN]}".rstrip()


def _stranger(answer: Answer) -> Finding:
    return Finding(
        "not_sglang",
        "something answers at the URL that is no SGLang server",
        f"/health: {_said(answer)}",
        "Check host and port; stop the other server, or give SGLang another port.",
    )


def _unauthorized(answer: Answer) -> Finding:
    return Finding(
        "unauthorized",
        "the server does not accept the API key",
        _said(answer),
        "Give the api_key that the server was started with.",
    )

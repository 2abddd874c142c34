# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse and check command lines as the launcher does: check_start.py MODELS CASES.json RESULT.json

A case: `arguments` (command line), `spec_v2` (bool), `set` (attributes that stand for options which need hardware).
The result of a case: `error` (null, or type and message) and `log`.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import cpu_stand_ins  # noqa: E402, F401  before SGLang
from drive import LogLines  # noqa: E402


def check(models: str, case: dict[str, Any]) -> dict[str, Any]:
    from sglang.srt.server_args import prepare_server_args

    os.environ["SGLANG_ENABLE_SPEC_V2"] = "1" if case["spec_v2"] else "0"
    log = LogLines()
    logger = logging.getLogger("sglang.srt.speculative.batch_threshold")
    logger.addHandler(log)
    common = ["--model-path", f"{models}/target", "--device", "cpu", "--attention-backend", "triton"]
    error = None
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            args = prepare_server_args([*common, *(word.replace("MODELS", models) for word in case["arguments"])])
            for name, value in case["set"].items():
                setattr(args, name, value)
            args.check_server_args()
    except SystemExit:
        error = ["SystemExit", said.getvalue()]
    except Exception as raised:
        error = [type(raised).__name__, str(raised)]
    finally:
        logger.removeHandler(log)
    return {"error": error, "log": log.lines}


def log_of_changes(sizes_by_second: list[tuple[float, int]]) -> list[str]:
    """What is logged for batches of these sizes at these times, at threshold 2."""
    from sglang.srt.speculative import batch_threshold

    class OnlyTheDecision(batch_threshold.BatchThreshold):
        def _build_target_state(self) -> tuple[None, None]:
            return None, None

    now = [0.0]
    batch_threshold.time = SimpleNamespace(monotonic=lambda: now[0])
    own = OnlyTheDecision(SimpleNamespace(), 2)
    log = LogLines()
    batch_threshold.logger.setLevel(logging.INFO)
    batch_threshold.logger.addHandler(log)
    for second, size in sizes_by_second:
        now[0] = second
        mode = SimpleNamespace(is_decode=lambda: True)
        own.exceeded_by(SimpleNamespace(forward_mode=mode, seq_lens=range(size)))
    batch_threshold.logger.removeHandler(log)
    return log.lines


def create_in_worker(**attributes: Any) -> list[str] | None:
    """The worker refuses too: not every launcher checks its arguments."""
    from sglang.srt.speculative.batch_threshold import BatchThreshold

    sane = {
        "speculative_disable_batch_threshold": 2,
        "speculative_algorithm": "EAGLE3",
        "speculative_eagle_topk": 1,
        "disable_overlap_schedule": False,
        "max_running_requests": 8,
    }
    try:
        BatchThreshold.create(SimpleNamespace(server_args=SimpleNamespace(**{**sane, **attributes})))
    except ValueError as raised:
        return ["ValueError", str(raised)]
    return None


def main() -> None:
    models, given, taken = sys.argv[1:]
    cases = json.loads(Path(given).read_text())
    result = {
        "cases": {name: check(models, case) for name, case in cases["cases"].items()},
        "changes": log_of_changes(cases["changes"]),
        "worker": create_in_worker(speculative_eagle_topk=4),
    }
    Path(taken).write_text(json.dumps(result))
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()

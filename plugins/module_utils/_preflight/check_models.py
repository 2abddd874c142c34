# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The model and the draft model."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.inferops.blackwell.plugins.module_utils._preflight import model_directory, threshold
from ansible_collections.inferops.blackwell.plugins.module_utils._preflight.context import Context


def check_model(context: Context) -> None:
    if context.text("model_method") != "path":
        return
    path = context.text("model_path")
    if not path.startswith("/"):
        context.findings.problem(
            f"is {path!r}", "model_path", "Give the absolute path of the model's directory on the host"
        )
        return
    for problem in model_directory.inspect(Path(path), context.text("sglang_user")).problems:
        context.findings.problem(
            f"{path}: {problem}", "model_path", "Put the complete model there, readable by the user"
        )


def check_draft_model(context: Context) -> None:
    """A draft model that is missing shows only after the target model was loaded: minutes later."""
    arguments = context.settings.get("server_arguments")
    options = threshold.spelled(arguments) if isinstance(arguments, dict) else {}
    path = str(options.get("speculative-draft-model-path", ""))
    if not path.startswith("/"):
        return
    model = model_directory.inspect(Path(path), context.text("sglang_user"), tokenizer=False)
    for problem in model.problems:
        context.findings.problem(
            f"speculative-draft-model-path is {path}: {problem}",
            "server_arguments",
            "Put the complete draft model there, readable by the user",
        )

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reasons in the model and its settings."""

from __future__ import annotations

from ansible_collections.inferops.blackwell.plugins.module_utils._sglang_health.cause import FRAME, Cause, row

MODEL: tuple[Cause, ...] = (
    # ---- the model -------------------------------------------------------------------------
    row(
        "model_gated",
        r"(?:Cannot access gated repo|You are trying to access a gated repo|is a gated repository|GatedRepoError)",
        "the model may be downloaded only with permission",
        "Ask for access on the model's page and give the service HF_TOKEN, or give a local directory as model.",
    ),
    row(
        "model_unreachable",
        r"(?:couldn't connect to 'https?://huggingface\.co|LocalEntryNotFoundError|Network is unreachable"
        r"|Temporary failure in name resolution|OfflineModeIsEnabled)",
        "the model is not on this host, and its source cannot be reached",
        "Copy the model to the host and give its directory as model-path.",
    ),
    row(
        "model_missing",
        r"(?:Can't load the configuration of '(?P<model>[^'\n]+)'"
        r"|Repo id must be in the form .*'(?P<path>/[^'\n]+)'"
        r"|(?P<name>\S+) is not a local folder and is not a valid model identifier"
        r"|(?P<without>/\S+) does not appear to have a file named config\.json"
        r"|No model weights found in: `(?P<weights>[^`\n]+)`"
        r"|Cannot find any model weights with `(?P<none>[^`\n]+)`)",
        "the model directory is missing or not a complete model: {model}{path}{name}{without}{weights}{none}",
        "Give a model-path that exists on this host and that the service's account may read.",
    ),
    row(
        "model_unsupported",
        r"(?:Transformers does not recognize this architecture|Model architectures .* are not supported for now"
        r"|Unrecognized model in)",
        "this SGLang does not know the model's architecture",
        "Use an SGLang (and transformers) that lists the model, or another model.",
    ),
    row(
        "model_damaged",
        r"(?:SafetensorError|Error while deserializing header|MetadataIncompleteBuffer|HeaderTooLarge"
        r"|UnpicklingError)",
        "a weight file is damaged or incomplete",
        "Download or copy the model again; a file of a few hundred bytes is a git-lfs pointer.",
    ),
    row(
        "tokenizer_missing",
        r"(?:Can't load tokenizer for|Couldn't instantiate the backend tokenizer)",
        "the model directory has no usable tokenizer",
        "Complete the model directory, give --tokenizer-path, or start with --skip-tokenizer-init.",
    ),
    row(
        "permission_denied",
        r"(?:PermissionError: )?\[Errno 13\] Permission denied:? ?'?(?P<path>[^'\n]*)",
        "the service's account may not use {path}",
        "Give the account access to it, or change the account.",
    ),
    # ---- settings that exclude each other --------------------------------------------------
    row(
        "settings_refused",
        FRAME + r"(?:(?! *File )[^\n]*\n){0,3}?(?P<kind>AssertionError|ValueError): (?P<why>.*"
        r"(?:--\w[\w-]+|tp_size|dp_size|speculative|mem_fraction|threshold).*)$",
        "SGLang refuses its settings: {why}",
        "Change the named setting.",
    ),
)

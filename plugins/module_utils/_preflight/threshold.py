# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Does the batch threshold make sense, and can it have an effect with these server arguments?

Facts: docs of the patch in role threshold_patch; SGLang's own limit is in its `_handle_speculative_decoding`.
"""

from __future__ import annotations

import re
import typing as t

from ansible_collections.inferops.blackwell.plugins.module_utils._preflight.findings import Findings
from ansible_collections.inferops.blackwell.plugins.module_utils._preflight.versions import numbers

VARIABLE = "threshold_patch_batch_threshold"
# What SGLang sets max_running_requests to when speculation is on and nobody says otherwise (0.5.4 to 0.5.23).
OWN_LIMIT = 48
# From this version on there is one speculative worker, and SGLANG_ENABLE_SPEC_V2 means nothing.
NATIVE_SINCE = (0, 5, 14)
# With these the patched server refuses to start, and native tiers are ignored with a line in the log.
_EXCLUDED = {
    "enable-dp-attention": "attention data parallelism",
    "enable-two-batch-overlap": "two-batch overlap",
    "enable-pdmux": "PD multiplexing",
}
_ON = {"1", "true", "yes", "on", "y", "t"}


def whole_number(value: t.Any) -> int | None:
    """The number a raw value means, None when it is none: `8` and `"8"`, but not true, 8.0, -1 or "eight"."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value if value >= 0 else None
    if isinstance(value, str) and re.fullmatch(r"[0-9]+", value.strip()):
        return int(value)
    return None


def spelled(arguments: t.Mapping[t.Any, t.Any]) -> dict[str, t.Any]:
    """SGLang options under one spelling; what is false or null is left out, as on the command line."""
    names = {str(name).strip().lstrip("-").replace("_", "-"): value for name, value in arguments.items()}
    return {name: value for name, value in names.items() if value is not None and value is not False}


def is_on(value: t.Any) -> bool:
    return str(value).strip().lower() in _ON


def check_value(value: t.Any, findings: Findings) -> int | None:
    """The threshold itself."""
    number = whole_number(value)
    if number is None:
        findings.problem(
            f"must be a whole number >= 0, it is {value!r}",
            VARIABLE,
            "Give the largest decode batch that still speculates, for instance 8; 0 means always speculate",
        )
    return number


def check_effect(
    threshold: int,
    arguments: t.Mapping[t.Any, t.Any],
    environment: t.Mapping[t.Any, t.Any],
    version: str,
    findings: Findings,
) -> None:
    """Warn where the threshold could never fire, refuse where the server would. Without speculation there is nothing
    to say: the option is then only carried along."""
    options = spelled(arguments)
    algorithm = str(options.get("speculative-algorithm", "")).upper()
    if not algorithm or algorithm == "NONE" or threshold == 0:
        return
    if algorithm not in {"EAGLE", "EAGLE3"}:
        findings.warning(
            f"speculative-algorithm is {algorithm}, and the threshold knows EAGLE and EAGLE3 only: it has no effect",
            "server_arguments",
            "Use EAGLE3 or EAGLE, or set threshold_patch_state to absent",
        )
        return
    _check_limit(threshold, options.get("max-running-requests"), findings)
    _check_exclusions(options, findings)
    _check_overlap(options, environment, version, findings)


def _check_limit(threshold: int, limit: t.Any, findings: Findings) -> None:
    if limit is None:
        if threshold >= OWN_LIMIT:
            findings.warning(
                f"{threshold} can never fire: with speculation SGLang runs at most {OWN_LIMIT} requests at once "
                "unless max-running-requests is given",
                VARIABLE,
                f"Give a threshold below {OWN_LIMIT}, or max-running-requests above {threshold} in server_arguments",
            )
        return
    number = whole_number(limit)
    if number is not None and threshold >= number:
        findings.warning(
            f"{threshold} can never fire: max-running-requests is {number}",
            VARIABLE,
            f"Give a threshold below {number}, or a larger max-running-requests in server_arguments",
        )


def _check_exclusions(options: t.Mapping[str, t.Any], findings: Findings) -> None:
    topk = options.get("speculative-eagle-topk")
    if topk is None:
        what = "speculative-eagle-topk is not given, and what SGLang chooses for some models is 4"
    elif whole_number(topk) != 1:
        what = f"speculative-eagle-topk is {topk}"
    else:
        what = ""
    if what:
        findings.problem(
            f"{what}; the threshold works with top-k 1 only",
            "server_arguments",
            "Set speculative-eagle-topk to 1, with speculative-num-steps and speculative-num-draft-tokens = steps + 1",
        )
    for option, name in _EXCLUDED.items():
        if option in options:
            findings.problem(
                f"{option} is set: the threshold does not work with {name}",
                "server_arguments",
                f"Take {option} out, or set threshold_patch_state to absent",
            )


def _check_overlap(
    options: t.Mapping[str, t.Any], environment: t.Mapping[t.Any, t.Any], version: str, findings: Findings
) -> None:
    number = numbers(version)
    if "disable-overlap-schedule" in options:
        findings.warning(
            "disable-overlap-schedule is set, and the threshold needs the overlap schedule",
            "server_arguments",
            "Take disable-overlap-schedule out",
        )
    if number >= NATIVE_SINCE:
        return
    # Where the patch is applied the launch sets it, unless the user did.
    value = environment.get("SGLANG_ENABLE_SPEC_V2")
    if value is not None and not is_on(value):
        findings.warning(
            f"SGLANG_ENABLE_SPEC_V2 is {value!r}: SGLang {version} then speculates with its first worker, "
            "where the threshold has no effect",
            "server_environment",
            "Take SGLANG_ENABLE_SPEC_V2 out of server_environment: the launch sets it to 1",
        )

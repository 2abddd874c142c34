# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each known reason is recognized in a log that shows it, and in no healthy one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from ansible_collections.inferops.blackwell.plugins.module_utils._sglang_health.causes import CAUSES
from ansible_collections.inferops.blackwell.plugins.module_utils._sglang_health.diagnose import (
    decisive,
    doomed,
    explain,
    last_lines,
)
from ansible_collections.inferops.blackwell.plugins.module_utils._sglang_health.phases import phase_of

HERE = Path(__file__).parent
KNOWN: list[dict[str, str]] = yaml.safe_load((HERE / "known_logs.yml").read_text())
# Real logs of SGLang 0.5.9, shortened, and a line that the evidence must show.
REAL = {
    "argument_unknown": "error: unrecognized arguments: --no-such-option 3",
    "argument_invalid": "invalid int value: 'eight'",
    "model_missing": "/data/models/absent",
    "port_taken": "[Errno 98] error while attempting to bind on address ('127.0.0.1', 31012)",
    "scheduler_killed": "Exit code: -9",
    "syntax_error": 'sglang/srt/server_args.py", line 478',
}


def real(name: str) -> str:
    return (HERE / "logs" / f"{name}.log").read_text()


def test_the_table_has_a_log_for_each_row() -> None:
    assert [entry["cause"] for entry in KNOWN if entry["cause"] in {c.id for c in CAUSES}] == [
        e["cause"] for e in KNOWN
    ]
    assert {entry["cause"] for entry in KNOWN} == {cause.id for cause in CAUSES}
    assert len(CAUSES) >= 20
    assert len({cause.id for cause in CAUSES}) == len(CAUSES)


@pytest.mark.parametrize("entry", KNOWN, ids=lambda entry: entry["cause"])
def test_a_known_reason_is_found_with_evidence_and_remedy(entry: dict[str, str]) -> None:
    finding = explain(f"[2026-03-02 09:59:59] starting\n{entry['positive']}[2026-03-02 10:11:12] going down\n")
    assert finding is not None
    assert finding.cause == entry["cause"]
    assert set(finding.evidence.split("\n")) <= set(entry["positive"].split("\n"))
    assert finding.remedy
    assert "{" not in finding.what + finding.remedy


@pytest.mark.parametrize("entry", KNOWN, ids=lambda entry: entry["cause"])
def test_words_that_only_look_like_it_are_not_taken_for_it(entry: dict[str, str]) -> None:
    assert explain(entry["negative"]) is None


@pytest.mark.parametrize(("cause", "evidence"), REAL.items())
def test_a_real_log_is_understood(cause: str, evidence: str) -> None:
    finding = explain(real(cause))
    assert finding is not None
    assert finding.cause == cause
    assert evidence in finding.evidence


@pytest.mark.parametrize("name", ["healthy", "killed_while_loading"])
def test_a_log_without_a_reason_gives_none(name: str) -> None:
    assert explain(real(name)) is None
    assert decisive(real(name)) is None
    assert not doomed(real(name))


def test_a_taken_port_ends_the_waiting_though_the_process_lives() -> None:
    finding = decisive(real("port_taken"))
    assert finding is not None
    assert finding.cause == "port_taken"


@pytest.mark.parametrize("name", ["model_missing", "syntax_error"])
def test_a_traceback_alone_does_not_end_the_waiting(name: str) -> None:
    """SGLang logs tracebacks of optional parts in passing."""
    assert decisive(real(name)) is None


def test_sglangs_own_words_about_a_lost_process_are_heard() -> None:
    assert doomed(real("scheduler_killed"))
    assert doomed("[2026-03-02 10:00:21 TP0] Scheduler hit an exception: Traceback (most recent call last):")


def test_the_special_reason_goes_before_the_traceback_around_it() -> None:
    text = (
        "ModuleNotFoundError: No module named 'optional_extra'\n"
        '  File "/opt/x.py", line 3, in load\n    raise\n'
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB\n"
    )
    finding = explain(text)
    assert finding is not None
    assert finding.cause == "out_of_memory_gpu"


def test_of_two_matches_the_last_one_counts() -> None:
    finding = explain("x.py: error: unrecognized arguments: --old\nx.py: error: unrecognized arguments: --new\n")
    assert finding is not None
    assert "--new" in finding.what
    assert finding.evidence == "x.py: error: unrecognized arguments: --new"


def test_last_lines_leave_out_the_trace_of_our_own_questions() -> None:
    own = '[2026-03-02 10:00:21] INFO:     127.0.0.1:5 - "GET /health HTTP/1.1" 503 Service Unavailable'
    assert last_lines(f"one\n\ntwo\n{own}\n") == "one\ntwo"
    assert last_lines("x" * 9999) == "x" * 500


PHASES = [
    ("[2026-03-02 10:00:05] server_args=ServerArgs(model_path='m')", "starting the schedulers"),
    ("[2026-03-02 10:00:05] Init torch distributed begin.", "connecting the ranks"),
    ("[2026-03-02 10:00:06] Load weight begin. avail mem=93.1 GB", "loading weights"),
    ("Loading safetensors checkpoint shards:  50% Completed | 7/14 [00:09<00:09,  1.3s/it]", "loading weights 7/14"),
    ("Multi-thread loading shards:  25% Completed | 1/4 [00:01<00:03,  1.0it/s]", "loading weights 1/4"),
    ("[2026-03-02 10:00:09 TP0] Memory pool end. avail mem=12.0 GB", "memory pool"),
    ("[2026-03-02 10:00:09 TP0] Capture cuda graph begin. This can take up to several minutes.", "capturing graphs"),
    ("Capturing batches (bs=64 avail_mem=11.10 GB):  30%|###       | 3/10 [00:02<00:05]", "capturing graphs 3/10"),
    ("[2026-03-02 10:00:31] The server is fired up and ready to roll!", "ready to answer"),
]


@pytest.mark.parametrize(("line", "phase"), PHASES)
def test_each_phase_is_named(line: str, phase: str) -> None:
    assert phase_of(f"something before\n{line}\nsomething after") == phase


def test_the_last_phase_counts_and_silence_names_none() -> None:
    assert phase_of(real("healthy")) == "ready to answer"
    assert phase_of(real("killed_while_loading")) == "starting the schedulers"
    assert phase_of("nothing telling") is None


def test_the_documentation_lists_each_cause() -> None:
    page = (HERE.parents[4] / "docs" / "health.md").read_text()
    code = "".join(path.read_text() for path in (HERE.parents[4] / "plugins/module_utils/_sglang_health").glob("*.py"))
    for found in {cause.id for cause in CAUSES} | set(re.findall(r'Finding\(\s*"(\w+)"', code)):
        assert f"| `{found}` |" in page, found

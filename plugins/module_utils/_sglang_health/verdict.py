# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What to say about a server that is lost: everything that log, process manager, kernel and sockets know together."""

from __future__ import annotations

import os
import re
import urllib.parse

from ansible_collections.inferops.blackwell.plugins.module_utils._sglang_health import kernel, phases, proc
from ansible_collections.inferops.blackwell.plugins.module_utils._sglang_health.diagnose import (
    Finding,
    doomed,
    explain,
    last_lines,
)
from ansible_collections.inferops.blackwell.plugins.module_utils._sglang_health.log import Text
from ansible_collections.inferops.blackwell.plugins.module_utils._sglang_health.process import Status, signal_name

# These match a traceback that was only logged in passing, too. They count when SGLang says that it is lost, or when
# the log ends with them.
_GENERAL = ("import_error", "exception")
_END_LINES = 30

_PORT = re.compile(r"\('[^']*', (\d+)\)|\]?:(\d{2,5})\b")

_OUT_OF_MEMORY_REMEDY = (
    "Give the host (or the unit: MemoryMax) more memory, or load less: smaller model, other quantization, fewer other"
    " processes."
)


def of_death(status: Status, text: str, pids: set[int], log_name: str) -> Finding:
    """The process has died."""
    words = kernel.words_since(status.started)
    victim = next((line for pid, line in words.killed.items() if pid in pids), "")
    if victim or status.ended_for_memory:
        return Finding(
            "oom_killed",
            f"the kernel killed the server because memory ran out ({status.death})",
            victim or last_lines(text) or status.death,
            _OUT_OF_MEMORY_REMEDY,
        )
    found = known(text, words)
    if found:
        return found._replace(evidence=_joined(found.evidence, status.death))
    if status.cause:
        return Finding(
            status.cause,
            status.death,
            last_lines(text) or status.death,
            "Start the server, or name the process that runs it.",
        )
    return _unexplained(status, text, log_name)


def _unexplained(status: Status, text: str, log_name: str) -> Finding:
    evidence = _joined(last_lines(text), status.death)
    if status.killed_by or status.vanished:
        how = f"by signal {status.killed_by} ({signal_name(status.killed_by)})" if status.killed_by else "from outside"
        return Finding(
            "process_killed",
            f"the server was killed {how}, without a word of its own in the log: {status.death}",
            evidence,
            "SIGKILL is mostly the kernel short of memory (dmesg, memory limit of the unit or container), or a person.",
        )
    return Finding("process_died", status.death, evidence, f"Read the log: {log_name}")


def of_lost_worker(worker: proc.Stat | None, name: str, status: Status, text: str) -> Finding:
    """The main process lives, one of SGLang's own processes does not. /health may say 200 for an hour."""
    words = kernel.words_since(status.started)
    victim = words.killed.get(worker.pid, "") if worker else ""
    if victim:
        what = f"the kernel killed {name} because memory ran out"
        return Finding("oom_killed", what, victim, _OUT_OF_MEMORY_REMEDY)
    found = known(text, words)
    if found:
        return found
    killed_by = worker.exit_status & 0x7F if worker else 0
    how = f"was killed by signal {killed_by} ({signal_name(killed_by)})" if killed_by else "has died"
    return Finding(
        "scheduler_killed" if killed_by else "scheduler_died",
        f"{name} {how}; the server's main process lives on, but answers nothing any more",
        _joined(last_lines(text), f"{name}, process {worker.pid}, {how}" if worker else f"{name} {how}"),
        "Restart the server. SIGKILL is mostly the kernel short of memory: see dmesg.",
    )


def of_timeout(
    phase: str, seconds: float, silent: float | None, said: str, log: Text, started: float | None
) -> Finding:
    """Nothing says that the server is lost, but its time is over."""
    # Words that may be an earlier run's are shown, but prove nothing.
    found = known(log.text if log.certain else "", kernel.words_since(started))
    if found and found.cause not in _GENERAL:
        return found
    quiet = f"; the log has been silent for {silent:.0f} s" if silent is not None and silent >= 5 else ""
    what = f"not healthy after {seconds:.0f} s; it was at: {phase}{quiet}"
    evidence = _joined(said, last_lines(log.text)) or "the log is empty and nothing answers at the URL"
    if phase.startswith(phases.DISTRIBUTED):
        return Finding(
            "nccl_init_hang",
            f"the ranks do not find each other: {what}",
            evidence,
            "On GPUs without NVLink try NCCL_P2P_DISABLE=1 (ACS, IOMMU); between nodes check --dist-init-addr, the"
            " firewall and NCCL_SOCKET_IFNAME. NCCL_DEBUG=INFO says more.",
        )
    if phase.startswith((phases.READY, "healthy", "waiting for a generated")):
        return Finding("not_answering", what, evidence, "The log at the time of the last request says more.")
    return Finding(
        "too_slow",
        what,
        evidence,
        "If it makes progress, raise timeout_seconds (first starts compile kernels, and big models load for minutes);"
        " if it stands still, look at what it waits for: disk, network, GPU (playbook doctor).",
    )


def known(text: str, words: kernel.KernelWords) -> Finding | None:
    """A reason from the table, unless it is only a traceback in passing."""
    found = explain("\n".join([text, *words.xid]))
    if found and found.cause in _GENERAL and not doomed(text):
        end = "\n".join(text.split("\n")[-_END_LINES:])
        if found.evidence.split("\n")[-1] not in end:
            return None
    return found


def port_taken(listener: proc.Listener, port: int) -> Finding:
    how = f"kill {listener.pid}" if listener.pid else "as root: ss -ltnp"
    return Finding(
        "port_taken",
        f"port {port} belongs to another process",
        f"{listener.address}:{port} is held by {listener.text}",
        f"Stop that process ({how}) or give the server another port.",
    )


def with_port_owner(finding: Finding, url: str) -> Finding:
    """Name who holds the port, if it is still held."""
    if finding.cause != "port_taken":
        return finding
    address = urllib.parse.urlsplit(url)
    match = _PORT.search(finding.evidence)
    port = int(match[1] or match[2]) if match else address.port or 80
    holder = proc.listener(address.hostname or "localhost", port)
    if holder is None or holder.pid == os.getpid():
        return finding
    taken = port_taken(holder, port)
    return taken._replace(evidence=_joined(finding.evidence, taken.evidence))


def _joined(*parts: str) -> str:
    return "\n".join(part for part in parts if part)

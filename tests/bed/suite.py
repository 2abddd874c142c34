# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All tests, stage by stage; the recipe of `make test` and `make proof`.

    python tests/bed/suite.py [--proof] [STAGE ...]

Every stage runs, also after one failed; the table at the end gives the verdict of each. --proof sets
INFEROPS_PROOF=1, at which tests that otherwise take a sample take everything. An interrupt ends the running stage,
lets it clean up, and removes the containers.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import fcntl
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import bed
import engine

STAGES: dict[str, list[str]] = {
    "lint": ["make", "--no-print-directory", "lint"],
    "unit": ["pytest", "--numprocesses=auto", "tests/unit"],
    "eagle_cpu": ["pytest", "tests/eagle_cpu"],
    "python_patch": ["pytest", "tests/integration/python_patch"],
    "quickstart": ["pytest", "--capture=no", "tests/quickstart"],
    "patch": ["molecule", "test", "--scenario-name", "patch"],
    "default": ["molecule", "test", "--scenario-name", "default"],
}
# A cold run puts down: one environment of SGLang (10 GB), its cache (hard-linked to it where possible), two images.
SPACE_BYTES = 25 * 10**9
PYTEST_CLOSING = re.compile(rb"^=+ (.*\b(?:passed|failed|error|errors|skipped)\b.*) =+$")
COLOURS = re.compile(rb"\x1b\[[0-9;]*m")
# What an interrupted stage gets for its own cleaning up before it is killed.
GRACE_SECONDS = 90


@dataclasses.dataclass
class Verdict:
    stage: str
    result: str
    seconds: float
    counts: list[str]


class InterruptedRunError(Exception):
    """SIGINT or SIGTERM reached the suite."""


def environment(proof: bool) -> dict[str, str]:
    """Our own settings out of the way: what a stage sees is the same in every shell."""
    ours = ("ANSIBLE_", "MOLECULE_", "PYTHON", "VIRTUAL_ENV", "MAKE", "MFLAGS")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(ours)}
    kept.update(
        PATH=f"{bed.ROOT / '.venv/bin'}:{kept.get('PATH', '')}",
        PYTHONUNBUFFERED="1",
        ANSIBLE_CONFIG=str(bed.ROOT / "ansible.cfg"),
        MOLECULE_COMMAND_BORDERS="false",
        INFEROPS_CACHE=str(bed.cache()),
    )
    # One cache for all stages, on the file system of the prefixes that are made from it. Containers write as root.
    kept.setdefault("UV_CACHE_DIR", str(bed.cache("mount", f"uv-{os.getuid()}")))
    if not sys.stdout.isatty():
        kept.update(NO_COLOR="1", ANSIBLE_NOCOLOR="1", PY_COLORS="0")
    if proof:
        kept["INFEROPS_PROOF"] = "1"
    return kept


def end(process: subprocess.Popen[bytes]) -> None:
    """Interrupt a stage as Ctrl-C would, and kill what is left of it after the grace."""
    for sent, seconds in ((signal.SIGINT, GRACE_SECONDS), (signal.SIGKILL, 10)):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, sent)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
            return


def run(stage: str, env: dict[str, str]) -> Verdict:
    """One stage; its output goes through, the closing lines of pytest are kept for the table."""
    print(f"\n##### {stage}: {' '.join(STAGES[stage])}", flush=True)
    began = time.monotonic()
    counts: list[str] = []
    # A session of its own, so that an interrupt reaches it through `end` only, and all of its children.
    process = subprocess.Popen(
        STAGES[stage], cwd=bed.ROOT, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        for line in process.stdout:
            sys.stdout.buffer.write(line)
            sys.stdout.flush()
            if found := PYTEST_CLOSING.match(COLOURS.sub(b"", line).strip()):
                counts.append(found[1].decode())
        status = process.wait()
    except BaseException:
        end(process)
        raise
    seconds = time.monotonic() - began
    result = "passed" if status == 0 else f"FAILED ({status})"
    print(f"##### {stage}: {result} in {seconds:.0f} s", flush=True)
    return Verdict(stage, result, seconds, counts)


def sweep() -> None:
    """Remove containers that a killed stage left, and the prefix they made on the host."""
    label = f"label={bed.LABEL}=container"
    for container in (bed.output("docker", "ps", "--all", "--quiet", "--filter", label) or "").split():
        bed.output("docker", "exec", container, "rm", "-rf", "/opt/inferops")
        bed.output("docker", "rm", "--force", "--volumes", container)


def table(verdicts: list[Verdict], wanted: list[str]) -> str:
    done = {verdict.stage for verdict in verdicts}
    rows = [(v.stage, v.result, f"{v.seconds:.0f} s", "; ".join(v.counts)) for v in verdicts]
    rows += [(stage, "not run", "", "") for stage in wanted if stage not in done]
    rows.append(("total", "", f"{sum(verdict.seconds for verdict in verdicts):.0f} s", ""))
    return "\n".join(f"{row[0]:<12} {row[1]:<12} {row[2]:>8}  {row[3]}".rstrip() for row in rows)


def raise_interrupted(number: int, frame: object) -> None:
    raise InterruptedRunError


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--proof", action="store_true", help="whole corpora instead of samples")
    parser.add_argument(
        "stages", nargs="*", metavar="STAGE", help=f"of {', '.join(STAGES)}; default: all, in this order"
    )
    arguments = parser.parse_args()
    wanted = arguments.stages or list(STAGES)
    if unknown := [stage for stage in wanted if stage not in STAGES]:
        parser.error(f"no such stage: {', '.join(unknown)}; there are {', '.join(STAGES)}")
    engine.check()
    cache = bed.cache()
    free = shutil.disk_usage(cache).free
    if free < SPACE_BYTES:
        bed.say(f"only {free / 1e9:.0f} GB are free below {cache}; a cold run needs about {SPACE_BYTES / 1e9:.0f}")
    lock = (cache / "suite.lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        bed.give_up(f"another run of the tests holds {lock.name}")
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, raise_interrupted)

    env = environment(arguments.proof)
    verdicts: list[Verdict] = []
    interrupted = False
    try:
        for stage in wanted:
            verdicts.append(run(stage, env))
    except InterruptedRunError:
        interrupted = True
    finally:
        sweep()
    print(f"\n{table(verdicts, wanted)}", flush=True)
    if interrupted:
        print("interrupted", flush=True)
        return 130
    return 0 if all(verdict.result == "passed" for verdict in verdicts) else 1


if __name__ == "__main__":
    raise SystemExit(main())

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The server of the scenario, seen from its own host."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

UNIT = "sglang@main.service"
PREFIX = "/opt/inferops"
# Run on the host, which needs nothing but Python for it.
CLIENT = """
import sys, urllib.request
url, body = sys.argv[1], sys.argv[2].encode()
request = urllib.request.Request(url, data=body or None, headers={"Content-Type": "application/json"})
with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60) as answer:
    sys.stdout.write(answer.read().decode())
"""


@dataclasses.dataclass
class Server:
    host: Any

    @property
    def pid(self) -> int:
        return int(self.host.check_output("systemctl show --property MainPID --value %s", UNIT))

    @property
    def arguments(self) -> list[str]:
        line = self.host.check_output("tr '\\0' '\\n' </proc/%s/cmdline", str(self.pid))
        return str(line).splitlines()

    @property
    def release(self) -> dict[str, Any]:
        """release.json of what `current` points to."""
        return dict(json.loads(self.host.check_output("cat %s/current/release.json", PREFIX)))

    def seen_by_the_service(self, command: str, *arguments: str) -> str:
        """Output of a command run as the service's account: root in a container may not look into its processes."""
        return str(self.host.check_output(f"runuser -u sglang -- {command}", *arguments))

    def mounts(self) -> dict[str, set[str]]:
        """Mount point to options, in the mount namespace of the running service; what is mounted last, counts."""
        lines = self.seen_by_the_service("cat /proc/%s/mountinfo", str(self.pid)).splitlines()
        return {fields[4]: set(fields[5].split(",")) for fields in map(str.split, lines)}

    def ask(self, path: str, **body: Any) -> Any:
        text = json.dumps(body) if body else ""
        return json.loads(self.host.check_output("python3 -c %s %s %s", CLIENT, f"http://127.0.0.1:30000{path}", text))

    def generate(self) -> list[int]:
        """Tokens of a greedy answer."""
        parameters = {"max_new_tokens": 8, "temperature": 0, "ignore_eos": True}
        answer = self.ask("/generate", text="The batch", sampling_params=parameters)
        return list(answer["output_ids"])


@pytest.fixture
def server(host: Any) -> Server:
    return Server(host)

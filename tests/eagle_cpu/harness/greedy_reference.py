# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Does transformers decode the same? greedy_reference.py TARGET OUTPUTS.json prints, by request, true or false.

Every output token is compared with the most likely one after everything before it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
from transformers import LlamaForCausalLM


def main() -> None:
    model = LlamaForCausalLM.from_pretrained(sys.argv[1]).float().eval()
    given = json.loads(Path(sys.argv[2]).read_text())
    verdict = {}
    for request, prompt in given["prompts"].items():
        output = given["outputs"][request]
        with torch.no_grad():
            logits = model(torch.tensor([prompt + output])).logits
        verdict[request] = logits[0, len(prompt) - 1 : -1].argmax(-1).tolist() == output
    print(json.dumps(verdict))


if __name__ == "__main__":
    main()

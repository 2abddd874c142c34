# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Mistakes that could be made in the patch, each as one change of its source, and what must notice it."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

SPECULATIVE = Path("sglang") / "srt" / "speculative"
OURS = "batch_threshold.py"
HOOKS = "eagle_worker_v2.py"

# The signs by which a run is seen to be wrong, see `signs_of` in test_mutants.py.
DIES = "dies"
TOKENS = "other tokens"
DRAFTS = "drafts at the wrong sizes"
ROWS = "more rows than requests"
STRIDE = "another stride"
ACCEPTANCE = "worse drafts after a pause"

DRAFT_FOLLOWS = """\
        batch.spec_info = self._root_only_input(batch)
        with self._target_state():
            result = self.worker.verify(batch)
        self._extend_draft(batch, result)
"""
DRAFT_STALE = """\
        last = batch.spec_info
        batch.spec_info = self._root_only_input(batch)
        with self._target_state():
            result = self.worker.verify(batch)
        new = result.next_draft_input
        new.topk_p, new.topk_index, new.hidden_states = last.topk_p, last.topk_index, last.hidden_states
        slots = result.next_token_ids.new_zeros((len(batch.seq_lens), self.worker.speculative_num_draft_tokens))
        slots[:, 0] = result.next_token_ids
        result.next_token_ids = slots.flatten()
"""
# No decode graphs exist under speculation, and the normal sampler is not the one of a verify.
NAIVE_DECODE = """\
        batch.spec_info = None
        result = self.worker.target_worker.forward_batch_generation(batch)
        result.accept_lens = torch.ones_like(batch.seq_lens, dtype=torch.int32)
        self._extend_draft(batch, result)
"""


@dataclass(frozen=True)
class Mutant:
    name: str
    before: str
    after: str
    sign: str
    file: str = OURS
    graphs: tuple[int, ...] = ()
    token_dtype: str = "int64"


MUTANTS = (
    Mutant(
        "the result is not padded to the stride",
        "result.next_token_ids = padded.flatten()",
        "pass",
        DIES,
    ),
    Mutant(
        "the padding goes into the wrong slot",
        "padded[:, 0] = tokens",
        "padded[:, -1] = tokens",
        TOKENS,
    ),
    Mutant(
        "the stride stays changed after the step",
        '_restored(worker, "speculative_num_steps", "speculative_num_draft_tokens"),',
        '_restored(worker, "speculative_num_steps"),',
        DIES,
    ),
    Mutant(
        "the attention backend is not swapped",
        "runner.attn_backend = self._attn_backend",
        "pass",
        DIES,
    ),
    Mutant(
        "the graph runner is not swapped",
        "runner.graph_runner = self._graph_runner",
        "pass",
        DIES,
        graphs=(1, 2, 4, 8),
    ),
    Mutant(
        "the narrow graphs are built for the wide verify",
        "args.speculative_num_draft_tokens = 1",
        "pass",
        DIES,
        graphs=(1, 2, 4, 8),
    ),
    Mutant(
        "the cache places are not widened for the draft",
        "end_offset=batch.seq_lens + stride,\n            batch_size=size,\n            draft_token_num=stride,",
        "end_offset=batch.seq_lens + 1,\n            batch_size=size,\n            draft_token_num=1,",
        DIES,
    ),
    Mutant(
        "the hidden states are not widened for the draft",
        "rows.repeat_interleave(stride, dim=0)",
        "rows",
        DIES,
    ),
    Mutant("the target decodes without a verify", DRAFT_FOLLOWS, NAIVE_DECODE, DIES),
    Mutant("the draft does not follow", DRAFT_FOLLOWS, DRAFT_STALE, ACCEPTANCE),
    Mutant(
        "the root sees no token before it",
        "positions=batch.seq_lens.to(torch.int64),",
        "positions=torch.zeros_like(batch.seq_lens, dtype=torch.int64),",
        TOKENS,
    ),
    Mutant(
        "the root token keeps its type",
        "batch.spec_info.verified_id.to(torch.int64)",
        "batch.spec_info.verified_id",
        DIES,
        token_dtype="int32",
    ),
    Mutant(
        "a batch of exactly the threshold is not drafted for",
        "len(batch.seq_lens) > self.threshold",
        "len(batch.seq_lens) >= self.threshold",
        DRAFTS,
    ),
    Mutant(
        "the hook is never taken",
        "if self.batch_threshold and",
        "if False and",
        DRAFTS,
        file=HOOKS,
    ),
    Mutant(
        "the wide verify runs without a draft",
        "worker.speculative_num_draft_tokens = 1",
        "pass",
        DIES,
    ),
)


def make_tree(mutant: Mutant, tree: Path, root: Path) -> Path:
    """The patched tree with one change: links to it, but for the package that is changed."""
    here = root
    for name in SPECULATIVE.parts:
        here = here / name
        here.mkdir(parents=True)
        source = tree / here.relative_to(root)
        for entry in source.iterdir():
            if entry.name not in SPECULATIVE.parts:
                (here / entry.name).symlink_to(entry)
    for entry in (tree / SPECULATIVE).iterdir():
        target = here / entry.name
        if not target.is_symlink():
            continue
        if entry.name in (OURS, HOOKS, "__pycache__"):
            target.unlink()
        if entry.name in (OURS, HOOKS):
            shutil.copy(entry, target)
    changed = here / mutant.file
    text = changed.read_text()
    assert text.count(mutant.before) == 1, f"{mutant.name}: its text stands {text.count(mutant.before)} times"
    changed.write_text(text.replace(mutant.before, mutant.after))
    return root

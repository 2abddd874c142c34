# SPDX-License-Identifier: Apache-2.0
"""Decode without drafting while a batch holds more requests than a threshold.

EAGLE speculation pays off in small batches and costs throughput in large ones. With
``--speculative-disable-batch-threshold N`` every decode step of more than N requests verifies a
tree of one node, its root, so the target decodes one token per request. Sampling, grammar and
results take the same code as with speculation. When the batch shrinks, drafting resumes.

The file belongs to the spec V2 worker ``EAGLEWorkerV2``. What it relies on:

- ``next_token_ids`` is flat with ``speculative_num_draft_tokens`` slots per request, and the
  scheduler reads the worker's stride while the next batch runs: the stride must not change.
- ``accept_lens`` counts the token that the target itself adds, so it is 1 here.
- The overlap schedule stores the draft's state at every step: it must be valid at every step.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from sglang.srt.managers.schedule_batch import ModelWorkerBatch
    from sglang.srt.managers.scheduler import GenerationBatchResult
    from sglang.srt.server_args import ServerArgs
    from sglang.srt.speculative.eagle_info import EagleVerifyInput
    from sglang.srt.speculative.eagle_worker_v2 import EAGLEWorkerV2

logger = logging.getLogger(__name__)

FLAG = "--speculative-disable-batch-threshold"
# A batch that hovers around the threshold changes mode at every step.
LOG_INTERVAL_SECONDS = 5.0
# Each of these builds its batches or attention backends in a way that the one-node verify does not know.
UNSUPPORTED = {
    "enable_dp_attention": "--enable-dp-attention",
    "enable_two_batch_overlap": "--enable-two-batch-overlap",
    "enable_pdmux": "--enable-pdmux",
    "speculative_adaptive": "--speculative-adaptive",
}


def check_batch_threshold(server_args: ServerArgs) -> None:
    """Refuse what cannot work, and say so where the threshold has no effect.

    Raises:
        ValueError: the threshold is negative, or speculation runs in an unsupported combination.
    """
    threshold = server_args.speculative_disable_batch_threshold
    if threshold < 0:
        raise ValueError(f"{FLAG} is {threshold}: it must be 0 (always speculate) or a batch size.")
    if threshold == 0:
        return
    algorithm = server_args.speculative_algorithm
    if algorithm not in ("EAGLE", "EAGLE3"):
        logger.warning(
            "%s %d has no effect: the speculative algorithm is %s, it needs EAGLE or EAGLE3.",
            FLAG,
            threshold,
            algorithm or "not set",
        )
        return
    if server_args.speculative_eagle_topk != 1:
        raise ValueError(f"{FLAG} needs --speculative-eagle-topk 1, not {server_args.speculative_eagle_topk}.")
    for attribute, option in UNSUPPORTED.items():
        if getattr(server_args, attribute, False):
            raise ValueError(f"{FLAG} does not work together with {option}: leave out one of them.")
    _warn_where_it_has_no_effect(server_args, threshold)


def _warn_where_it_has_no_effect(server_args: ServerArgs, threshold: int) -> None:
    if server_args.disable_overlap_schedule:
        logger.warning(
            "%s %d has no effect: spec V2 is off. Set SGLANG_ENABLE_SPEC_V2=1 in the environment.", FLAG, threshold
        )
    elif getattr(server_args, "enable_multi_layer_eagle", False):
        logger.warning("%s %d has no effect with --enable-multi-layer-eagle.", FLAG, threshold)
    elif server_args.max_running_requests is not None and threshold >= server_args.max_running_requests:
        logger.warning(
            "%s %d never fires: at most %d requests run at a time (--max-running-requests).",
            FLAG,
            threshold,
            server_args.max_running_requests,
        )


class BatchThreshold:
    """The plain decode path of one ``EAGLEWorkerV2``, and when it is taken."""

    def __init__(self, worker: EAGLEWorkerV2, threshold: int) -> None:
        self.worker = worker
        self.threshold = threshold
        self.steps_with_speculation = 0
        self.steps_without_speculation = 0
        self._speculating = True
        self._logged_speculating = True
        self._logged_at = -LOG_INTERVAL_SECONDS
        self._changes_since_log = 0
        self._attn_backend, self._graph_runner = self._build_target_state()
        logger.info(
            "Batch threshold %d: decode batches of more requests are not drafted for (one-node verify, %s).",
            threshold,
            f"CUDA graphs for {self._graph_runner.capture_bs}" if self._graph_runner else "no CUDA graphs",
        )

    @classmethod
    def create(cls, worker: EAGLEWorkerV2) -> BatchThreshold | None:
        """The threshold that the server was started with, or None where it always speculates."""
        check_batch_threshold(worker.server_args)
        threshold = worker.server_args.speculative_disable_batch_threshold
        return cls(worker, threshold) if threshold else None

    def exceeded_by(self, batch: ModelWorkerBatch) -> bool:
        """Whether this decode step runs without a draft. Call it once per step: it counts."""
        exceeded = batch.forward_mode.is_decode() and len(batch.seq_lens) > self.threshold
        if exceeded:
            self.steps_without_speculation += 1
        else:
            self.steps_with_speculation += 1
        self._log_change_of_mode(not exceeded, len(batch.seq_lens))
        return exceeded

    def decode_without_draft(self, batch: ModelWorkerBatch) -> GenerationBatchResult:
        """One token per request from the target. The draft model only follows, for the day it resumes."""
        batch.spec_info = self._root_only_input(batch)
        with self._target_state():
            result = self.worker.verify(batch)
        self._extend_draft(batch, result)
        return result

    def _build_target_state(self) -> tuple[Any, Any]:
        """An attention backend and a graph runner of the target for one token per request.

        Both read the number of draft tokens when they are built. The wide graphs would accept the
        batch and fail in replay, so the narrow ones exist beside them, for sizes above the threshold.
        """
        runner = self.worker.target_worker.model_runner
        args = self.worker.server_args
        graph_runner = None
        with (
            _restored(args, "speculative_num_steps", "speculative_num_draft_tokens", "cuda_graph_bs"),
            _restored(runner, "attn_backend", "init_new_workspace"),
        ):
            args.speculative_num_steps = 0
            args.speculative_num_draft_tokens = 1
            attn_backend = runner._get_attention_backend(init_new_workspace=True)
            if runner.graph_runner is not None:
                sizes = [size for size in runner.graph_runner.capture_bs if size > self.threshold]
                if sizes:
                    args.cuda_graph_bs = sizes
                    runner.attn_backend = attn_backend
                    graph_runner = type(runner.graph_runner)(runner)
        return attn_backend, graph_runner

    @contextlib.contextmanager
    def _target_state(self) -> Iterator[None]:
        """Let ``verify()`` run a target forward of one node per request."""
        worker = self.worker
        runner = worker.target_worker.model_runner
        with (
            _restored(worker, "speculative_num_steps", "speculative_num_draft_tokens"),
            _restored(runner, "attn_backend", "graph_runner"),
        ):
            worker.speculative_num_steps = 0
            worker.speculative_num_draft_tokens = 1
            runner.attn_backend = self._attn_backend
            runner.graph_runner = self._graph_runner
            if worker.plan_stream:
                # The plan copies tensors that were made just now on this stream.
                worker.plan_stream.wait_stream(torch.get_device_module(worker.device).current_stream())
            yield

    def _root_only_input(self, batch: ModelWorkerBatch) -> EagleVerifyInput:
        """What a draft would hand to ``verify()``, with the last verified token as the only node."""
        # Not at the top: the launcher imports this file to check its arguments, before any worker exists.
        from sglang.srt.speculative.eagle_info import EagleVerifyInput

        size = len(batch.seq_lens)
        device = batch.seq_lens.device
        nothing = torch.full((size, 1), -1, dtype=torch.int64, device=device)
        return EagleVerifyInput(
            # int32 after a step that sampled, while CUDA's verify kernel takes int64 only.
            draft_token=batch.spec_info.verified_id.to(torch.int64),
            # Every node sees its whole prefix and itself.
            custom_mask=torch.ones(batch.seq_lens_sum + size, dtype=torch.bool, device=device),
            positions=batch.seq_lens.to(torch.int64),
            retrive_index=torch.arange(size, dtype=torch.int64, device=device).unsqueeze(1),
            retrive_next_token=nothing,
            retrive_next_sibling=nothing.clone(),
            retrive_cum_len=None,
            spec_steps=0,
            topk=self.worker.topk,
            draft_token_num=1,
            capture_hidden_mode=None,
            seq_lens_sum=None,
            seq_lens_cpu=None,
        )

    def _extend_draft(self, batch: ModelWorkerBatch, result: GenerationBatchResult) -> None:
        """Run the ordinary draft extend, so that drafts are as good after resuming as before.

        It expects the stride's slots per request. The first holds the new token, the others behave
        like rejected drafts: ``accept_lens`` is 1, and the next step overwrites their KV.
        """
        from sglang.srt.layers.moe.utils import speculative_moe_a2a_backend_context, speculative_moe_backend_context
        from sglang.srt.speculative.eagle_info_v2 import assign_extend_cache_locs_func

        worker = self.worker
        draft = worker.draft_worker
        stride = worker.speculative_num_draft_tokens
        size = len(batch.seq_lens)
        tokens = result.next_token_ids
        padded = tokens.new_zeros((size, stride))
        padded[:, 0] = tokens
        result.next_token_ids = padded.flatten()

        batch.out_cache_loc = assign_extend_cache_locs_func(
            req_pool_indices=batch.req_pool_indices,
            req_to_token=worker.req_to_token_pool.req_to_token,
            start_offset=batch.seq_lens,
            end_offset=batch.seq_lens + stride,
            batch_size=size,
            draft_token_num=stride,
            device=batch.seq_lens.device,
        )
        with (
            # The scheduler gets one row of hidden states per token that there is.
            _restored(result.logits_output, "hidden_states"),
            draft.draft_tp_context(draft.draft_runner.tp_group),
            speculative_moe_backend_context(),
            speculative_moe_a2a_backend_context(),
        ):
            rows = result.logits_output.hidden_states
            result.logits_output.hidden_states = rows.repeat_interleave(stride, dim=0)
            draft._draft_extend_for_decode(batch, result)

    def _log_change_of_mode(self, speculating: bool, size: int) -> None:
        if speculating != self._speculating:
            self._speculating = speculating
            self._changes_since_log += 1
        now = time.monotonic()
        if speculating == self._logged_speculating or now - self._logged_at < LOG_INTERVAL_SECONDS:
            return
        logger.info(
            "Batch of %d, threshold %d: speculation %s (%d changes of mode since the last such line; "
            "steps so far: %d with, %d without).",
            size,
            self.threshold,
            "resumes" if speculating else "pauses",
            self._changes_since_log,
            self.steps_with_speculation,
            self.steps_without_speculation,
        )
        self._logged_speculating = speculating
        self._logged_at = now
        self._changes_since_log = 0


@contextlib.contextmanager
def _restored(owner: Any, *names: str) -> Iterator[None]:
    """Give `owner` its attributes back at the end, whatever happens in between."""
    before = [getattr(owner, name) for name in names]
    try:
        yield
    finally:
        for name, value in zip(names, before):
            setattr(owner, name, value)

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""SGLang's real CudaGraphRunner on a CPU, with a graph object that runs the captured closure again on replay.

Real: buffers, padding, `can_run`, `replay_prepare`, the attention backend's metadata for graphs. As with a true graph,
a replay sees the attention metadata of its capture and writes into the outputs of its capture.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sglang.srt.model_executor.cuda_graph_runner as graph_module
import torch
from sglang.srt.model_executor.forward_batch_info import ForwardMode

REPLAYS: list[tuple[int, int]] = []  # (batch size of the graph, rows of its logits)


class Graph:
    backend: Any
    metadata: Any
    closure: Callable[[], Any]
    output: Any
    size: int

    def replay(self) -> None:
        before = self.backend.forward_metadata
        self.backend.forward_metadata = self.metadata
        try:
            new = self.closure()
        finally:
            self.backend.forward_metadata = before
        self.output.next_token_logits.copy_(new.next_token_logits)
        if self.output.hidden_states is not None:
            self.output.hidden_states.copy_(new.hidden_states)
        REPLAYS.append((self.size, self.output.next_token_logits.shape[0]))


class EmulatedGraphRunner(graph_module.CudaGraphRunner):
    built: list[EmulatedGraphRunner] = []

    def __init__(self, model_runner: Any) -> None:
        self.built.append(self)
        super().__init__(model_runner)

    def capture(self) -> None:
        self.stream = None
        for size in reversed(self.capture_bs):
            self._size = size
            forward = self.model_runner.model.forward
            self.graphs[size], self.output_buffers[size] = self.capture_one_batch_size(size, forward)

    def _create_device_graph(self) -> Graph:
        return Graph()

    def _capture_graph(self, graph: Graph, pool: object, stream: object, run_once_fn: Callable[[], Any]) -> Any:
        graph.backend = self.model_runner.attn_backend
        graph.metadata = graph.backend.forward_metadata
        graph.closure, graph.size = run_once_fn, self._size
        graph.output = run_once_fn()
        return graph.output


def install(sizes: list[int]) -> None:
    """Give the target such a runner just before the worker is built, as a GPU start would have."""
    from sglang.srt.speculative.eagle_worker_v2 import EAGLEWorkerV2

    ForwardMode.is_cpu_graph = ForwardMode.is_cuda_graph
    graph_module.set_global_graph_memory_pool(object())
    original = EAGLEWorkerV2.__init__

    def init(self: Any, server_args: Any, *args: Any, **kwargs: Any) -> None:
        target = kwargs.get("target_worker") or args[-1]
        server_args.cuda_graph_bs = list(sizes)
        with torch.inference_mode():
            target.model_runner.graph_runner = EmulatedGraphRunner(target.model_runner)
            original(self, server_args, *args, **kwargs)

    EAGLEWorkerV2.__init__ = init

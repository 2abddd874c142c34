# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Drive SGLang's real scheduler, in this process, over a plan of requests: drive.py CASE.json RESULT.json

A case: `models` (directory), `algorithm` (EAGLE3, STANDALONE or null), `thresholds` (one pass over the plan each; the
server starts with the first), `plan` ([iteration, request, new tokens], ...), `graphs` (batch sizes, empty for none),
`token_dtype` of the target's own samples (int32, as CUDA's sampling kernels give, or int64), `one_by_one` (drafts are
verified in full and counted, but only the target's own token is taken: this tells the accept length at every position).

The result: `prompts`, and per pass `threshold`, `outputs` by request, and one entry of `steps` per decode step.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from collections import deque
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import cpu_stand_ins  # noqa: E402  before SGLang
import torch  # noqa: E402

LIMIT = 600  # iterations of the scheduler; a pass takes about 150


class LogLines(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.levelname}: {record.getMessage()}")


class Nobody:
    """Stands for the processes that would get the scheduler's output."""

    def send_output(self, *_: object, **__: object) -> None:
        pass


def server_arguments(case: dict[str, Any]) -> Any:
    from sglang.srt.server_args import ServerArgs, set_global_server_args_for_scheduler

    models = Path(case["models"])
    arguments: dict[str, Any] = {
        "model_path": str(models / "target"),
        "device": "cpu",
        "dtype": "float32",
        "attention_backend": "triton",
        "sampling_backend": "pytorch",
        "skip_tokenizer_init": True,
        "disable_cuda_graph": True,
        "max_total_tokens": 4096,
        "max_running_requests": 8,
        "mem_fraction_static": 0.1,
        "disable_radix_cache": True,
        "chunked_prefill_size": 512,
        "watchdog_timeout": 100000,
        "random_seed": 1,
        "load_format": "safetensors",
    }
    if case["algorithm"]:
        arguments |= {
            "speculative_algorithm": case["algorithm"],
            "speculative_draft_model_path": str(models / ("draft" if case["algorithm"] == "EAGLE3" else "target")),
            "speculative_num_steps": 3,
            "speculative_eagle_topk": 1,
            "speculative_num_draft_tokens": 4,
            "speculative_disable_batch_threshold": case["thresholds"][0],
        }
    args = ServerArgs(**arguments)
    args.check_server_args()
    set_global_server_args_for_scheduler(args)
    return args


class Watch:
    """Records what the worker does in each decode step."""

    def __init__(self, worker: Any) -> None:
        self.worker = worker
        self.steps: list[dict[str, Any]] = []
        self.acceptable: list[int] = []
        self._drafts = 0
        self._rows = 0
        self._wrap(worker.draft_worker, "draft", self._count_draft)
        self._wrap(worker.target_worker.model_runner, "forward", self._count_rows)
        self._wrap(worker, "forward_batch_generation", self._step)

    @staticmethod
    def _wrap(owner: Any, name: str, around: Any) -> None:
        original = getattr(owner, name)
        setattr(owner, name, lambda *args, **kwargs: around(original, *args, **kwargs))

    def _count_draft(self, original: Any, *args: Any, **kwargs: Any) -> Any:
        self._drafts += 1
        return original(*args, **kwargs)

    def _count_rows(self, original: Any, forward_batch: Any, *args: Any, **kwargs: Any) -> Any:
        self._rows = forward_batch.input_ids.numel()
        return original(forward_batch, *args, **kwargs)

    def _step(self, original: Any, batch: Any, *args: Any, **kwargs: Any) -> Any:
        prefill = batch.forward_mode.is_extend() or batch.is_extend_in_batch
        before = self._drafts
        requests = [request.rid.split("-")[1] for request in batch.reqs]
        lengths = batch.seq_lens.tolist()
        result = original(batch, *args, **kwargs)
        if not prefill:
            self.steps.append(
                {
                    "requests": requests,
                    "lengths": lengths,
                    "drafts": self._drafts - before,
                    "rows": self._rows,
                    "accepted": self.acceptable or result.accept_lens.tolist(),
                    "slots": result.next_token_ids.numel(),
                    "stride": self.worker.speculative_num_draft_tokens,
                    "hidden_rows": result.logits_output.hidden_states.shape[0],
                    "graph": bool(result.can_run_cuda_graph),
                }
            )
        return result


class Driver:
    """The overlap event loop of the scheduler, with requests that arrive at given iterations."""

    def __init__(self, args: Any) -> None:
        import sglang.srt.managers.scheduler as module
        from sglang.srt.server_args import PortArgs

        self.scheduler = module.Scheduler(args, PortArgs.init_new(args), 0, 0, 0, 0, 0, 0, None)
        self.scheduler.send_to_tokenizer = self.scheduler.send_to_detokenizer = Nobody()
        self.prompts: dict[int, list[int]] = {}

    def run(self, plan: list[tuple[int, int, int]], label: str) -> dict[int, list[int]]:
        """The tokens of each request. A speculating server may overshoot: cut to what was asked for."""
        scheduler = self.scheduler
        scheduler.result_queue, scheduler.last_batch = deque(), None
        requests = {}
        for iteration in range(LIMIT):
            for when, number, tokens in plan:
                if when == iteration:
                    requests[number] = self._add(number, tokens, label)
            batch = scheduler.get_next_batch_to_run()
            scheduler.cur_batch = batch
            result = None
            if batch:
                result = scheduler.run_batch(batch)
                if scheduler.enable_overlap:
                    scheduler.result_queue.append((batch.copy(), result))
                else:
                    scheduler.process_batch_result(batch, result)
            if scheduler.enable_overlap:
                if scheduler.last_batch:
                    scheduler.process_batch_result(*scheduler.result_queue.popleft())
                if batch:
                    scheduler.launch_batch_sample_if_needed(result)
            scheduler.last_batch = batch
            if batch is None and iteration > max(when for when, _, _ in plan):
                break
        return {n: r.output_ids[: r.sampling_params.max_new_tokens] for n, r in requests.items()}

    def _add(self, number: int, tokens: int, label: str) -> Any:
        from sglang.srt.managers.io_struct import TokenizedGenerateReqInput
        from sglang.srt.sampling.sampling_params import SamplingParams

        generator = torch.Generator().manual_seed(100 + number)
        prompt = torch.randint(2, 256, (5 + number,), generator=generator).tolist()
        self.prompts[number] = prompt
        sampling = SamplingParams(max_new_tokens=tokens, temperature=0.0, ignore_eos=True)
        sampling.normalize(None)
        request = TokenizedGenerateReqInput(
            rid=f"{label}-{number}",
            input_text="",
            input_ids=prompt,
            mm_inputs=None,
            sampling_params=sampling,
            return_logprob=False,
            logprob_start_len=-1,
            top_logprobs_num=0,
            token_ids_logprob=None,
            stream=False,
        )
        self.scheduler.process_input_requests([request])
        return self.scheduler.waiting_queue[-1]


def set_threshold(worker: Any, threshold: int) -> None:
    """As if the server had been started with it."""
    from sglang.srt.speculative.batch_threshold import BatchThreshold

    worker.server_args.speculative_disable_batch_threshold = threshold
    worker.batch_threshold = BatchThreshold.create(worker)


def take_one_token(watch: Watch) -> None:
    """Let the scheduler go on by one token a step, and tell the watch what would have been accepted."""
    from sglang.srt.speculative.eagle_info import EagleVerifyInput

    original = EagleVerifyInput.sample

    def sample(self: Any, *args: Any, **kwargs: Any) -> Any:
        predict, accept_length, accept_index = original(self, *args, **kwargs)
        watch.acceptable = accept_length.tolist()
        accept_length.fill_(1)
        accept_index[:, 1:] = -1
        return predict, accept_length, accept_index

    EagleVerifyInput.sample = sample


def sample_as(dtype: torch.dtype, runner: Any) -> None:
    original = runner.sample
    runner.sample = lambda *args, **kwargs: original(*args, **kwargs).to(dtype)


def main() -> None:
    case = json.loads(Path(sys.argv[1]).read_text())
    torch.set_num_threads(1)
    os.environ["SGLANG_ENABLE_SPEC_V2"] = "1"
    import sglang.srt.managers.scheduler  # noqa: F401  SGLang's modules, so that the stand-ins find them

    log = LogLines()
    logger = logging.getLogger("sglang.srt.speculative.batch_threshold")
    logger.setLevel(logging.INFO)
    logger.addHandler(log)
    cpu_stand_ins.install()
    if case["graphs"]:
        import emulated_graphs

        emulated_graphs.install(case["graphs"])
    driver = Driver(server_arguments(case))
    worker = driver.scheduler.model_worker
    watch = None
    if case["algorithm"]:
        watch = Watch(worker)
        if case["one_by_one"]:
            take_one_token(watch)
        sample_as(getattr(torch, case["token_dtype"]), worker.target_worker.model_runner)
    result: dict[str, Any] = {"worker": type(worker).__name__, "passes": []}
    with torch.inference_mode():
        for number, threshold in enumerate(case["thresholds"]):
            if number:
                set_threshold(worker, threshold)
            outputs = driver.run([tuple(entry) for entry in case["plan"]], f"pass{number}")
            own = getattr(worker, "batch_threshold", None)
            counters = [own.steps_with_speculation, own.steps_without_speculation] if own else None
            steps = []
            if watch:
                steps, watch.steps = watch.steps, []
            result["passes"].append({"threshold": threshold, "outputs": outputs, "steps": steps, "counters": counters})
    result |= {"prompts": driver.prompts, "log": log.lines}
    if case["graphs"]:
        result["runners"] = [[r.num_tokens_per_bs, r.capture_bs] for r in emulated_graphs.EmulatedGraphRunner.built]
        result["replays"] = emulated_graphs.REPLAYS
    Path(sys.argv[2]).write_text(json.dumps(result))
    # SGLang leaves threads behind that would keep the process.
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()

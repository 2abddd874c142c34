# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""CPU stand-ins for what SGLang 0.5.9 does only on a GPU: three operations of sgl-kernel, streams, attention kernels.

Import before anything of SGLang; call `install()` after. Everything else stays SGLang's own: scheduler, overlap,
worker, model runner, attention backend with its metadata, Triton's other kernels (interpreted). Top-k 1 only.
The checks of arguments are those of the CUDA code, so a call that a GPU would refuse is refused here.
"""

from __future__ import annotations

import os

os.environ.update(
    TRITON_INTERPRET="1",
    SGLANG_USE_CPU_ENGINE="1",
    SGLANG_SKIP_SGL_KERNEL_VERSION_CHECK="1",
    TORCH_COMPILE_DISABLE="1",
)

import torch  # noqa: E402
from torch import Tensor  # noqa: E402


class Event:
    """torch.cpu.Event lacks most of the interface; on a CPU everything is done when it returns."""

    def __init__(self, *_: object, **__: object) -> None:
        pass

    def record(self, *_: object) -> None:
        pass

    def wait(self, *_: object) -> None:
        pass

    def synchronize(self) -> None:
        pass

    def query(self) -> bool:
        return True


torch.cpu.Event = Event
torch.Tensor.record_stream = lambda self, stream: None
torch.cuda.synchronize = lambda *_: None
torch.cuda.empty_cache = lambda: None


def build_tree_kernel_efficient(
    parent_list: Tensor,
    top_scores_index: Tensor,
    seq_lens: Tensor,
    tree_mask: Tensor,
    positions: Tensor,
    retrive_index: Tensor,
    retrive_next_token: Tensor,
    retrive_next_sibling: Tensor,
    topk: int,
    depth: int,
    draft_token_num: int,
    tree_mask_mode: int,
) -> None:
    """A tree of top-k 1 is a chain; the mask holds, per request, draft_token_num x (length + draft_token_num)."""
    assert topk == 1 and int(tree_mask_mode) == 0, (topk, tree_mask_mode)
    batch, width = seq_lens.numel(), draft_token_num
    steps = torch.arange(width)
    positions.view(batch, width).copy_(seq_lens[:, None] + steps)
    retrive_index.copy_(torch.arange(batch * width).view(batch, width))
    successor = steps + 1
    successor[-1] = -1
    retrive_next_token.copy_(successor.expand(batch, width))
    retrive_next_sibling.fill_(-1)
    causal = torch.tril(torch.ones(width, width, dtype=torch.bool))
    masks = [torch.cat([torch.ones(width, n, dtype=torch.bool), causal], 1).flatten() for n in seq_lens.tolist()]
    flat = torch.cat(masks)
    tree_mask[: flat.numel()] = flat


def verify_tree_greedy_func(
    predicts: Tensor,
    accept_index: Tensor,
    accept_token_num: Tensor,
    candidates: Tensor,
    retrive_index: Tensor,
    retrive_next_token: Tensor,
    retrive_next_sibling: Tensor,
    target_predict: Tensor,
    topk: int = -1,
) -> tuple[Tensor, Tensor, Tensor]:
    """verify_tree_greedy of sgl-kernel/csrc/speculative/eagle_utils.cu, with its checks."""
    for name, value in [
        ("candidates", candidates),
        ("retrive_index", retrive_index),
        ("retrive_next_token", retrive_next_token),
        ("retrive_next_sibling", retrive_next_sibling),
        ("target_predict", target_predict),
    ]:
        assert value.dtype == torch.int64, f"Expected '{name}' to be of type long (torch.int64), not {value.dtype}"
        assert value.is_contiguous() and value.shape == candidates.shape, (name, value.shape, candidates.shape)
    for name, value in [
        ("predicts", predicts),
        ("accept_index", accept_index),
        ("accept_token_num", accept_token_num),
    ]:
        assert value.dtype == torch.int32, f"Expected '{name}' to be of type int (torch.int32), not {value.dtype}"
    predicted = target_predict.flatten()
    for row in range(candidates.shape[0]):
        last = int(retrive_index[row, 0])
        accept_index[row, 0] = last
        accepted, node = 0, 0
        for _ in range(1, accept_index.shape[1]):
            node = int(retrive_next_token[row, node])
            if node < 0 or candidates[row, node] != predicted[last]:
                break
            predicts[last] = predicted[last]
            accepted += 1
            last = int(retrive_index[row, node])
            accept_index[row, accepted] = last
        predicts[last] = predicted[last]
        accept_token_num[row] = accepted
    return predicts, accept_index, accept_token_num


def assign_extend_cache_locs_func(
    req_pool_indices: Tensor,
    req_to_token: Tensor,
    start_offset: Tensor,
    end_offset: Tensor,
    batch_size: int,
    draft_token_num: int,
    device: object,
) -> Tensor:
    assert (end_offset - start_offset == draft_token_num).all()
    columns = start_offset[:, None] + torch.arange(draft_token_num)
    return req_to_token[req_pool_indices.long()[:, None], columns.long()].flatten().to(torch.int64)


def extend_attention_fwd(
    q_extend: Tensor,
    k_extend: Tensor,
    v_extend: Tensor,
    o_extend: Tensor,
    k_buffer: Tensor,
    v_buffer: Tensor,
    qo_indptr: Tensor,
    kv_indptr: Tensor,
    kv_indices: Tensor,
    custom_mask: Tensor | None,
    is_causal: bool,
    mask_indptr: Tensor | None,
    max_len_extend: int,
    sm_scale: float | None = None,
    *_: object,
    **__: object,
) -> None:
    """Behind the real TritonAttnBackend, whose metadata is what matters here: thirty times faster than interpreted."""
    rows, columns = qo_indptr.tolist(), kv_indptr.tolist()
    assert q_extend.shape[0] == rows[-1], f"{q_extend.shape[0]} rows of q, {rows[-1]} in the metadata"
    for b in range(len(rows) - 1):
        new = slice(rows[b], rows[b + 1])
        prefix = kv_indices[columns[b] : columns[b + 1]]
        count, length = rows[b + 1] - rows[b], prefix.numel()
        assert count <= max_len_extend, (count, max_len_extend)
        k = torch.cat([k_buffer[prefix], k_extend[new]])
        v = torch.cat([v_buffer[prefix], v_extend[new]])
        scores = torch.einsum("qhd,khd->hqk", q_extend[new], k) * (sm_scale or q_extend.shape[-1] ** -0.5)
        mask = torch.ones(count, length + count, dtype=torch.bool)
        if custom_mask is None:
            mask[:, length:] = torch.tril(torch.ones(count, count, dtype=torch.bool))
        else:
            start = int(mask_indptr[b])
            own = custom_mask[start : start + mask.numel()].view(mask.shape)
            mask[:, length:] = own[:, length:].bool()  # the prefix is visible to all, as in the kernel
        weights = scores.masked_fill(~mask, -1e30).softmax(-1)
        o_extend[new] = torch.einsum("hqk,khd->qhd", weights, v)


def decode_attention_fwd(
    q: Tensor,
    k_buffer: Tensor,
    v_buffer: Tensor,
    o: Tensor,
    kv_indptr: Tensor,
    kv_indices: Tensor,
    attn_logits: Tensor,
    attn_lse: Tensor,
    num_kv_splits: Tensor,
    max_kv_splits: int,
    sm_scale: float,
    *_: object,
    **__: object,
) -> None:
    columns = kv_indptr.tolist()
    for b in range(q.shape[0]):
        places = kv_indices[columns[b] : columns[b + 1]]
        weights = (torch.einsum("hd,khd->hk", q[b], k_buffer[places]) * sm_scale).softmax(-1)
        o[b] = torch.einsum("hk,khd->hd", weights, v_buffer[places])


def install() -> None:
    """Put the stand-ins where SGLang's modules look them up."""
    from sglang.srt.layers.attention.triton_ops import decode_attention, extend_attention
    from sglang.srt.speculative import eagle_info, eagle_info_v2, eagle_utils

    eagle_utils.sgl_build_tree_kernel_efficient = build_tree_kernel_efficient
    for module in (eagle_utils, eagle_info_v2, eagle_info):
        module.verify_tree_greedy_func = verify_tree_greedy_func
    eagle_info_v2.assign_extend_cache_locs_func = assign_extend_cache_locs_func
    extend_attention.extend_attention_fwd = extend_attention_fwd
    decode_attention.decode_attention_fwd = decode_attention_fwd

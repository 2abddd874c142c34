# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of a small LlamaForCausalLM, as bytes; the same seed gives the same bytes on every machine.

Formats: safetensors (u64 little-endian length of the header, JSON header, raw tensors), tokenizer.json of the
`tokenizers` library. Weights are multiples of 2**-24 times a power of two, so float32 holds each of them exactly and
no mathematical library has a say in their bits.
"""

from __future__ import annotations

import array
import json
import random
import struct
import sys
import typing as t

from ansible_collections.inferops.blackwell.plugins.module_utils._tiny_model.tokenizer import (
    BOS,
    EOS,
    PAD,
    tokenizer_files,
)

# A part of what makes the bytes: raise it with every change to them.
FORMAT = 1
VOCABULARY = 512
HIDDEN = 64
INTERMEDIATE = 128
LAYERS = 4
HEADS = 4
CONTEXT = 4096

CONFIG: dict[str, t.Any] = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "vocab_size": VOCABULARY,
    "hidden_size": HIDDEN,
    "intermediate_size": INTERMEDIATE,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "num_key_value_heads": HEADS,
    "head_dim": HIDDEN // HEADS,
    "hidden_act": "silu",
    "max_position_embeddings": CONTEXT,
    "rms_norm_eps": 1e-05,
    "rope_theta": 10000.0,
    "attention_bias": False,
    "mlp_bias": False,
    "tie_word_embeddings": False,
    "bos_token_id": BOS,
    "eos_token_id": EOS,
    "pad_token_id": PAD,
    "use_cache": True,
    "torch_dtype": "float32",
}


def tensor_shapes() -> dict[str, tuple[int, ...]]:
    """Name and shape of every weight, as transformers' LlamaForCausalLM names them."""
    shapes: dict[str, tuple[int, ...]] = {"model.embed_tokens.weight": (VOCABULARY, HIDDEN)}
    for layer in range(LAYERS):
        prefix = f"model.layers.{layer}"
        shapes[f"{prefix}.input_layernorm.weight"] = (HIDDEN,)
        for name in "qkvo":
            shapes[f"{prefix}.self_attn.{name}_proj.weight"] = (HIDDEN, HIDDEN)
        shapes[f"{prefix}.post_attention_layernorm.weight"] = (HIDDEN,)
        shapes[f"{prefix}.mlp.gate_proj.weight"] = (INTERMEDIATE, HIDDEN)
        shapes[f"{prefix}.mlp.up_proj.weight"] = (INTERMEDIATE, HIDDEN)
        shapes[f"{prefix}.mlp.down_proj.weight"] = (HIDDEN, INTERMEDIATE)
    shapes["model.norm.weight"] = (HIDDEN,)
    shapes["lm_head.weight"] = (VOCABULARY, HIDDEN)
    return shapes


def _values(source: random.Random, count: int) -> array.array[float]:
    """Uniform in [-1/4, 1/4): wide enough that greedy decoding has no ties."""
    words = array.array("I", source.randbytes(4 * count))
    if sys.byteorder == "big":
        words.byteswap()
    return array.array("f", [((word >> 8) - 2**23) / 2**25 for word in words])


def weights(seed: int) -> bytes:
    """model.safetensors."""
    source = random.Random(seed)  # noqa: S311  # reproducible on purpose, nothing secret
    header: dict[str, t.Any] = {"__metadata__": {"format": "pt"}}
    body = bytearray()
    for name, shape in tensor_shapes().items():
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        values = array.array("f", [1.0]) * count if name.endswith("norm.weight") else _values(source, count)
        if sys.byteorder == "big":
            values.byteswap()
        start = len(body)
        body += values.tobytes()
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [start, len(body)]}
    text = json.dumps(header, separators=(",", ":")).encode("ascii")
    text += b" " * (-len(text) % 8)  # the tensors start at a multiple of eight
    return struct.pack("<Q", len(text)) + text + bytes(body)


def model_files(seed: int) -> dict[str, bytes]:
    """Every file of the model directory by name."""
    generation = {"bos_token_id": BOS, "eos_token_id": EOS, "pad_token_id": PAD, "do_sample": False}
    return {
        "config.json": as_json(CONFIG),
        "generation_config.json": as_json(generation),
        "model.safetensors": weights(seed),
        **{name: as_json(content) for name, content in tokenizer_files(VOCABULARY, CONTEXT).items()},
    }


def as_json(content: dict[str, t.Any]) -> bytes:
    return (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode("utf-8")

# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make a tiny seeded Llama target and train an EAGLE-3 draft for it: make_models.py DIRECTORY

The draft is trained on what the target says until it is right about half of the time, so that acceptance in the tests
is neither none nor all. Layer names and shapes are those of sglang/srt/models/llama_eagle3.py.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.nn import functional
from transformers import LlamaConfig, LlamaForCausalLM

VOCABULARY, HIDDEN, LAYERS, HEADS, INTERMEDIATE = 256, 64, 7, 2, 128
EPSILON = 1e-5
SEQUENCES, PROMPT, LENGTH = 1024, 6, 64
HELD_OUT = 32
TRAINING_STEPS = 400
# The hidden states that EAGLE-3 reads: SGLang's default for a target of this depth.
CAPTURED_LAYERS = (2, LAYERS // 2, LAYERS - 3)


class RMSNorm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(HIDDEN))

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + EPSILON) * self.weight


def rotary(x: Tensor) -> Tensor:
    """Rotary position embedding of (batch, length, heads, head size)."""
    size, length = x.shape[-1], x.shape[1]
    angle = torch.arange(length)[:, None] / 10000 ** (torch.arange(0, size, 2).float() / size)
    cos, sin = angle.cos()[None, :, None], angle.sin()[None, :, None]
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], -1)


class Draft(nn.Module):
    """One EAGLE-3 layer over the embedding of the next token and the hidden states of this one."""

    def __init__(self) -> None:
        super().__init__()
        linear = {
            "fc": (3 * HIDDEN, HIDDEN),
            **dict.fromkeys(("q_proj", "k_proj", "v_proj"), (2 * HIDDEN, HIDDEN)),
            "o_proj": (HIDDEN, HIDDEN),
            **dict.fromkeys(("gate_proj", "up_proj"), (HIDDEN, INTERMEDIATE)),
            "down_proj": (INTERMEDIATE, HIDDEN),
            "lm_head": (HIDDEN, VOCABULARY),
        }
        self.linear = nn.ModuleDict({name: nn.Linear(*shape, bias=False) for name, shape in linear.items()})
        names = ("input_layernorm", "hidden_norm", "post_attention_layernorm", "norm")
        self.norms = nn.ModuleDict({name: RMSNorm() for name in names})

    def forward(self, embedding: Tensor, hidden: Tensor) -> tuple[Tensor, Tensor]:
        """Logits, and the hidden state from which the next drafting step goes on."""
        layer, norm = self.linear, self.norms
        if hidden.shape[-1] != HIDDEN:
            hidden = layer["fc"](hidden)
        both = torch.cat([norm["input_layernorm"](embedding), norm["hidden_norm"](hidden)], -1)
        q, k, v = (
            layer[name](both).view(*both.shape[:2], HEADS, HIDDEN // HEADS) for name in ("q_proj", "k_proj", "v_proj")
        )
        q, k, v = (x.transpose(1, 2) for x in (rotary(q), rotary(k), v))
        attention = (
            functional.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(hidden.shape)
        )
        residual = hidden + layer["o_proj"](attention)
        x = norm["post_attention_layernorm"](residual)
        state = layer["down_proj"](functional.silu(layer["gate_proj"](x)) * layer["up_proj"](x)) + residual
        return layer["lm_head"](norm["norm"](state)), state

    def weights(self) -> dict[str, Tensor]:
        """Named as the checkpoint of an EAGLE-3 draft names them."""
        named = {}
        for name, module in [*self.linear.items(), *self.norms.items()]:
            outer = name in ("fc", "lm_head", "norm")
            prefix = "" if outer else "midlayer."
            if name.endswith("_proj"):
                prefix += "mlp." if name in ("gate_proj", "up_proj", "down_proj") else "self_attn."
            named[f"{prefix}{name}.weight"] = module.weight.data.clone().contiguous()
        named["d2t"] = torch.zeros(VOCABULARY, dtype=torch.long)
        named["t2d"] = torch.ones(VOCABULARY, dtype=torch.bool)
        return named


def make_target() -> LlamaForCausalLM:
    config = LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=HIDDEN,
        intermediate_size=INTERMEDIATE,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        num_key_value_heads=HEADS,
        max_position_embeddings=1024,
        bos_token_id=0,
        eos_token_id=1,
        rms_norm_eps=EPSILON,
        tie_word_embeddings=False,
        initializer_range=0.08,
    )
    return LlamaForCausalLM(config).float().eval()


def train_draft(target: LlamaForCausalLM) -> tuple[Draft, float]:
    """A draft, and how often it is right on sequences that it was not trained on."""
    draft = Draft()
    draft.linear["lm_head"].weight.data.copy_(target.lm_head.weight.data)
    new = LENGTH - PROMPT
    with torch.no_grad():
        prompts = torch.randint(2, VOCABULARY, (SEQUENCES, PROMPT))
        ids = target.generate(
            prompts,
            attention_mask=torch.ones_like(prompts),
            max_new_tokens=new,
            min_new_tokens=new,
            do_sample=False,
            pad_token_id=0,
        )
        output = target.model(ids, output_hidden_states=True)
        hidden = torch.cat([output.hidden_states[layer] for layer in CAPTURED_LAYERS], -1)
        wanted = target.lm_head(output.last_hidden_state).argmax(-1)
        embedding = target.model.embed_tokens(ids)
    optimizer = torch.optim.Adam(draft.parameters(), 4e-3)
    for _ in range(TRAINING_STEPS):
        rows = torch.randint(0, SEQUENCES - HELD_OUT, (64,))
        logits, state = draft(embedding[rows, 1:], hidden[rows, :-1])
        # The second drafting step starts from the draft's own hidden state.
        second, _ = draft(embedding[rows, 2:], state[:, :-1])
        loss = functional.cross_entropy(logits.flatten(0, 1), wanted[rows, 1:].flatten())
        loss = loss + functional.cross_entropy(second.flatten(0, 1), wanted[rows, 2:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        logits, _ = draft(embedding[-HELD_OUT:, 1:], hidden[-HELD_OUT:, :-1])
    return draft, (logits.argmax(-1) == wanted[-HELD_OUT:, 1:]).float().mean().item()


def main() -> None:
    directory = Path(sys.argv[1])
    torch.manual_seed(0)
    torch.set_num_threads(2)
    target = make_target()
    target.save_pretrained(directory / "target")
    draft, accuracy = train_draft(target)
    if not 0.3 < accuracy < 0.9:
        sys.exit(f"the draft is right {accuracy:.0%} of the time: too extreme to test acceptance with")
    (directory / "draft").mkdir()
    save_file(draft.weights(), directory / "draft" / "model.safetensors")
    config = target.config.to_dict()
    config.update(architectures=["LlamaForCausalLMEagle3"], num_hidden_layers=1, draft_vocab_size=VOCABULARY)
    (directory / "draft" / "config.json").write_text(json.dumps(config))
    (directory / "accuracy.json").write_text(json.dumps({"draft_held_out": accuracy}))


if __name__ == "__main__":
    main()

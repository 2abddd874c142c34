# Copyright (c) 2026, inferops contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A byte-level BPE tokenizer, trained on a few sentences. Every text can be encoded, every id decoded."""

from __future__ import annotations

import collections
import re
import typing as t

BOS, EOS, PAD = 0, 1, 2
SPECIAL = ("<s>", "</s>", "<pad>")

# Enough different words for the merges that fill the vocabulary.
_TEXT = (
    "The quick brown fox jumps over the lazy dog while seventeen curious engineers watch a small server answer its "
    "very first request. Speculative decoding drafts several tokens at once, verifies them with the target model, and "
    "keeps whatever both agree upon; under heavy load the draft is skipped so that throughput does not suffer. "
    "Every batch has a size, every queue has a length, and every measurement deserves its unit. Hello, world! "
    "How are you today? Please count: zero, one, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve. "
    "Between morning and midnight, people build bridges, bake bread, read quietly, plant gardens and mend broken toys."
)
_CHAT_TEMPLATE = (
    "{% for message in messages %}{{ message['role'] + ': ' + message['content'] + '\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ 'assistant:' }}{% endif %}"
)


def byte_alphabet() -> dict[int, str]:
    """The printable character that stands for each byte in byte-level BPE, as GPT-2 defined it."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    alphabet = {byte: chr(byte) for byte in printable}
    for byte in range(256):
        if byte not in alphabet:
            alphabet[byte] = chr(256 + len(alphabet) - len(printable))
    return alphabet


def train(count: int) -> list[tuple[str, str]]:
    """`count` merges: always the most frequent pair, among equals the first in alphabetical order."""
    alphabet = byte_alphabet()
    words = collections.Counter(
        tuple(alphabet[byte] for byte in word.encode()) for word in re.findall(r" ?[A-Za-z]+", _TEXT)
    )
    merges: list[tuple[str, str]] = []
    while len(merges) < count:
        pairs: collections.Counter[tuple[str, str]] = collections.Counter()
        for word, times in words.items():
            for pair in zip(word, word[1:]):
                pairs[pair] += times
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        merges.append(best)
        words = collections.Counter({_merge(word, best): times for word, times in words.items()})
    return merges


def _merge(word: tuple[str, ...], pair: tuple[str, str]) -> tuple[str, ...]:
    merged: list[str] = []
    for symbol in word:
        if merged and (merged[-1], symbol) == pair:
            merged[-1] += symbol
        else:
            merged.append(symbol)
    return tuple(merged)


def tokenizer_files(size: int, context: int) -> dict[str, dict[str, t.Any]]:
    """tokenizer.json and tokenizer_config.json for a vocabulary of exactly `size` ids."""
    tokens = [*SPECIAL, *sorted(byte_alphabet().values())]
    merges = train(size - len(tokens))
    tokens += [left + right for left, right in merges]
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    tokenizer = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {
                "id": number,
                "content": content,
                "single_word": False,
                "lstrip": False,
                "rstrip": False,
                "normalized": False,
                "special": True,
            }
            for number, content in enumerate(SPECIAL)
        ],
        "normalizer": None,
        "pre_tokenizer": byte_level,
        "post_processor": None,
        "decoder": byte_level,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "vocab": {token: number for number, token in enumerate(tokens)},
            "merges": [f"{left} {right}" for left, right in merges],
        },
    }
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": SPECIAL[BOS],
        "eos_token": SPECIAL[EOS],
        "pad_token": SPECIAL[PAD],
        "clean_up_tokenization_spaces": False,
        "model_input_names": ["input_ids", "attention_mask"],
        "model_max_length": context,
        "chat_template": _CHAT_TEMPLATE,
    }
    return {"tokenizer.json": tokenizer, "tokenizer_config.json": config}

"""Make a random Llama of 3.3 M parameters with a tokenizer and a chat template: tiny_model.py FOLDER. Runs in the engine's Python.

The tokenizer is a byte-level BPE of 4096 tokens, trained on Python's own library; nothing is fetched.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def tokenizer() -> PreTrainedTokenizerFast:
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    files = [str(path) for path in sorted(Path(os.__file__).parent.glob("*.py"))[:150]]
    special = ["<|pad|>", "<|bos|>", "<|eos|>", "<|im_start|>", "<|im_end|>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    made.train(
        files,
        trainers.BpeTrainer(vocab_size=4096, special_tokens=special, initial_alphabet=alphabet),
    )
    whole = PreTrainedTokenizerFast(
        tokenizer_object=made,
        bos_token="<|bos|>",
        eos_token="<|im_end|>",
        pad_token="<|pad|>",
        model_max_length=4096,
    )
    whole.chat_template = TEMPLATE
    return whole


def main(folder: Path) -> None:
    words = tokenizer()
    words.save_pretrained(folder)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(words), hidden_size=256, intermediate_size=512, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=4096, bos_token_id=words.bos_token_id,
        eos_token_id=words.eos_token_id, pad_token_id=words.pad_token_id, tie_word_embeddings=False,
    )  # fmt: skip
    LlamaForCausalLM(config).to(torch.bfloat16).save_pretrained(folder, safe_serialization=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

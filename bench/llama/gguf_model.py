#!/usr/bin/env python3
# ===- gguf_model.py - A model folder as a GGUF file ------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gguf_model.py FOLDER FILE [f32]: writes the Llama in FOLDER (config.json, model.safetensors of f32) with matrices of bf16,
or of f32.

Runs in the environment of bench/llama/setup.
"""
import json
import os
import sys

import gguf
import numpy

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from support import safetensors  # noqa: E402

BLOCKS = {
    "input_layernorm": "attn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output", "post_attention_layernorm": "ffn_norm", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
OTHERS = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}


def tensors(path):
    """Yields the name and the array of each F32 tensor, mapped from the file."""
    for name, (shape, offset, _) in safetensors.layout(path).items():
        yield name, numpy.memmap(path, "float32", "r", offset, tuple(shape))


def gguf_name(name):
    base = name.removesuffix(".weight")
    if base in OTHERS:
        return OTHERS[base] + ".weight"
    layer, part = base.removeprefix("model.layers.").split(".", 1)
    return f"blk.{layer}.{BLOCKS[part]}.weight"


def interleave(matrix, heads):
    """Returns the rows of a projection of queries or keys in the order of GGUF: rotated components are neighbors."""
    rows, columns = matrix.shape
    return matrix.reshape(heads, 2, rows // heads // 2, columns).swapaxes(1, 2).reshape(rows, columns)


def main(folder, path, kind="bf16"):
    with open(os.path.join(folder, "config.json")) as f:
        config = json.load(f)
    heads, groups = config["num_attention_heads"], config["num_key_value_heads"]
    writer = gguf.GGUFWriter(path + ".part", "llama")
    writer.add_vocab_size(config["vocab_size"])
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(heads)
    writer.add_head_count_kv(groups)
    writer.add_rope_dimension_count(config["hidden_size"] // heads)
    writer.add_rope_freq_base(config["rope_theta"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_file_type(gguf.LlamaFileType.ALL_F32 if kind == "f32" else gguf.LlamaFileType.MOSTLY_BF16)
    writer.add_tokenizer_model("no_vocab")
    for name, array in tensors(os.path.join(folder, "model.safetensors")):
        if ".q_proj." in name or ".k_proj." in name:
            array = interleave(array, heads if ".q_proj." in name else groups)
        if array.ndim == 1 or kind == "f32":
            writer.add_tensor(gguf_name(name), numpy.ascontiguousarray(array))
        else:
            bits = gguf.quants.quantize(numpy.ascontiguousarray(array), gguf.GGMLQuantizationType.BF16)
            writer.add_tensor(gguf_name(name), bits, raw_dtype=gguf.GGMLQuantizationType.BF16)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    os.replace(path + ".part", path)


if __name__ == "__main__":
    main(*sys.argv[1:])

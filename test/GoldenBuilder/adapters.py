# ===- adapters.py - LoRA adapters of golden cases --------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An adapter folder in PEFT's form, with generated weights, and the same adapter in a model of the reference.

The model computes y + scale * B(A(x)) beside each module, as PEFT does before it merges, so that the expected outputs do
not depend on how anybody merges.
"""

import json
import math
import os
import re

import numpy as np
import torch

from . import weights

CONFIG = {"peft_type": "LORA", "task_type": "CAUSAL_LM", "base_model_name_or_path": "", "r": 8, "lora_alpha": 8, "lora_dropout": 0.0,
          "bias": "none", "fan_in_fan_out": False, "inference_mode": True, "modules_to_save": None, "use_rslora": False,
          "use_dora": False, "rank_pattern": {}, "alpha_pattern": {}}
PREFIX = "base_model.model."


def value_of(config, key, pattern_key, module):
    for pattern, value in config[pattern_key].items():
        if re.match(rf"(.*\.)?({pattern})$", module):
            return value
    return config[key]


class Adapter:
    """The adapter of a case: |settings| are keys of adapter_config.json, with `target_modules` and `modules_to_save` as
    lists of the last parts of names."""

    def __init__(self, settings, seed):
        self.config, self.seed = {**CONFIG, **settings}, seed

    def targets(self, model):
        for path, module in model.named_modules():
            if path.split(".")[-1] in self.config["target_modules"]:
                yield path, module

    def scale(self, path, rank):
        alpha = value_of(self.config, "lora_alpha", "alpha_pattern", path)
        return alpha / (math.sqrt(rank) if self.config["use_rslora"] else rank)

    def fill(self, name, shape):
        return weights.gen_weights.fill(name, shape, self.seed, *weights.gen_weights.rule(name, shape))

    def tensors(self, model):
        """Returns {name: values} for adapter_model.safetensors."""
        shapes = {}
        for path, module in self.targets(model):
            rank = value_of(self.config, "r", "rank_pattern", path)
            if isinstance(module, torch.nn.Embedding):
                rows, features = module.weight.shape
                shapes[f"{path}.lora_embedding_A"], shapes[f"{path}.lora_embedding_B"] = (rank, rows), (features, rank)
                continue
            out, width = module.weight.shape if isinstance(module, torch.nn.Linear) else reversed(module.weight.shape)
            shapes[f"{path}.lora_A.weight"], shapes[f"{path}.lora_B.weight"] = (rank, width), (out, rank)
            if self.config["bias"] == "lora_only" and module.bias is not None:
                shapes[f"{path}.bias"] = tuple(module.bias.shape)
        for path, parameter in model.named_parameters():
            module, last = path.rsplit(".", 1)
            if module.split(".")[-1] in (self.config["modules_to_save"] or ()) or (self.config["bias"] == "all" and last == "bias"):
                shapes[path] = tuple(parameter.shape)
        return {PREFIX + name: self.fill(PREFIX + name, shape) for name, shape in sorted(shapes.items())}

    def save(self, folder, model):
        os.makedirs(folder)
        with open(os.path.join(folder, "adapter_config.json"), "w", encoding="utf-8") as file:
            file.write(json.dumps(self.config, indent=1) + "\n")
        weights.gen_weights.save(os.path.join(folder, "adapter_model.safetensors"), self.tensors(model), {"format": "pt"})

    def attach(self, model):
        """Makes |model| compute with the adapter, whose tensors become parameters of its modules."""
        tensors = {name.removeprefix(PREFIX): torch.from_numpy(np.ascontiguousarray(value)).to(model.dtype)
                   for name, value in self.tensors(model).items()}
        for path, module in self.targets(model):
            embedding = isinstance(module, torch.nn.Embedding)
            names = ("lora_embedding_A", "lora_embedding_B") if embedding else ("lora_A.weight", "lora_B.weight")
            for kind, name in zip("AB", names):
                module.register_parameter(f"lora_{kind}", torch.nn.Parameter(tensors.pop(f"{path}.{name}"), requires_grad=False))
            module.register_forward_hook(hook(self.scale(path, module.lora_A.shape[0]), embedding))
        parameters = dict(model.named_parameters())
        for name, value in tensors.items():
            parameters[name].data.copy_(value)


def hook(scale, embedding):
    def add(module, arguments, output):
        if embedding:
            return output + scale * torch.nn.functional.embedding(arguments[0], module.lora_A.T) @ module.lora_B.T
        return output + scale * (arguments[0] @ module.lora_A.T) @ module.lora_B.T

    return add

# ===- weights.py - Generated weights under the names of files --------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tensors of a model's file, with the values that `attune init` generates.

Names and shapes are those of the file that the reference saves, which may differ from those of the model in memory
(experts, packed projections). Values follow from seed, name and index alone (../fixtures/gen_weights.py), so a golden
folder needs no weights file.
"""

import importlib.util
import os
import re
import tempfile

import numpy as np
import torch
from safetensors import safe_open

from . import reference

_path = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "fixtures", "gen_weights.py")
_spec = importlib.util.spec_from_file_location("gen_weights", _path)
gen_weights = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(gen_weights)


def file_tensors(folder, architecture):
    """Returns {name: array} of the tensors that the reference saves for a new model of |folder|'s config.json."""
    kind = reference.model_class(architecture)
    with reference.Precision(torch.float32), tempfile.TemporaryDirectory() as scratch:
        model = kind._from_config(kind.config_class.from_pretrained(folder), dtype=torch.float32, attn_implementation="eager")
        model.save_pretrained(scratch)
        with safe_open(os.path.join(scratch, "model.safetensors"), "np") as file:
            return {name: file.get_tensor(name) for name in file.keys()}


def generated(tensors, seed, constant=()):
    """Returns |tensors| with generated values, without those whose name matches a pattern of |constant| (tables that no
    training changes)."""
    result = {}
    for name, value in tensors.items():
        if any(re.search(pattern, name) for pattern in constant) or value.dtype.kind != "f":
            continue
        result[name] = gen_weights.fill(name, value.shape, seed, *gen_weights.rule(name, value.shape))
    return result


def memory_tensors(model):
    """Returns the parameters as the reference's modules hold them, shared ones once."""
    return {name: value.detach().numpy() for name, value in model.named_parameters()}


def stored(tensors, model, case):
    """Returns the content of |case|'s weights file: |tensors| of the reference's file or those of |model|, renamed, and
    the case's buffers."""
    result = {}
    for name, value in (memory_tensors(model) if case.weights == "memory" else tensors).items():
        for pattern, replacement in case.rename:
            name = re.sub(pattern, replacement, name)
        result[name] = np.ascontiguousarray(value)
    result.update({name: np.full(shape, 9, np.float32) for name, shape in case.buffers.items()})
    return result

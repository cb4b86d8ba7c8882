# ===- onnx_model.py - A model folder as an ONNX graph ---------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The common part of the graphs of all models: a configuration, and weights that stay in the file of the model folder.
"""
import json
import os

from support import safetensors
from support.onnx import Graph


class ModelGraph(Graph):
    """A graph in one |form| on the weights of |folder|, whose names begin with |prefix|."""

    def __init__(self, folder, form, prefix=""):
        super().__init__()
        with open(os.path.join(folder, "config.json")) as f:
            self.config = json.load(f)
        self.form, self.prefix, self.file = form, prefix, "model.safetensors"
        self.tensors = safetensors.layout(os.path.join(folder, self.file))

    def shape(self, name):
        return self.tensors[self.prefix + name][0]

    def weight(self, name):
        shape, offset, size = self.tensors[self.prefix + name]
        return self.external(name, shape, self.file, offset, size)

# ===- gpt2_onnx.py - A step of GPT-2 as ONNX graphs -----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a step of GPT-2 (one token after a cached past) as ONNX graphs, on the weights of a model folder.

plain  the operators that exporters write: Gemm, Concat of the past, MatMul, Softmax, LayerNormalization, gelu in its parts
gqa    onnxruntime's own fused operators: GroupQueryAttention, whose cache is updated in place, and FastGelu

Inputs: input_ids [1, 1], past_length [1], past_key_I and past_value_I [1, heads, past, head_dim]; outputs: logits,
present_key_I, present_value_I. In the form gqa the past has room for more tokens than it holds, and present_* are to be
bound to the memory of past_*.
"""
import math
import os

from support.onnx import FLOAT, INT32, INT64, MICROSOFT
from support.onnx_model import ModelGraph

FORMS = ("plain", "gqa")


class Step(ModelGraph):
    def __init__(self, folder, form):
        super().__init__(folder, form, prefix="transformer.")
        self.hidden, self.heads = self.config["n_embd"], self.config["n_head"]
        self.width = self.hidden // self.heads
        self.epsilon = float(self.config.get("layer_norm_epsilon", 1e-5))

    def norm(self, x, name):
        return self.op("LayerNormalization", [x, self.weight(name + ".weight"), self.weight(name + ".bias")], axis=-1, epsilon=self.epsilon)

    def gemm(self, x, name):
        """Adds a Conv1D as exporters write it: a Gemm of the tokens as rows of one matrix."""
        rows = self.op("Reshape", [x, self.integers(-1, self.shape(name + ".weight")[0])])
        y = self.op("Gemm", [rows, self.weight(name + ".weight"), self.weight(name + ".bias")])
        return self.op("Reshape", [y, self.integers(1, -1, self.shape(name + ".weight")[1])])

    def linear(self, x, name):
        if self.form == "plain":
            return self.gemm(x, name)
        return self.op("Add", [self.op("MatMul", [x, self.weight(name + ".weight")]), self.weight(name + ".bias")])

    def gelu(self, x, name):
        """Adds the projection |name| of |x| and the tanh form of gelu on its result."""
        if self.form == "gqa":
            return self.op("FastGelu", [self.op("MatMul", [x, self.weight(name + ".weight")]), self.weight(name + ".bias")],
                           domain=MICROSOFT)
        x = self.linear(x, name)
        cubic = self.op("Mul", [self.op("Pow", [x, self.scalar(3.0)]), self.scalar(0.044715)])
        tanh = self.op("Tanh", [self.op("Mul", [self.op("Add", [x, cubic]), self.scalar(math.sqrt(2 / math.pi))])])
        return self.op("Mul", [self.op("Mul", [x, self.scalar(0.5)]), self.op("Add", [tanh, self.scalar(1.0)])])

    def split(self, x):
        return self.op("Transpose", [self.op("Reshape", [x, self.integers(0, 0, self.heads, self.width)])], perm=[0, 2, 1, 3])

    def plain_attention(self, qkv, past):
        q, k, v = (self.split(x) for x in self.op("Split", [qkv, self.integers(*[self.hidden] * 3)], outputs=3, axis=2))
        k, v = (self.op("Concat", [old, new], axis=2) for old, new in zip(past, (k, v)))
        scores = self.op("Div", [self.op("MatMul", [q, self.op("Transpose", [k], perm=[0, 1, 3, 2])]), self.scalar(math.sqrt(self.width))])
        mixed = self.op("MatMul", [self.op("Softmax", [scores], axis=-1), v])
        return self.op("Reshape", [self.op("Transpose", [mixed], perm=[0, 2, 1, 3]), self.integers(0, 0, self.hidden)]), k, v

    def fused_attention(self, qkv, past):
        inputs = [qkv, "", "", past[0], past[1], self.held, self.total]
        return self.op("GroupQueryAttention", inputs, outputs=3, domain=MICROSOFT, num_heads=self.heads, kv_num_heads=self.heads)

    def lengths(self, past):
        """Adds the int32 inputs of GroupQueryAttention: the number of keys before this token, and the number of all
        keys."""
        self.held = self.op("Cast", [past], to=INT32)
        longest = self.op("ReduceMax", [self.op("Add", [past, self.integers(1)])], keepdims=0)
        self.total = self.op("Cast", [longest], to=INT32)

    def layer(self, x, index):
        name = f"h.{index}."
        past = [self.input(f"past_{part}_{index}", FLOAT, [1, self.heads, "past", self.width]) for part in ("key", "value")]
        qkv = self.linear(self.norm(x, name + "ln_1"), name + "attn.c_attn")
        attend = self.fused_attention if self.form == "gqa" else self.plain_attention
        mixed, *present = attend(qkv, past)
        self.present += present
        x = self.op("Add", [self.linear(mixed, name + "attn.c_proj"), x])
        return self.op("Add", [x, self.linear(self.gelu(self.norm(x, name + "ln_2"), name + "mlp.c_fc"), name + "mlp.c_proj")])

    def build(self):
        ids, past = self.input("input_ids", INT64, [1, 1]), self.input("past_length", INT64, [1])
        if self.form == "gqa":
            self.lengths(past)
        position = self.op("Unsqueeze", [past, self.integers(0)])
        x = self.op("Add", [self.op("Gather", [self.weight("wte.weight"), ids]), self.op("Gather", [self.weight("wpe.weight"), position])])
        self.present = []
        for index in range(self.config["n_layer"]):
            x = self.layer(x, index)
        head = self.op("Transpose", [self.weight("wte.weight")], perm=[1, 0])
        self.output(self.op("MatMul", [self.norm(x, "ln_f"), head]), "logits", FLOAT, [1, 1, self.config["vocab_size"]])
        for i, tensor in enumerate(self.present):
            self.output(tensor, f"present_{('key', 'value')[i % 2]}_{i // 2}", FLOAT, [1, self.heads, "total", self.width])


def write(folder, form):
    """Writes step-FORM.onnx beside the folder's weights, which it refers to; returns its path."""
    path = os.path.join(folder, f"step-{form}.onnx")
    step = Step(folder, form)
    step.build()
    step.save(path)
    return path

# ===- bert_onnx.py - BERT encoders as ONNX graphs -------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes BERT encoders as ONNX graphs, on the weights of a model folder. The forms of the same encoder:

plain      the operators that exporters write: MatMul, Add, Reshape, Transpose, Softmax, LayerNormalization, Erf
attention  onnxruntime's own fused operators: Attention (QKV packed) and BiasGelu
mha        the same with MultiHeadAttention, and no mask, which permits its flash attention
int8       plain, every linear layer dynamically quantized: activations to uint8 per tensor, weights to int8 per tensor

Weights stay where they are, [out, in] in model.safetensors. Nodes on constants transpose, pack and quantize them as a
form requires; onnxruntime evaluates these nodes when it opens the model, not when it runs it.
"""
import math
import os

from support.onnx import FLOAT, INT8, INT32, INT64, MICROSOFT
from support.onnx_model import ModelGraph

FORMS = ("plain", "attention", "mha", "int8")


class Encoder(ModelGraph):
    def __init__(self, folder, form):
        super().__init__(folder, form)
        self.hidden, self.heads = self.config["hidden_size"], self.config["num_attention_heads"]
        self.width = self.hidden // self.heads
        self.epsilon = float(self.config.get("layer_norm_eps", 1e-12))

    def matrix(self, name):
        """Adds the transposition of the weight NAME.weight; returns it, [in, out]."""
        return self.op("Transpose", [self.weight(name + ".weight")], perm=[1, 0])

    def quantized_matmul(self, x, w):
        """Adds x * w in integers, x as uint8 and w as int8, each with one scale for the whole tensor; returns it in
        float."""
        q, scale, zero = self.quantized(x)
        w_scale = self.op("Div", [self.op("ReduceMax", [self.op("Abs", [w])], keepdims=0), self.scalar(127.0)])
        w_int8 = self.op("Cast", [self.op("Round", [self.op("Div", [w, w_scale])])], to=INT8)
        y = self.op("MatMulInteger", [q, w_int8, zero, self.constant([0], INT8, scalar=True)])
        return self.op("Mul", [self.op("Cast", [y], to=FLOAT), self.op("Mul", [scale, w_scale])])

    def quantized(self, x):
        """Returns x in uint8, its scale and zero point; adds the nodes once for each tensor, however many layers read
        it."""
        if getattr(self, "last_quantized", (None,))[0] != x:
            self.last_quantized = (x, self.op("DynamicQuantizeLinear", [x], outputs=3))
        return self.last_quantized[1]

    def matmul(self, x, name):
        w = self.matrix(name)
        return self.quantized_matmul(x, w) if self.form == "int8" else self.op("MatMul", [x, w])

    def linear(self, x, name):
        return self.op("Add", [self.weight(name + ".bias"), self.matmul(x, name)])

    def norm(self, x, name):
        return self.op("LayerNormalization", [x, self.weight(name + ".weight"), self.weight(name + ".bias")], axis=-1, epsilon=self.epsilon)

    def gelu(self, x, name):
        if self.form in ("attention", "mha"):
            return self.op("BiasGelu", [self.matmul(x, name), self.weight(name + ".bias")], domain=MICROSOFT)
        x = self.linear(x, name)
        erf = self.op("Erf", [self.op("Div", [x, self.scalar(math.sqrt(2.0))])])
        return self.op("Mul", [self.op("Mul", [x, self.op("Add", [erf, self.scalar(1.0)])]), self.scalar(0.5)])

    def embed(self, ids, types):
        p = "embeddings."
        words = self.op("Gather", [self.weight(p + "word_embeddings.weight"), ids])
        x = self.op("Add", [words, self.op("Gather", [self.weight(p + "token_type_embeddings.weight"), types])])
        length = self.op("Gather", [self.op("Shape", [ids]), self.integers(1)], axis=0)
        positions = self.op("Slice", [self.weight(p + "position_embeddings.weight"), self.integers(0), length, self.integers(0)])
        return self.norm(self.op("Add", [x, positions]), p + "LayerNorm")

    def split(self, x, perm):
        """Adds the division of |x|, [b, s, h], into heads, [b, s, heads, width], transposed by |perm|."""
        shape = self.integers(0, 0, self.heads, self.width)
        return self.op("Transpose", [self.op("Reshape", [x, shape])], perm=perm)

    def plain_attention(self, x, p, bias):
        q = self.split(self.linear(x, p + "query"), [0, 2, 1, 3])
        k = self.split(self.linear(x, p + "key"), [0, 2, 3, 1])
        v = self.split(self.linear(x, p + "value"), [0, 2, 1, 3])
        scores = self.op("Div", [self.op("MatMul", [q, k]), self.scalar(math.sqrt(self.width))])
        weights = self.op("Softmax", [self.op("Add", [scores, bias])], axis=-1)
        merged = self.op("Transpose", [self.op("MatMul", [weights, v])], perm=[0, 2, 1, 3])
        return self.op("Reshape", [merged, self.integers(0, 0, self.hidden)])

    def attention(self, x, p, mask):
        names = [p + part for part in ("query", "key", "value")]
        if self.form in ("plain", "int8"):
            return self.plain_attention(x, p, mask)
        bias = self.op("Concat", [self.weight(n + ".bias") for n in names], axis=0)
        if self.form == "mha":
            return self.op("MultiHeadAttention", [self.matmul(x, n) for n in names] + [bias], domain=MICROSOFT, num_heads=self.heads)
        packed = self.op("Concat", [self.matrix(n) for n in names], axis=1)
        return self.op("Attention", [x, packed, bias, mask], domain=MICROSOFT, num_heads=self.heads)

    def mask(self, mask):
        """Adds the mask for the attention of the form: 0 and 1 for `attention`, else 0 and -10000, which are added to
        scores."""
        if self.form == "attention":
            return self.op("Cast", [mask], to=INT32)
        mask = self.op("Cast", [self.op("Unsqueeze", [mask, self.integers(1, 2)])], to=FLOAT)
        return self.op("Mul", [self.op("Sub", [self.scalar(1.0), mask]), self.scalar(-10000.0)])

    def build(self):
        ids, types = (self.input(n, INT64, ["batch", "length"]) for n in ("input_ids", "token_type_ids"))
        mask = None if self.form == "mha" else self.mask(self.input("attention_mask", INT64, ["batch", "length"]))
        x = self.embed(ids, types)
        for layer in range(self.config["num_hidden_layers"]):
            p = f"encoder.layer.{layer}."
            a = self.linear(self.attention(x, p + "attention.self.", mask), p + "attention.output.dense")
            x = self.norm(self.op("Add", [a, x]), p + "attention.output.LayerNorm")
            y = self.linear(self.gelu(x, p + "intermediate.dense"), p + "output.dense")
            x = self.norm(self.op("Add", [y, x]), p + "output.LayerNorm")
        self.output(x, "last_hidden_state", FLOAT, ["batch", "length", self.hidden])


def write(folder, form):
    """Writes FORM.onnx beside the folder's weights, which it refers to; returns its path."""
    path = os.path.join(folder, form + ".onnx")
    encoder = Encoder(folder, form)
    encoder.build()
    encoder.save(path)
    return path

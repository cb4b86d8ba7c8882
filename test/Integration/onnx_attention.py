# ===- onnx_attention.py - ONNX's Attention as modules of the dialect -----===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#     onnx_attention.py DIR [--few] [CPU…]
#
# Writes each case of onnx_attention_cases.py (or, with --few, one for each of their properties) as an entry of one
# module, compiles it for each CPU, and compares its outputs with the formula in f64. Elements of half precision are
# computed in f32 from rounded inputs; the results are rounded.

import math
import os
import sys

import models
from onnx_attention_cases import CASES, attend, draw, round_to
from sweep import run
from sweep_families import flatten, write_case

LOWEST = -3.4028234663852886e38
# The distance of neighboring numbers, relative to the smaller: rounding a slightly different value may give the neighbor.
PRECISION = {"float32": 0.0, "float16": 2.0 ** -10, "bfloat16": 2.0 ** -7}
# Cases that together have each rank, mask, kind of hidden key, window, stage of scores, grouping and precision.
FEW = ("4d_gqa_scaled", "4d_attn_mask_4d_causal", "3d_gqa_softcap", "3d_diff_heads_with_past_and_present", "4d_with_qk_matmul",
       "4d_with_past_and_present_qk_matmul_bias_3d_mask_causal", "3d_with_past_and_present_qk_matmul_softcap",
       "4d_attn_mask_causal_bf16", "4d_softcap_neginf_mask_poison", "23_boolmask_fullymasked_row_nan_robustness",
       "24_fullymasked_qk_matmul_output_mode3_zero", "4d_diff_heads_mask4d_padded_kv", "4d_gqa_causal_nonpad_decode_fp16",
       "4d_gqa_with_past_and_present_fp16", "24_qk_matmul_output_mode3_softmax_precision",
       "4d_causal_nonpad_negative_offset_structural_empty", "4d_causal_nonpad_attn_mask_composition", "bidirectional_window",
       "local_window_rank1_boolean_mask", "local_window_with_past", "local_window_ext_cache_rank3_head_mask",
       "local_window_gqa_rank4_mask")


class Entry:
    """The function of a case, and the tensors of a call."""

    def __init__(self, case):
        self.case, self.inputs = case, draw(case)
        self.arguments, self.body, self.results, self.types, self.tensors, self.expected = [], [], [], {}, {}, {}
        self.number = 0
        self.build()

    # Text.

    def value(self, text):
        """Adds an operation and returns its result."""
        self.number += 1
        self.body.append(f"%{self.number} = {text}")
        return f"%{self.number}"

    def pair(self, text):
        """Adds an operation and returns its two results."""
        self.number += 1
        self.body.append(f"%{self.number}:2 = {text}")
        return f"%{self.number}#0", f"%{self.number}#1"

    def dim(self, argument, number):
        return self.value(f"tensor.dim {argument}, {self.index(number)} : {self.types[argument]}")

    def index(self, value):
        return self.value(f"arith.constant {value} : index")

    @staticmethod
    def type(dims, element="f32"):
        """Returns the tensor type of |dims|: numbers, or names of dynamic ones."""
        return "tensor<" + "x".join([str(d) if isinstance(d, int) else "?" for d in dims] + [element]) + ">"

    def attribute(self, kind, name, dims):
        return f'{{xfmr.{kind} = #xfmr.{kind}<"{name}", [{", ".join(map(str, dims))}]>}}'

    def argument(self, name, dims, shape, values, element="f32"):
        self.types["%" + name] = self.type(dims, element)
        self.arguments.append(f"%{name}: {self.type(dims, element)} {self.attribute('input', name, dims)}")
        self.tensors[name] = ("F32" if element == "f32" else "I64", list(shape), values)
        return f"%{name}"

    def result(self, name, value, dims, expected):
        self.results.append((value, self.type(dims), self.attribute("output", name, dims)))
        self.expected[name] = expected

    def rounded(self, value, dims):
        """Returns |value| rounded to the case's precision."""
        if self.case.dtype == "float32":
            return value
        short = {"float16": "f16", "bfloat16": "bf16"}[self.case.dtype]
        narrow = self.value(f"arith.truncf {value} : {self.type(dims)} to {self.type(dims, short)}")
        return self.value(f"arith.extf {narrow} : {self.type(dims, short)} to {self.type(dims)}")

    def round_all(self, nested):
        if isinstance(nested, list):
            return [self.round_all(x) for x in nested]
        return nested if self.case.dtype == "float32" else round_to(self.case.dtype, nested)

    def transposed(self, value, dims, sizes):
        """Returns |value| [a, b, c, d] as [a, c, b, d]; |sizes| are the values of the dynamic dims in the new order."""
        into = [dims[i] for i in (0, 2, 1, 3)]
        empty = self.value(f"tensor.empty({', '.join(sizes)}) : {self.type(into)}")
        return self.value(f"linalg.transpose ins({value} : {self.type(dims)}) outs({empty} : {self.type(into)}) permutation = [0, 2, 1, 3]")

    # Operands.

    def heads(self, name, nested, heads, tokens, size):
        """Declares the input |name| in the layout of the case and returns its heads [T, heads, size]."""
        c, rows = self.case, len(nested[0][0])
        if c.rank == 4:
            dims = ["batch", heads, tokens, size]
            given = self.argument(name, dims, [c.batch, heads, rows, size], flatten(nested))
            turned = self.transposed(given, dims, [self.dim(given, 0), self.dim(given, 2)])
            return self.value(f"tensor.collapse_shape {turned} [[0, 1], [2], [3]] : {self.type(['b', 't', heads, size])} into "
                              f"{self.type(['t', heads, size])}")
        dims = ["batch", tokens, heads * size]
        values = [nested[b][h][i][e] for b in range(c.batch) for i in range(rows) for h in range(heads) for e in range(size)]
        given = self.argument(name, dims, [c.batch, rows, heads * size], values)
        rows = self.value(f"tensor.collapse_shape {given} [[0, 1], [2]] : {self.type(dims)} into {self.type(['t', heads * size])}")
        return self.value(f"xfmr.split_heads {rows}, {heads} : {self.type(['t', heads * size])}")

    def mask(self):
        c = self.case
        if not c.mask:
            return ""
        names = ["batch", c.heads, "queries", "mask_keys"][4 - len(c.mask_shape):]
        dims = [1 if size == 1 else name for size, name in zip(c.mask_shape, names)]
        element = "f32" if c.mask == "float" else "i64"
        values = [float(v) if c.mask == "float" else int(v) for v in self.inputs.mask]
        mask = self.argument("mask", dims, c.mask_shape, values, element)
        # The operation accepts masks [B, K], [B, Q, K] and [B, H, Q, K].
        if len(dims) < 4:
            sizes = [str(d) if isinstance(d, int) else self.dim(mask, i) for i, d in enumerate(dims)]
            groups = [[0, 1]] + [[i + 1] for i in range(1, len(dims))]
            mask = self.value(f"tensor.expand_shape {mask} {groups} output_shape [{', '.join(['1'] + sizes)}] : "
                              f"{self.type(dims, element)} into {self.type([1] + dims, element)}")
            dims = [1] + dims
        return f" mask({mask} : {self.type(dims, element)})"

    def attributes(self):
        c = self.case
        scale = c.scale or 1 / math.sqrt(c.size)
        words = [f"scale = {scale!r} : f64", "masked_rows = #xfmr.masked_rows<zero>"]
        # ONNX gives query i the position i + offset, the operation i (start) or i + S - Q (end). The difference moves
        # the windows; one of the two keeps them at 0 or more.
        shifts = [("end", 0)] if c.lengths else [("end", c.past - (c.keys - c.queries)), ("start", c.past)]
        right = 0 if c.causal else c.right
        alignment, shift = next(pair for pair in shifts if (right < 0 or right + pair[1] >= 0) and (c.left < 0 or c.left >= pair[1]))
        words.append(f"alignment = #xfmr.alignment<{alignment}>")
        if c.causal and shift == 0:
            words.append("causal")
        elif right >= 0:
            words.append(f"window_right = {right + shift} : i64")
        if c.left >= 0:
            words.append(f"window_left = {c.left - shift} : i64")
        if c.softcap:
            words.append(f"softcap = {c.softcap!r} : f64")
        if c.stage:
            words.append(f"score_stage = #xfmr.score_stage<{c.stage}>")
        return "{" + ", ".join(words) + "}"

    def filled(self, count, value):
        """Returns an i64 tensor of |count| elements |value|, an index."""
        element = self.value(f"arith.index_cast {value} : index to i64")
        empty = self.value(f"tensor.empty({count}) : tensor<?xi64>")
        return self.value(f"linalg.fill ins({element} : i64) outs({empty} : tensor<?xi64>) -> tensor<?xi64>")

    def build(self):
        c, zero = self.case, self.index(0)
        tensors = self.inputs.key, self.inputs.value
        past = [[[head[:c.past] for head in heads] for heads in tensor] for tensor in tensors]
        new = [[[head[c.past:] for head in heads] for heads in tensor] for tensor in tensors]
        rows = 2 if c.rank == 4 else 1
        query = self.heads("query", self.inputs.query, c.heads, "queries", c.size)
        key, value = self.heads("key", new[0], c.kv_heads, "keys", c.size), self.heads("value", new[1], c.kv_heads, "keys", c.value_size)
        batch, queries, keys = self.dim("%query", 0), self.dim("%query", rows), self.dim("%key", rows)
        query_offsets = self.value(f"xfmr.sequence_offsets {batch}, {queries}")
        key_type, value_type = self.type(["t", c.kv_heads, c.size]), self.type(["t", c.kv_heads, c.value_size])
        offsets = self.value(f"xfmr.sequence_offsets {batch}, {keys}")
        lengths, caches = "", None
        if c.past:
            dense = ["batch", c.kv_heads, "past", c.size], ["batch", c.kv_heads, "past", c.value_size]
            for name, dims, nested in zip(("past_key", "past_value"), dense, past):
                self.argument(name, dims, [c.batch, c.kv_heads, c.past, dims[3]], flatten(nested))
            before = self.dim("%past_key", 2)
            keys = self.value(f"arith.addi {before}, {keys} : index")
            width = self.index(64)
            panels = self.value(f"arith.ceildivui {keys}, {width} : index")
            capacity = self.value(f"arith.muli {panels}, {width} : index")
            types = f"tensor<?x{c.kv_heads}x?x{c.size}x64xf32>, tensor<?x{c.kv_heads}x?x{c.value_size}xf32>"
            empty = [self.value(f"tensor.empty({batch}, {count}) : {text}") for count, text in zip((panels, capacity), types.split(", "))]
            kept = self.pair(f"xfmr.kv_cache_update %past_key, %past_value into {', '.join(empty)} at({self.filled(batch, zero)}) : "
                             f"{self.type(dense[0])}, {self.type(dense[1])}, {types}")
            key, value = self.pair(f"xfmr.kv_cache_update {key}, {value} into {', '.join(kept)} at({self.filled(batch, before)}) "
                                   f"offsets({offsets}) : {key_type}, {value_type}, {types}")
            key_type, value_type = types.split(", ")
            lengths = f" key_lengths({self.filled(batch, keys)})"
            caches = key, value, types
        elif c.lengths:
            given = self.argument("lengths", ["batch"], [c.batch], list(c.lengths), "i64")
            lengths = f" key_lengths({given})"
        both = query_offsets if c.past else f"{query_offsets}, {offsets}"
        mask = self.mask()
        if c.mask and c.mask_width < c.keys:
            # The mask hides keys beyond its last column.
            assert max(c.lengths) <= c.mask_width
            keys = self.dim("%mask", len(c.mask_shape) - 1)
        scores_type = self.type(["batch", c.heads, "queries", "keys"])
        heads_type = self.type(["t", c.heads, c.value_size])
        text = (f"xfmr.attention {query}, {key}, {value} offsets({both}) lengths({queries}, {keys}){lengths}{mask} {self.attributes()} : "
                f"{self.type(['t', c.heads, c.size])}, {key_type}, {value_type} -> {heads_type}")
        attended, scores = self.pair(f"{text}, {scores_type}") if c.stage else (self.value(text), None)
        self.finish(attended, scores, batch, queries, keys, caches)

    def finish(self, attended, scores, batch, queries, keys, caches):
        """Declares the results: Y in the layout of the case, present keys and values, scores."""
        c = self.case
        result, staged = attend(c, self.inputs)
        # The sizes of outputs are those of inputs.
        total = "mask_keys" if c.mask else "total" if c.past else "keys"
        if total == "total" and (caches or c.stage):
            self.argument("total", [total], [c.keys], [0] * c.keys, "i64")
        joined = self.value(f"xfmr.merge_heads {attended} : {self.type(['t', c.heads, c.value_size])}")
        width = c.heads * c.value_size
        dims = ["batch", "queries", width]
        y = self.value(f"tensor.expand_shape {joined} [[0, 1], [2]] output_shape [{batch}, {queries}, {width}] : {self.type(['t', width])} "
                       f"into {self.type(dims)}")
        if c.rank == 4:
            split = ["batch", "queries", c.heads, c.value_size]
            y = self.value(f"tensor.expand_shape {y} [[0], [1], [2, 3]] output_shape [{batch}, {queries}, {c.heads}, {c.value_size}] : "
                           f"{self.type(dims)} into {self.type(split)}")
            y, dims = self.transposed(y, split, [batch, queries]), ["batch", c.heads, "queries", c.value_size]
            expected = result
        else:
            expected = [[[x for head in sequence for x in head[i]] for i in range(c.queries)] for sequence in result]
        self.result("Y", self.rounded(y, dims), dims, self.round_all(expected))
        if caches:
            key, value, types = caches
            present = self.pair(f"xfmr.kv_cache_read {key}, {value}, {keys} : {types}")
            for name, result, size, nested in zip(("present_key", "present_value"), present, (c.size, c.value_size),
                                                  (self.inputs.key, self.inputs.value)):
                self.result(name, result, ["batch", c.kv_heads, total, size], nested)
        if c.stage:
            dims = ["batch", c.heads, "queries", total]
            finite = [[[[max(x, LOWEST) for x in row] for row in head] for head in heads] for heads in staged]
            self.result("scores", self.rounded(scores, dims), dims, self.round_all(finite))

    def text(self):
        values, types, attributes = zip(*self.results)
        results = ", ".join(f"{t} {a}" for t, a in zip(types, attributes))
        return "\n".join([f"func.func @{self.name}({', '.join(self.arguments)})", f"    -> ({results})",
                          f'    attributes {{xfmr.entry = #xfmr.entry<"{self.name}">}} {{',
                          *("  " + line for line in self.body), f"  return {', '.join(values)} : {', '.join(types)}", "}", ""])

    @property
    def name(self):
        return "onnx_" + self.case.name


def check(folder, cpu, folders):
    shared = os.path.join(folder, f"{cpu}.so")
    run("attune", "compile", os.path.join(folder, "cases.mlir"), "--emit=shared", "-o", shared, "--cpu=" + cpu)
    run("attune-run", "check", "--model=" + shared, *folders)


def main(folder, *words):
    os.makedirs(folder, exist_ok=True)
    cpus = [word for word in words if word != "--few"]
    entries = [Entry(CASES[name]) for name in (FEW if "--few" in words else CASES)]
    limits = ", ".join(f"{name} = {limit} : i64" for name, limit in
                       [("batch", 4), ("keys", 64), ("mask_keys", 64), ("past", 64), ("queries", 64), ("total", 128)])
    with open(os.path.join(folder, "cases.mlir"), "w") as f:
        f.write(f'module attributes {{xfmr.model = #xfmr.model<family = "onnx", architecture = "Attention", limits = {{{limits}}}>}} {{\n')
        f.write("\n".join(entry.text() for entry in entries) + "}\n")
    folders = []
    for entry in entries:
        folders.append(os.path.join(folder, entry.case.name))
        write_case(folders[-1], entry.tensors, entry.expected, {"function": entry.name, "kwargs": {}}, PRECISION[entry.case.dtype])
    for cpu in cpus or ("native",):
        check(folder, cpu, folders)
    print(f"{len(entries)} cases hold")


if __name__ == "__main__":
    main(*sys.argv[1:])

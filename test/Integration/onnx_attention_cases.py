# ===- onnx_attention_cases.py - The cases of ONNX's Attention ------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The node cases that ONNX publishes for its operator Attention (opsets 23 to 25), as a table; inputs of our own for each; and the
# operator's formula in f64, written from its specification.
#
#     onnx_attention_cases.py
#
# needs the package `onnx` (1.23) and compares the table with the published cases: the same names, attributes, shapes and types,
# and, from the published inputs, the published outputs. No test needs that.

import math
import struct
from dataclasses import dataclass, field, replace

import models

INF = math.inf
# Values of qk_matmul_output_mode, as score_stage names them.
STAGES = ["product", "capped", "masked", "softmax"]


@dataclass(frozen=True)
class Case:
    """A call. Masks are "float" or "bool" with a shape in the form of ONNX, aligned to [batch, heads, queries, keys] from the right."""

    name: str
    opset: int = 23
    rank: int = 4
    batch: int = 2
    heads: int = 3
    kv_heads: int = 3
    queries: int = 4
    new_keys: int = 6
    size: int = 8
    value_size: int = 8
    dtype: str = "float32"
    mask: str = ""
    mask_shape: tuple = ()
    # Elements of a mask that the case is about; otherwise drawn.
    mask_values: tuple = ()
    past: int = 0
    # Keys of each sequence (nonpad_kv_seqlen).
    lengths: tuple = ()
    causal: bool = False
    scale: float = 0.0
    softcap: float = 0.0
    stage: str = ""
    left: int = -1
    right: int = -1

    @property
    def keys(self):
        return self.past + self.new_keys

    @property
    def mask_width(self):
        """Returns the number of keys that the mask covers; the keys after them are hidden."""
        return self.mask_shape[-1] if self.mask else self.keys

    def first_position(self, b):
        """Returns the number of keys before the first query of sequence |b|."""
        return self.lengths[b] - self.queries if self.lengths else self.past


def make_table():
    """Returns the cases by name."""
    cases = {}

    def add(name, base=Case(""), **fields):
        cases[name] = replace(base, name=name, **fields)

    gqa, wide = Case("", heads=9), Case("", value_size=10)
    flat = Case("", rank=3)
    kinds = {"": {}, "gqa_": {"heads": 9}, "diff_heads_sizes_": {"value_size": 10}}
    for rank in (4, 3):
        for kind, fields in kinds.items():
            base, prefix = Case("", rank=rank, **fields), f"{rank}d_{kind}"
            add(prefix[:-1], base)
            add(prefix + "scaled", base, scale=0.01)
            add(prefix + "causal", base, causal=True)
            add(prefix + "attn_mask", base, mask="float", mask_shape=(4, 6))
            add(prefix + "softcap", base, softcap=2.0 if rank == 4 else 3.0)
            past = kind.replace("_sizes", "") + "with_past_and_present"
            add(f"{rank}d_{past}", base, past=12, mask="float", mask_shape=(4, 18))
        both = Case("", rank=rank, past=12, mask="float", mask_shape=(4, 18))
        add(f"{rank}d_with_past_and_present_qk_matmul", both, stage="product")
        add(f"{rank}d_with_past_and_present_qk_matmul_bias", both, stage="masked")
    add("3d_with_past_and_present_qk_matmul_softcap", flat, past=12, mask="float", mask_shape=(4, 18), stage="capped", softcap=2.0)
    add("3d_with_past_and_present_qk_matmul_softmax", flat, past=12, mask="float", mask_shape=(4, 18), stage="softmax")
    add("3d_transpose_verification", flat, batch=1, queries=2, new_keys=2, size=4, value_size=4)

    for width, shape in (("3d", (2, 1, 4, 6)), ("4d", (2, 3, 4, 6))):
        add(f"4d_attn_mask_{width}", mask="float", mask_shape=shape)
        add(f"4d_attn_mask_{width}_causal", mask="float", mask_shape=shape, causal=True)
        long = shape[:3] + (18,)
        add(f"4d_diff_heads_with_past_and_present_mask{width}", wide, past=12, mask="float", mask_shape=long)
        stage = {"past": 12, "mask": "float", "mask_shape": long, "stage": "masked"}
        add(f"4d_with_past_and_present_qk_matmul_bias_{width}_mask", **stage)
        add(f"4d_with_past_and_present_qk_matmul_bias_{width}_mask_causal", causal=True, **stage)
    add("4d_attn_mask_bool", mask="bool", mask_shape=(4, 6))
    add("4d_attn_mask_bool_4d", mask="bool", mask_shape=(2, 3, 4, 6))
    add("4d_with_qk_matmul", stage="product")
    add("4d_with_qk_matmul_bias", mask="float", mask_shape=(4, 6), stage="masked")
    add("4d_with_qk_matmul_softcap", mask="float", mask_shape=(4, 6), stage="capped", softcap=2.0)
    add("4d_with_qk_matmul_softmax", mask="float", mask_shape=(4, 6), stage="softmax")

    # Half precision.
    add("4d_fp16", dtype="float16")
    add("4d_gqa_with_past_and_present_fp16", gqa, past=12, mask="float", mask_shape=(4, 18), dtype="float16")
    add("4d_causal_fp16", causal=True, dtype="float16")
    add("4d_causal_bf16", causal=True, dtype="bfloat16")
    add("3d_causal_bf16", flat, causal=True, dtype="bfloat16")
    add("4d_attn_mask_causal_bf16", causal=True, mask="float", mask_shape=(2, 1, 4, 6), dtype="bfloat16")

    # Masks that hide everything, and infinite ones. The last two keys of the second have values of 1000.
    hide_two = (0.0, 0.0, 0.0, 0.0, -INF, -INF) * 4
    one = Case("", batch=1, heads=1, kv_heads=1, mask="float", mask_shape=(4, 6), mask_values=hide_two, softcap=0.5)
    add("4d_softcap_neginf_mask", one)
    add("4d_softcap_neginf_mask_poison", one)
    two = Case("", batch=1, heads=2, kv_heads=2, queries=2, new_keys=2, mask="bool", mask_shape=(2, 2))
    add("causal_boolmask_nan_robustness", two, opset=24, causal=True, mask_values=(1, 0, 0, 0))
    add("23_boolmask_fullymasked_row_nan_robustness", two, mask_values=(0, 0, 1, 1))
    add("23_fullymasked_qk_matmul_output_mode3_zero", two, mask_values=(0, 0, 1, 1), stage="softmax")
    add("24_fullymasked_qk_matmul_output_mode3_zero", two, opset=24, mask_values=(0, 0, 1, 1), stage="softmax")
    add("24_qk_matmul_output_mode3_softmax_precision", two, opset=24, mask_values=(0, 0, 1, 1), stage="softmax", dtype="float16")

    # Keys of each sequence by number.
    padded = Case("", opset=24, mask="float", mask_shape=(2, 3, 4, 4), lengths=(3, 4))
    add("4d_diff_heads_mask4d_padded_kv", padded, value_size=10)
    add("4d_padded_kv_bf16", padded, dtype="bfloat16")
    add("4d_causal_padded_kv_bf16", padded, causal=True, dtype="bfloat16")
    frontier = Case("", opset=24, kv_heads=2, heads=2, causal=True)
    decode = replace(frontier, heads=4, queries=1, new_keys=8, lengths=(8, 5))
    add("4d_gqa_causal_nonpad_decode", decode)
    add("4d_gqa_causal_nonpad_decode_fp16", decode, dtype="float16")
    add("4d_causal_nonpad_continued_prefill", frontier, batch=1, queries=2, new_keys=4, lengths=(4,))
    add("4d_causal_nonpad_negative_offset_structural_empty", frontier, batch=1, new_keys=4, lengths=(2,))
    add("4d_causal_nonpad_batch_prefill", frontier, batch=3, queries=2, lengths=(4, 5, 6))
    add("4d_causal_with_past_and_present", opset=24, causal=True, new_keys=4, past=3)
    composed = ((1, 1, 1, 0, 0, 0), (1, 1, 1, 0, 0, 0), (1, 0, 1, 1, 0, 0), (1, 1, 1, 1, 0, 0), (1, 1, 1, 1, 0, 0), (1, 1, 0, 1, 1, 0))
    add("4d_causal_nonpad_attn_mask_composition", frontier, queries=3, lengths=(4, 5), mask="bool", mask_shape=(2, 1, 3, 6),
        mask_values=sum(composed, ()))

    # Windows.
    window = Case("", opset=25, causal=True, left=2)
    add("local_window", window)
    add("bidirectional_window", opset=25, batch=1, heads=1, kv_heads=1, queries=5, new_keys=5, size=1, value_size=1, left=1, right=2)
    add("local_window_default", opset=25)
    add("local_window_rank1_boolean_mask", window, mask="bool", mask_shape=(6,), mask_values=(1, 1, 1, 1, 0, 0))
    add("local_window_with_past", window, past=8, new_keys=2)
    kept = replace(window, new_keys=8, lengths=(6, 7), mask="float")
    add("local_window_ext_cache_rank3_head_mask", kept, mask_shape=(3, 4, 8))
    add("local_window_ext_cache_rank4_batch_mask", kept, mask_shape=(2, 1, 4, 8))
    add("local_window_ext_cache_rank2_mask", kept, mask_shape=(1, 8))
    add("local_window_ext_cache_float16_mask", kept, mask_shape=(1, 8), dtype="float16")
    add("3d_local_window", window, rank=3, heads=4, kv_heads=1, value_size=6)
    nobody = ((0,) * 6 + (1,) * 18) * 8
    add("local_window_gqa_rank4_mask", window, heads=4, kv_heads=2, value_size=6, softcap=2.0, stage="softmax", mask="bool",
        mask_shape=(2, 4, 4, 6), mask_values=nobody)
    return cases


CASES = make_table()


def round_to(dtype, value):
    """Returns |value| as the nearest number of |dtype|, ties to even."""
    if dtype == "float16":
        return struct.unpack("<e", struct.pack("<e", value))[0]
    single = struct.unpack("<I", struct.pack("<f", value))[0]
    if dtype == "bfloat16" and math.isfinite(value):
        single = single + 0x7FFF + (single >> 16 & 1) & 0xFFFF0000
    return struct.unpack("<f", struct.pack("<I", single))[0]


@dataclass
class Inputs:
    """Nested lists: query [B][H][Q][D], keys and values [B][G][S][D or E] with past ones first, mask values in row-major order."""

    query: list
    key: list
    value: list
    mask: list = field(default_factory=list)


def draw(case):
    """Returns random inputs for |case|; the seed is its name, so they are always the same."""
    rng = models.generator("onnx", case.name)

    def tensor(heads, rows, size, bound):
        return [[[[round_to(case.dtype, rng.uniform(-bound, bound)) for _ in range(size)] for _ in range(rows)] for _ in range(heads)]
                for _ in range(case.batch)]

    inputs = Inputs(tensor(case.heads, case.queries, case.size, 2), tensor(case.kv_heads, case.keys, case.size, 2),
                    tensor(case.kv_heads, case.keys, case.value_size, 1))
    if case.name.endswith("poison"):
        inputs.value[0][0][4:] = [[1000.0] * case.value_size] * 2
    if case.mask:
        count = models.product(case.mask_shape)
        if case.mask == "bool":
            drawn = [rng.randrange(3) > 0 for _ in range(count)]
        else:
            drawn = [-INF if rng.randrange(8) == 0 else round_to(case.dtype, rng.uniform(-2, 2)) for _ in range(count)]
        inputs.mask = list(case.mask_values or drawn)
    return inputs


def mask_at(case, mask, b, h, i, j):
    """Returns the value that the mask adds to a score; -inf hides the key."""
    if not case.mask:
        return 0.0
    if j >= case.mask_width:
        return -INF
    at, full = 0, (b, h, i, j)[4 - len(case.mask_shape):]
    for size, index in zip(case.mask_shape, full):
        at = at * size + (index if size > 1 else 0)
    if case.mask == "bool":
        return 0.0 if mask[at] else -INF
    return mask[at]


def hides(case, b, i, j):
    """Returns true if the order of tokens, a window or the length of sequence |b| hides key |j| from query |i|."""
    position = i + case.first_position(b)
    return ((case.causal and j > position) or (case.left >= 0 and j < position - case.left) or
            (case.right >= 0 and j > position + case.right) or (bool(case.lengths) and j >= case.lengths[b]))


def attend(case, inputs):
    """Returns the result [B][H][Q][E] and the scores of the case's stage [B][H][Q][S]."""
    scale = case.scale or 1 / math.sqrt(case.size)
    results, scores = [], []
    for b in range(case.batch):
        results.append([])
        scores.append([])
        for h in range(case.heads):
            g = h * case.kv_heads // case.heads
            keys, values = inputs.key[b][g], inputs.value[b][g]
            rows, staged = [], []
            for i, query in enumerate(inputs.query[b][h]):
                product = [scale * sum(x * y for x, y in zip(query, key)) for key in keys]
                capped = [case.softcap * math.tanh(s / case.softcap) for s in product] if case.softcap else product
                masked = [-INF if hides(case, b, i, j) else s + mask_at(case, inputs.mask, b, h, i, j) for j, s in enumerate(capped)]
                largest = max(masked)
                weights = [math.exp(s - largest) if s > -INF else 0.0 for s in masked]
                softmax = [w / sum(weights) for w in weights] if largest > -INF else weights
                rows.append([sum(p * value[e] for p, value in zip(softmax, values)) for e in range(case.value_size)])
                staged.append({"product": product, "capped": capped, "masked": masked}.get(case.stage, softmax))
            results[b].append(rows)
            scores[b].append(staged)
    return results, scores


# ===----------------------------------------------------------------------===#
# Comparison with the published cases
# ===----------------------------------------------------------------------===#


def case_of_node(name, opset, attributes, arrays, outputs):
    """Returns the call of a published node."""
    query, key, value, mask, past, past_value, lengths = arrays + [None] * (7 - len(arrays))
    if query.ndim == 3:
        heads, kv_heads = attributes["q_num_heads"], attributes["kv_num_heads"]
        queries, new_keys = query.shape[1], key.shape[1]
        size, value_size = query.shape[2] // heads, value.shape[2] // kv_heads
    else:
        (heads, queries, size), (kv_heads, new_keys), value_size = query.shape[1:], key.shape[1:3], value.shape[3]
    mode = attributes.get("qk_matmul_output_mode", 0)
    return Case(name, opset, query.ndim, query.shape[0], heads, kv_heads, queries, new_keys, size, value_size, str(query.dtype),
                "" if mask is None else "bool" if mask.dtype == bool else "float", () if mask is None else mask.shape,
                past=0 if past is None else past.shape[2], lengths=() if lengths is None else tuple(int(n) for n in lengths),
                causal=bool(attributes.get("is_causal")), scale=round(attributes.get("scale", 0.0), 7),
                softcap=attributes.get("softcap", 0.0), stage=STAGES[mode] if "qk_matmul_output" in outputs else "",
                left=attributes.get("left_window_size", -1), right=attributes.get("right_window_size", -1))


def compare():
    import numpy
    from onnx.backend.test.loader import load_model_tests
    prefix, checked, names = "test_attention_", 0, set()
    for test in load_model_tests(kind="node"):
        node, opset = test.model.graph.node[0], test.model.opset_import[0].version
        if not test.name.startswith(prefix) or test.name.endswith("_expanded"):
            continue
        name = test.name[len(prefix):]
        names.add(name)
        inputs, outputs = map(list, test.data_sets[0])
        arrays = [inputs.pop(0) if given else None for given in node.input]
        attributes = {a.name: a.i if a.type == 2 else a.f for a in node.attribute}
        found = case_of_node(name, opset, attributes, arrays, node.output)
        expected = replace(CASES[name], mask_values=())
        if found != expected:
            raise SystemExit(f"{name}: published\n{found}\nhere\n{expected}")

        def four(array, heads):
            """Returns |array| as [B][H][S][D] in f64."""
            if array.ndim == 3:
                array = array.reshape(*array.shape[:2], heads, -1).transpose(0, 2, 1, 3)
            return array.astype(numpy.float64)

        key, value = four(arrays[1], found.kv_heads), four(arrays[2], found.kv_heads)
        if found.past:
            key, value = (numpy.concatenate([a.astype(numpy.float64), b], 2) for a, b in ((arrays[4], key), (arrays[5], value)))
        given = Inputs(four(arrays[0], found.heads).tolist(), key.tolist(), value.tolist(),
                       arrays[3].astype(float).ravel().tolist() if found.mask else [])
        result, scores = (numpy.array(x) for x in attend(found, given))
        tolerance = {"float32": 2e-6, "float16": 4e-3, "bfloat16": 3e-2}[found.dtype]
        pairs = [("Y", four(outputs[0], found.heads), result)]
        if found.past:
            pairs += [("present_key", outputs[1], key), ("present_value", outputs[2], value)]
        if found.stage:
            pairs.append((found.stage, outputs[-1], scores))
        for label, want, got in pairs:
            if not numpy.allclose(numpy.array(want, dtype=numpy.float64), got, rtol=tolerance, atol=tolerance):
                raise SystemExit(f"{name}: {label} differs by {numpy.nanmax(abs(numpy.array(want, dtype=float) - got))}")
            checked += 1
    missing = set(CASES) ^ names
    if missing:
        raise SystemExit(f"not in both: {sorted(missing)}")
    print(f"{len(names)} cases, {checked} outputs agree")


if __name__ == "__main__":
    compare()

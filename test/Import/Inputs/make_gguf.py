#!/usr/bin/env python3
"""Writes a GGUF file and the model folder that it stands for (standard library only).

make_gguf.py make ARCHITECTURE FOLDER OUT.gguf [--types=TYPE,…] [--key=KEY:TYPE=VALUE]… [--drop=NAME] [--name=FROM=TO]
             [--factors=NAME=V,V,…] [--without=KEY,…]
make_gguf.py check [--all] FOLDER OUT.gguf
make_gguf.py damage OUT.gguf KIND

FOLDER has config.json and model.safetensors (F32). `make` gives matrices in turn the types of --types, with random blocks, and stores in
FOLDER/model.safetensors the floats that the blocks stand for, computed here element by element. Other tensors are F32.
--factors adds a tensor of numbers, --without leaves out keys of config.json.
`check` reads parts of tensors of FOLDER from the file by attune-import --values and compares bits: with the feature `long` of all, else
of one of those whose names differ in numbers alone. `damage` spoils a field.
"""
import json
import os
import random
import re
import struct
import subprocess
import sys

from tensor_file import read, write

TYPES = {"F32": 0, "F16": 1, "Q4_0": 2, "Q4_1": 3, "Q5_0": 6, "Q5_1": 7,
         "Q8_0": 8, "Q4_K": 12, "Q5_K": 13, "Q6_K": 14, "BF16": 30, "IQ4_NL": 20}
VALUES = {"u32": (4, "<I"), "i32": (5, "<i"), "f32": (6, "<f"), "bool": (7, "<?"), "u64": (10, "<Q")}

LLAMA = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output", "input_layernorm": "attn_norm",
         "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
         "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm", "post_attention_layernorm": "ffn_norm",
         "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down"}
# Experts: the names without the number of an expert stand for the stack of all.
MIXTRAL = {**LLAMA, "block_sparse_moe.gate": "ffn_gate_inp", "block_sparse_moe.experts.w1": "ffn_gate_exps",
           "block_sparse_moe.experts.w2": "ffn_down_exps", "block_sparse_moe.experts.w3": "ffn_up_exps"}
EXPERTS = {**LLAMA, "mlp.gate": "ffn_gate_inp", "mlp.experts.gate_proj": "ffn_gate_exps", "mlp.experts.up_proj": "ffn_up_exps",
           "mlp.experts.down_proj": "ffn_down_exps", "mlp.shared_expert.gate_proj": "ffn_gate_shexp",
           "mlp.shared_expert.up_proj": "ffn_up_shexp", "mlp.shared_expert.down_proj": "ffn_down_shexp",
           "mlp.shared_expert_gate": "ffn_gate_inp_shexp"}
NAMES = {
    "llama": MIXTRAL, "olmoe": EXPERTS, "qwen2moe": EXPERTS, "qwen3moe": EXPERTS, "qwen2": LLAMA, "qwen3": LLAMA, "gemma": LLAMA,
    "phi3": {**LLAMA, "self_attn.qkv_proj": "attn_qkv", "mlp.gate_up_proj": "ffn_up"},
    "gemma2": {**LLAMA, "post_attention_layernorm": "post_attention_norm", "pre_feedforward_layernorm": "ffn_norm",
               "post_feedforward_layernorm": "post_ffw_norm"},
    "gemma3": {**LLAMA, "post_attention_layernorm": "post_attention_norm", "pre_feedforward_layernorm": "ffn_norm",
               "post_feedforward_layernorm": "post_ffw_norm"},
    "gpt2": {"transformer.wte": "token_embd", "transformer.wpe": "position_embd", "transformer.ln_f": "output_norm", "ln_1": "attn_norm",
             "attn.c_attn": "attn_qkv", "attn.c_proj": "attn_output", "ln_2": "ffn_norm", "mlp.c_fc": "ffn_up", "mlp.c_proj": "ffn_down"},
    "bert": {"embeddings.word_embeddings": "token_embd", "embeddings.token_type_embeddings": "token_types",
             "embeddings.position_embeddings": "position_embd", "embeddings.LayerNorm": "token_embd_norm",
             "attention.self.query": "attn_q", "attention.self.key": "attn_k", "attention.self.value": "attn_v",
             "attention.output.dense": "attn_output", "attention.output.LayerNorm": "attn_output_norm",
             "intermediate.dense": "ffn_up", "output.dense": "ffn_down", "output.LayerNorm": "layer_output_norm"},
}
KEYS = {"num_hidden_layers": "block_count", "n_layer": "block_count", "hidden_size": "embedding_length", "n_embd": "embedding_length",
        "intermediate_size": "feed_forward_length", "n_inner": "feed_forward_length", "max_position_embeddings": "context_length",
        "n_positions": "context_length", "num_attention_heads": "attention.head_count", "n_head": "attention.head_count",
        "num_key_value_heads": "attention.head_count_kv", "head_dim": "attention.key_length", "sliding_window": "attention.sliding_window",
        "num_local_experts": "expert_count", "num_experts": "expert_count", "num_experts_per_tok": "expert_used_count",
        "moe_intermediate_size": "expert_feed_forward_length", "shared_expert_intermediate_size": "expert_shared_feed_forward_length"}
FLOAT_KEYS = {"rms_norm_eps": "attention.layer_norm_rms_epsilon", "layer_norm_epsilon": "attention.layer_norm_epsilon",
              "layer_norm_eps": "attention.layer_norm_epsilon", "rope_theta": "rope.freq_base",
              "attn_logit_softcapping": "attn_logit_softcapping", "final_logit_softcapping": "final_logit_softcapping"}


def half(value):
    data = struct.pack("<e", value)
    return struct.unpack("<e", data)[0], data


def as_float(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def make_block(kind):
    """Returns the bytes of a random block and the exact values of its elements."""
    d, d_bytes = half(random.uniform(-0.02, 0.02))
    m, m_bytes = half(random.uniform(-0.1, 0.1))
    if kind in ("Q4_0", "Q4_1", "Q5_0", "Q5_1"):
        bits, minimum = int(kind[1]), kind.endswith("_1")
        q = [random.randrange(1 << bits) for _ in range(32)]
        high = struct.pack("<I", sum((v >> 4) << i for i, v in enumerate(q))) if bits == 5 else b""
        low = bytes((q[i] & 15) | (q[i + 16] & 15) << 4 for i in range(16))
        data = d_bytes + (m_bytes if minimum else b"") + high + low
        return data, [d * v + m if minimum else d * (v - (1 << (bits - 1))) for v in q]
    if kind == "Q8_0":
        q = [random.randrange(-128, 128) for _ in range(32)]
        return d_bytes + struct.pack("<32b", *q), [d * v for v in q]
    if kind in ("Q4_K", "Q5_K"):
        bits = int(kind[1])
        scales, minima = ([random.randrange(64) for _ in range(8)] for _ in range(2))
        packed = bytearray(12)
        for j in range(4):
            packed[j] = scales[j] | (scales[j + 4] >> 4) << 6
            packed[j + 4] = minima[j] | (minima[j + 4] >> 4) << 6
            packed[j + 8] = (scales[j + 4] & 15) | (minima[j + 4] & 15) << 4
        q = [random.randrange(1 << bits) for _ in range(256)]
        low = bytes((q[64 * g + i] & 15) | (q[64 * g + 32 + i] & 15) << 4 for g in range(4) for i in range(32))
        high = bytes(sum((q[32 * g + i] >> 4) << g for g in range(8)) for i in range(32)) if bits == 5 else b""
        values = [d * scales[i // 32] * v - m * minima[i // 32] for i, v in enumerate(q)]
        return d_bytes + m_bytes + bytes(packed) + high + low, values
    if kind == "Q6_K":
        scales = [random.randrange(-128, 128) for _ in range(16)]
        q = [random.randrange(64) for _ in range(256)]
        low, high = bytearray(128), bytearray(64)
        for i, v in enumerate(q):
            part, quarter, at = i // 128, i % 128 // 32, i % 32
            low[part * 64 + quarter % 2 * 32 + at] |= (v & 15) << (4 if quarter >= 2 else 0)
            high[part * 32 + at] |= (v >> 4) << (2 * quarter)
        return bytes(low) + bytes(high) + struct.pack("<16b", *scales) + d_bytes, [d * scales[i // 16] * (v - 32) for i, v in enumerate(q)]
    value = random.uniform(-1, 1)
    if kind == "F16":
        return half(value)[1], [half(value)[0]]
    data = struct.pack("<f", value)
    return (data[2:], [struct.unpack("<f", b"\0\0" + data[2:])[0]]) if kind == "BF16" else (data, [as_float(value)])


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def transposed(rows, columns, values):
    return [values[r * columns + c] for c in range(columns) for r in range(rows)]


def paired(rows, columns, values, heads):
    """Returns the values with rows i and i + half of each head side by side, and the order of the rows."""
    size = rows // heads
    order = [h * size + p * (size // 2) + i for h in range(heads) for i in range(size // 2) for p in range(2)]
    return [v for r in order for v in values[r * columns:(r + 1) * columns]], order


def stack_of(name):
    """Returns the name of an expert's tensor without the number of the expert, and other names as they are."""
    parts = name.split(".")
    if "experts" in parts:
        del parts[parts.index("experts") + 1]
    return ".".join(parts)


def gguf_name(architecture, name):
    module, kind = name.rsplit(".", 1)
    names = NAMES[architecture]
    if module in names:
        return f"{names[module]}.{kind}"
    parts = module.split(".")
    number = next(i for i, part in enumerate(parts) if part.isdigit())
    return f"blk.{parts[number]}.{names['.'.join(parts[number + 1:])]}.{kind}"


def make(architecture, folder, out, types, keys, drop, renames, factors, without):
    random.seed(architecture)
    with open(os.path.join(folder, "config.json")) as f:
        config = json.load(f)
    tensors, entries, data = {n: (s, d) for n, _, s, d in read(os.path.join(folder, "model.safetensors"))}, [], b""
    stacks, turn = {}, 0
    for name in tensors:
        stacks.setdefault(stack_of(name), []).append(name)
    for name, members in stacks.items():
        members.sort(key=lambda member: [int(part) for part in member.split(".") if part.isdigit()])
        shape, content = tensors[members[0]][0], b"".join(tensors[member][1] for member in members)
        kind = "F32"
        if len(shape) == 2 and types:
            kind, turn = types[turn % len(types)], turn + 1
        gguf = gguf_name(architecture, name)
        rows, columns = (shape[0] * len(members), shape[1]) if len(shape) == 2 else (1, shape[0])
        is_projection = len(shape) == 2 and gguf.startswith("blk.")
        if kind == "F32":
            values = list(struct.unpack(f"<{rows * columns}f", content))
            stored = [as_float(v + 1) for v in values] if architecture.startswith("gemma") and gguf.endswith("norm.weight") else values
            values = [as_float(v - 1) for v in stored] if stored is not values else values
            if architecture == "gpt2" and is_projection:
                stored = transposed(rows, columns, stored)
            if architecture == "llama" and ".attn_q." in gguf or architecture == "llama" and ".attn_k." in gguf:
                heads = config["num_attention_heads" if ".attn_q." in gguf else "num_key_value_heads"]
                stored = paired(rows, columns, stored, heads)[0] if len(shape) == 2 else paired(columns, 1, stored, heads)[0]
            blob = struct.pack(f"<{len(stored)}f", *stored)
        else:
            blob, stored = b"", []
            while len(stored) < rows * columns:
                block, elements = make_block(kind)
                blob += block
                stored += [as_float(v) for v in elements]
            values = stored
            if architecture == "gpt2" and is_projection:
                values = transposed(columns, rows, stored)
            if architecture == "llama" and (".attn_q." in gguf or ".attn_k." in gguf):
                heads = config["num_attention_heads" if ".attn_q." in gguf else "num_key_value_heads"]
                order = paired(rows, 1, list(range(rows)), heads)[1]
                values = [0.0] * len(stored)
                for at, r in enumerate(order):
                    values[r * columns:(r + 1) * columns] = stored[at * columns:(at + 1) * columns]
        part = len(values) // len(members)
        for i, member in enumerate(members):
            tensors[member] = (shape, struct.pack(f"<{part}f", *values[i * part:(i + 1) * part]))
        if gguf == drop:
            continue
        for old, new in renames:
            gguf = new if gguf == old else gguf
        extents = [rows, columns] if architecture == "gpt2" and is_projection else shape[::-1]
        if "_exps." in gguf:
            extents = extents + [len(members)]
        elif gguf.endswith("_inp_shexp.weight"):
            extents = extents[:1]
        entries.append((gguf, extents, TYPES[kind], len(data)))
        data += blob + bytes(-len(blob) % 32)
    for name, values in factors:
        entries.append((name, [len(values)], TYPES["F32"], len(data)))
        data += struct.pack(f"<{len(values)}f", *values) + bytes(-4 * len(values) % 32)
    write(os.path.join(folder, "model.safetensors"), [(n, "F32", s, d) for n, (s, d) in tensors.items()])

    metadata = {"general.architecture": (8, text(architecture))}
    for source, table, (number, form) in ((config, KEYS, VALUES["u32"]), (config, FLOAT_KEYS, VALUES["f32"])):
        for key, name in table.items():
            if key in source and key not in without:
                metadata[f"{architecture}.{name}"] = (number, struct.pack(form, source[key]))
    for key, form, value in keys:
        if form == "str":
            metadata[key] = (8, text(value))
        elif form == "strs":
            metadata[key] = (9, struct.pack("<IQ", 8, len(value.split(","))) + b"".join(map(text, value.split(","))))
        else:
            number, code = VALUES[form]
            metadata[key] = (number, struct.pack(code, type(struct.unpack(code, bytes(8)[:struct.calcsize(code)])[0])(json.loads(value))))
    header = b"GGUF" + struct.pack("<IQQ", 3, len(entries), len(metadata))
    header += b"".join(text(key) + struct.pack("<I", number) + value for key, (number, value) in metadata.items())
    for name, extents, kind, offset in entries:
        header += text(name) + struct.pack("<I", len(extents)) + struct.pack(f"<{len(extents)}Q", *extents)
        header += struct.pack("<IQ", kind, offset)
    with open(out, "wb") as f:
        f.write(header + bytes(-len(header) % 32) + data)


def check(folder, path, everything):
    compared = 0
    tensors = read(os.path.join(folder, "model.safetensors"))
    if not everything:
        tensors = list({re.sub(r"\d+", "N", tensor[0]): tensor for tensor in tensors}.values())
    for name, _, shape, content in tensors:
        elements = len(content) // 4
        count = min(1024, elements - elements // 3)
        for at in sorted({elements // 3, elements - count}):
            command = ["attune-import", f"--values={name}:{at}:{count}", path]
            lines = subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout.split()
            expected = [f"{bits:08x}" for bits in struct.unpack(f"<{count}I", content[4 * at:4 * (at + count)])]
            # A sum with zero may change the sign of a zero.
            same = lambda a, b: a == b or {a, b} == {"00000000", "80000000"}
            if len(lines) != count or not all(map(same, lines, expected)):
                wrong = [i for i, (a, b) in enumerate(zip(lines, expected)) if not same(a, b)]
                sys.exit(f"{name}: {len(lines)} values, {len(wrong)} of {count} differ, the first at {at + (wrong or [0])[0]}")
            compared += count
    print(f"{len(tensors)} tensors, {compared} values: equal")


def damage(path, kind):
    with open(path, "rb") as f:
        data = bytearray(f.read())
    first_key = 24  # the length of the name of the first key; it is general.architecture, 20 bytes
    tensor = data.index(struct.pack("<Q", 17) + b"token_embd.weight")
    fields = tensor + 8 + 17  # dimensions, 4; extents, 8 each; type, 4; offset, 8
    spoil = {
        "version": (4, "<I", 1), "big-endian": (4, ">I", 3), "tensors": (8, "<Q", 1 << 62), "keys": (16, "<Q", 1 << 40),
        "key-length": (first_key, "<Q", (1 << 64) - 8), "value-type": (first_key + 28, "<I", 77),
        "value-length": (first_key + 32, "<Q", 1 << 63), "dimensions": (fields, "<I", 200), "no-dimensions": (fields, "<I", 0),
        "extent": (fields + 4, "<Q", (1 << 63) - 32), "extents": (fields + 12, "<Q", 1 << 61), "zero-extent": (fields + 12, "<Q", 0),
        "type": (fields + 20, "<I", 4), "unknown-type": (fields + 20, "<I", 20), "offset": (fields + 24, "<Q", (1 << 64) - 32),
        "odd-offset": (fields + 24, "<Q", 33), "overlap": (fields + 24, "<Q", 0x40),
    }
    if kind == "cut":
        del data[-100:]
    elif kind == "cut-header":
        del data[fields + 6:]
    else:
        at, form, value = spoil[kind]
        data[at:at + struct.calcsize(form)] = struct.pack(form, value)
    with open(path, "wb") as f:
        f.write(data)


command, arguments = sys.argv[1], [a for a in sys.argv[2:] if not a.startswith("--")]
if command == "check":
    check(*arguments, everything="--all" in sys.argv)
elif command == "damage":
    damage(*arguments)
else:
    types, keys, drop, renames, factors, without = [], [], None, [], [], []
    for flag in sys.argv[2:]:
        name, _, value = flag[2:].partition("=")
        if flag.startswith("--types="):
            types = value.split(",")
        elif flag.startswith("--key="):
            key, _, rest = value.partition(":")
            form, _, content = rest.partition("=")
            keys.append((key, form, content))
        elif flag.startswith("--drop="):
            drop = value
        elif flag.startswith("--name="):
            renames.append(value.split("="))
        elif flag.startswith("--factors="):
            name, _, values = value.partition("=")
            factors.append((name, [float(v) for v in values.split(",")]))
        elif flag.startswith("--without="):
            without = value.split(",")
    make(*arguments, types, keys, drop, renames, factors, without)

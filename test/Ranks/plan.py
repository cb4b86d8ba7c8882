# ===- plan.py - Check a plan against formulas and a compiled model --------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""plan.py PLAN WHOLE PREFILL DECODE: PLAN and WHOLE are outputs of `attune plan --json --past=128` for two ranks and for one, of
the configuration chat-tiny; PREFILL and DECODE are those of `attune inspect --json` for the model that was compiled for two
ranks, with --past=0 and --past=128."""
import json
import sys


def expect(name, found, expected):
    if abs(found - expected) > 1e-9 * max(abs(expected), 1):
        sys.exit("%s: expected %r, found %r" % (name, expected, found))


plan, whole, *inspected = (json.load(open(path)) for path in sys.argv[1:])
layers, hidden, heads, features, vocabulary, past = 2, 128, 2, 256, 402, 128
prefill, decode = plan["calls"]
expect("entries", [call["entry"] for call in plan["calls"]] == ["prefill", "decode"], True)

# An exchange begins the call. Gathers: embeddings, four of each layer, and logits, 208 of them on a rank in 26 panels of 8.
layer, logits, record = 4 * (hidden + 2 * hidden + features) // 2, 4 * 208, 128
embeddings = 4 * hidden // 2
expect("exchanges", decode["gathers"]["exchanges"], 1 + 1 + 4 * layers + 1)
expect("bytes", decode["gathers"]["bytes"], record + embeddings + layers * layer + logits)
expect("bytes of prefill", prefill["gathers"]["bytes"], record + 128 * (embeddings + layers * layer) + logits)
# 10 Gbit/s, of which 9 carry messages, and 30 us.
seconds = 11 * 30e-6 + decode["gathers"]["bytes"] * 8 / 9e9
expect("exchange_ms", decode["gathers"]["exchange_ms"], seconds * 1e3)
# All-reduce: two in each layer; two ranks swap their sums of the hidden features.
expect("all-reduce", decode["all_reduce"]["exchanges"], 1 + 1 + 2 * layers + 1)
expect("bytes of all-reduce", decode["all_reduce"]["bytes"], record + embeddings + layers * 2 * 4 * hidden + logits)

# A rank has one of two heads of keys and of values, of 32 features, in each layer, and the mask.
expect("caches", plan["cache_bytes"], (past + 1) * 4 * (layers * 2 * (heads // 2) * 32 + 1))
# Of the weights file, a call does not read the table of embeddings. The table of rotary embeddings is there for each layer,
# whose weights begin at pages.
unread = plan["weight_bytes"] - decode["weight_bytes_read"]
padding = unread - 4 * vocabulary * hidden // 2 - (layers - 1) * 4 * 512 * 32
if not 0 <= padding < layers * 4096:
    sys.exit("expected padding of less than a page for each layer, found %s bytes" % padding)
expect("arithmetic", decode["arithmetic_ms"], decode["flops"] / 1000e9 * 1e3)
expect("reads", decode["read_ms"], (decode["weight_bytes_read"] + decode["cache_bytes_read"]) / 100e9 * 1e3)
work = max(decode["arithmetic_ms"], decode["read_ms"])
expect("tokens_per_s", decode["tokens_per_s"], 1e3 / (work + decode["gathers"]["exchange_ms"]))

expect("one rank", whole["calls"][1]["gathers"]["exchanges"] + whole["calls"][1]["all_reduce"]["bytes"], 0)
if not 1.5 < whole["weight_bytes"] / plan["weight_bytes"] < 2:
    sys.exit("expected nearly half of the weights on a rank of two, %s of %s" % (plan["weight_bytes"], whole["weight_bytes"]))

# The compiled model records the same numbers.
for call, compiled in zip(plan["calls"], inspected):
    entry = next(entry for entry in compiled["entries"] if entry["name"] == call["entry"])
    expect("compiled flops", call["flops"], entry["flops"])
    expect("compiled gathers", call["gathers"]["exchanges"], entry["gathers"] + 1)
    expect("compiled bytes", call["gathers"]["bytes"], entry["gather_bytes"] + record)
    expect("compiled weights", plan["weight_bytes"], compiled["weights_bytes"])

# ===- roofline.py - The roofline section of inspect ------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# roofline.py DIR: inspects DIR/bert.so and DIR/skip.so at several sizes, and bert.so with DIR/profile.json.

import json
import subprocess
import sys


def inspect(name, *flags):
    command = ["attune-run", "inspect", f"--model={sys.argv[1]}/{name}", "--json", *flags]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


for name in ("bert.so", "skip.so"):
    for batch, length in ((1, 1), (3, 7), (8, 40)):
        model = inspect(name, f"--batch={batch}", f"--length={length}")
        entry = model["entries"][0]
        rows = {row["name"]: row for row in entry["roofline"]}
        assert sum(row["flops"] for row in rows.values()) == entry["flops"] > 0, (name, batch, length)
        assert set(rows) <= {kernel["name"] for kernel in model["kernels"]}, rows
        # Every linear kernel reads the matrices and biases of its layers, as they are packed.
        packed = {w["name"]: w["bytes"] for w in model["weights"]}
        up = sum(b for n, b in packed.items() if n.endswith(("intermediate.dense.weight.panels", "intermediate.dense.bias")))
        assert rows["linear_48_112_bias_gelu"]["weight_bytes"] == up, (rows, up)
        # A lookup reads only some of the table's 203 rows.
        assert rows["embedding_203_x_48"]["weight_bytes"] == batch * length * 48 * 4, rows["embedding_203_x_48"]

measured = inspect("bert.so", f"--profile={sys.argv[1]}/profile.json")["entries"][0]
assert measured["dims"] == {"batch": 2, "length": 9} and measured["measured"]["threads"] == 2, measured
rows = {row["name"]: row for row in measured["roofline"]}
assert all(row["ms"] > 0 for row in rows.values()), rows
for name, row in rows.items():
    assert ("roof_fraction" in row) == (row["flops"] > 0), row
    if "roof_fraction" in row:
        assert row["bound"] in ("compute", "memory") and abs(row["roof_fraction"] - row["roof_ms"] / row["ms"]) < 1e-9, row
with open(f"{sys.argv[1]}/profile.json") as f:
    bench = json.load(f)
total = sum(kernel["weight_bytes"] for kernel in bench["kernels"])
assert abs(bench["bytes_per_s"] - total / (bench["min_ms"] / 1e3)) < 1e-6 * bench["bytes_per_s"], (bench, total)

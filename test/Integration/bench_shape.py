# ===- bench_shape.py - What bench/cpu --json holds -----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# bench_shape.py FILE: the rows of test/Integration/bench.test.

import json
import sys

with open(sys.argv[1]) as f:
    rows = {row["row"]: row for row in json.load(f)["rows"]}
assert list(rows) == ["1x8", "ragged", "linear", "1x999", "nonsense"], list(rows)
for name in ("1x8", "ragged"):
    row = rows[name]
    assert row["threads"] == 1 and 0 < row["ours"]["min_ms"] <= row["ours"]["median_ms"] and row["ours"]["runs"] >= 4, row
    assert row["machine"]["fma_gflops"] > 0 and row["machine"]["read_bytes_per_s"] > 0 and 0 <= row["foreign"], row
    assert 0 < row["peak_fraction"]["median"] <= row["peak_fraction"]["best"], row
assert "peer" not in rows["1x8"] and rows["ragged"]["peer"]["label"] == "attune 8x12" and rows["ragged"]["ratio_min"] > 0, rows
assert set(rows["linear"]["kernels"]) == {"48x48", "48x112", "48x144", "112x48"}, rows["linear"]
assert all(k["ms"] > 0 and k["read_fraction"] > 0 for k in rows["linear"]["kernels"].values()), rows["linear"]
assert "length" in rows["1x999"]["unavailable"] and "expected" in rows["nonsense"]["unavailable"], rows

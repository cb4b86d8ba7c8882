# ===- bench_shape.py - What bench/cpu --json holds -----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# bench_shape.py FILE ROW…: FILE has exactly these rows, with all figures. bench.test and bench-long.test name the rows.

import json
import sys


def check_shape(row):
    assert row["threads"] == 1 and 0 < row["ours"]["min_ms"] <= row["ours"]["median_ms"] and row["ours"]["runs"] >= 4, row
    assert row["machine"]["fma_gflops"] > 0 and row["machine"]["read_bytes_per_s"] > 0 and 0 <= row["foreign"], row
    assert 0 < row["peak_fraction"]["median"] <= row["peak_fraction"]["best"], row


with open(sys.argv[1]) as f:
    rows = {row["row"]: row for row in json.load(f)["rows"]}
assert list(rows) == sys.argv[2:], list(rows)
for name, row in rows.items():
    if name == "1x8":
        check_shape(row)
        assert "peer" not in row, row
    elif name == "ragged":
        check_shape(row)
        assert row["peer"]["label"] == "attune 8x12" and row["ratio_min"] > 0, row
    elif name == "linear":
        assert set(row["kernels"]) == {"48x48", "48x112", "48x144", "112x48"}, row
        assert all(k["ms"] > 0 and k["read_fraction"] > 0 for k in row["kernels"].values()), row
    else:
        assert {"1x999": "length", "nonsense": "expected"}[name] in row["unavailable"], row

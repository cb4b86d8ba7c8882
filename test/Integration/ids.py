#!/usr/bin/env python3
# ===- ids.py - Token ids as a safetensors file ----------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ids.py FILE ID...: writes the tensor `input_ids`, one row of I64, without any package."""

import json
import struct
import sys

ids = [int(word) for word in sys.argv[2:]]
header = json.dumps({"input_ids": {"dtype": "I64", "shape": [1, len(ids)], "data_offsets": [0, 8 * len(ids)]}}).encode()
header += b" " * (-len(header) % 8)
with open(sys.argv[1], "wb") as f:
    f.write(struct.pack("<Q", len(header)) + header + struct.pack(f"<{len(ids)}q", *ids))

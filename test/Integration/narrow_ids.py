# ===- narrow_ids.py - A safetensors file with I32 for I64 ------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""narrow_ids.py IN OUT"""

import json
import struct
import sys

data = open(sys.argv[1], "rb").read()
size = struct.unpack("<Q", data[:8])[0]
header = json.loads(data[8 : 8 + size])
body, narrow = data[8 + size :], {}
out = b""
for name, tensor in header.items():
    if name == "__metadata__":
        continue
    begin, end = tensor["data_offsets"]
    values = body[begin:end]
    assert tensor["dtype"] == "I64", tensor
    values = struct.pack("<%di" % (len(values) // 8), *struct.unpack("<%dq" % (len(values) // 8), values))
    narrow[name] = {"dtype": "I32", "shape": tensor["shape"], "data_offsets": [len(out), len(out) + len(values)]}
    out += values
assert narrow
text = json.dumps(narrow).encode()
open(sys.argv[2], "wb").write(struct.pack("<Q", len(text)) + text + out)

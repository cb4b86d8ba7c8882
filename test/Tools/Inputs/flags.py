"""flags.py FILE [NAME]: writes the inputs that flag-inputs.test gives in flags, or the one called NAME."""
import json
import struct
import sys

tensors = {
    "input_ids": ("I64", [2, 3], struct.pack("<6q", 4, 5, 6, 7, 8, 9)),
    "attention_mask": ("I64", [2, 3], struct.pack("<6q", 1, 1, 0, 1, 0, 0)),
    "scale": ("F32", [], struct.pack("<f", 0.5)),
}
header, data = {}, b""
for name, (dtype, shape, raw) in tensors.items():
    if sys.argv[2:] in ([], [name]):
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
text = json.dumps(header).encode()
with open(sys.argv[1], "wb") as f:
    f.write(struct.pack("<Q", len(text)) + text + data)

"""Inputs of calibrate.test: `ids ROWS LENGTH SEED` prints rows of ids, `input ROWS LENGTH SEED FILE` writes them as input_ids;
`compare F32 PLAIN CALIBRATED SHARE` fails unless the calibrated error is below this share of the plain one."""
import json
import random
import struct
import sys


def rows(count, length, seed):
    numbers = random.Random(int(seed))
    # Some ids are much more frequent than others, as in texts.
    return [[int(numbers.paretovariate(0.7)) % 200 for _ in range(int(length))] for _ in range(int(count))]


def logits(path):
    with open(path, "rb") as f:
        size = struct.unpack("<Q", f.read(8))[0]
        begin, end = json.loads(f.read(size))["logits"]["data_offsets"]
        f.seek(8 + size + begin)
        return struct.unpack(f"<{(end - begin) // 4}f", f.read(end - begin))


command, *arguments = sys.argv[1:]
if command == "ids":
    for row in rows(*arguments):
        print(*row)
elif command == "input":
    values = rows(*arguments[:3])
    raw = struct.pack(f"<{len(values) * len(values[0])}q", *(id for row in values for id in row))
    entry = {"dtype": "I64", "shape": [len(values), len(values[0])], "data_offsets": [0, len(raw)]}
    header = json.dumps({"input_ids": entry}).encode()
    with open(arguments[3], "wb") as f:
        f.write(struct.pack("<Q", len(header)) + header + raw)
else:
    f32, plain, calibrated = map(logits, arguments[:3])
    before, after = (sum((a - b) ** 2 for a, b in zip(f32, other)) for other in (plain, calibrated))
    print(f"squared error {after / before:.3f} of that without calibration")
    if not after < float(arguments[3]) * before:
        sys.exit("calibrate: error: expected less")

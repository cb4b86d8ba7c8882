"""tensors.py DIR: writes the small safetensors files that diff.test compares."""
import json
import math
import struct
import sys

folder = sys.argv[1]
CODES = {"F32": "f", "I64": "q"}


def save(name, **tensors):
    header, data = {}, b""
    for key, (dtype, shape, values) in tensors.items():
        raw = struct.pack(f"<{len(values)}{CODES[dtype]}", *values)
        header[key.replace("__", ".")] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    with open(f"{folder}/{name}", "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)


y = ("I64", [2], [5, 2**53 + 1])
save("a.st", x=("F32", [2, 2], [1, 2, 3, 4]), y=y)
save("b.st", x=("F32", [2, 2], [1, 2, 3.5, 4.25]), y=y)
save("nan.st", x=("F32", [2, 2], [1, math.nan, 3, 4]), y=y)
save("ids.st", x=("F32", [2, 2], [1, 2, 3, 4]), y=("I64", [2], [5, 2**53]))
save("shape.st", x=("F32", [4], [1, 2, 3, 4]), y=y)
save("less.st", x=("F32", [2, 2], [1, 2, 3, 4]))

one = ("F32", [1], [1])
save("groups.st", h__0=one, h__1=one)
save("more-groups.st", h__0=one, h__1=one, i__0=one)

big = [float(i) for i in range(1024)]
save("full.st", big=("F32", [1024], big))
save("off-sum.st", big=("F32", [1024], big[:101] + [700.0] + big[102:]))  # 101 is in none of the samples
save("off-tail.st", big=("F32", [1024], big[:1023] + [1024.0]))
save("sampled.st", big__head=("F32", [64], big[:64]), big__tail=("F32", [64], big[-64:]), big__strided=("F32", [256], big[::4]))
stats = {"mean": sum(big) / 1024, "abs_mean": sum(big) / 1024, "l2": math.sqrt(sum(v * v for v in big))}
output = {"dtype": "F32", "shape": [1024], "atol": 1e-5, "rtol": 0, "max_abs": 1023, "stats": stats, "stats_rtol": 1e-6}
with open(f"{folder}/case.json", "w") as f:
    json.dump({"call": {"function": "forward"}, "outputs": {"big": output}}, f)

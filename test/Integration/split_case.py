# ===- split_case.py - One call as two -------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# split_case.py CASE N FIRST SECOND: the inputs [batch, length] of CASE as columns 0 ... N - 1 and the rest.
# split_case.py A B OUT: the tensors of A and the keys and values of B in one file.
# split_case.py --tail N WHOLE END: END's tensors are WHOLE's; those of it that are shorter are WHOLE's from column N on. Bit for bit.

import struct
import sys

import models


def columns(entry, begin, end):
    dtype, shape, data = entry
    size = len(data) // (shape[0] * shape[1])
    rows = [data[(row * shape[1] + begin) * size : (row * shape[1] + end) * size] for row in range(shape[0])]
    return dtype, [shape[0], end - begin] + list(shape[2:]), b"".join(rows)


def save(path, tensors):
    def values(dtype, data):
        return struct.unpack(f"<{len(data) // (8 if dtype == 'I64' else 4)}{'q' if dtype == 'I64' else 'f'}", data)

    models.save(path, {name: (dtype, shape, values(dtype, data)) for name, (dtype, shape, data) in tensors.items()})


if sys.argv[1] == "--tail":
    whole, end = models.load(sys.argv[3]), models.load(sys.argv[4])
    assert whole.keys() == end.keys() and any(whole[name][1] != end[name][1] for name in end)
    for name, entry in end.items():
        expected = whole[name]
        if expected[1] != entry[1]:
            expected = columns(expected, int(sys.argv[2]), expected[1][1])
        assert list(expected[1]) == list(entry[1]) and expected[2] == entry[2], name
elif len(sys.argv) == 4:
    past = {name: entry for name, entry in models.load(sys.argv[2]).items() if name.startswith("past_key_values")}
    save(sys.argv[3], {**models.load(sys.argv[1]), **past})
else:
    tensors, at = models.load(sys.argv[1] + "/inputs.safetensors"), int(sys.argv[2])
    save(sys.argv[3], {name: columns(entry, 0, at) for name, entry in tensors.items()})
    save(sys.argv[4], {name: columns(entry, at, entry[1][1]) for name, entry in tensors.items()})

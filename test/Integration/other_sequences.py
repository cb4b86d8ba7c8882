# ===- other_sequences.py - A golden case that expects other ids -----------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# other_sequences.py FILE prompt|dtype: changes the first id of FILE's `sequences`, or makes its ids truth values.

import sys

import models

path, what = sys.argv[1:]
tensors = {}
for name, entry in models.load(path).items():
    dtype, shape, data = entry
    values = list(memoryview(data).cast("q" if dtype == "I64" else "f"))
    if name == "sequences":
        values[0] += what == "prompt"
    tensors[name] = dtype, shape, values
models.save(path, tensors)
if what == "dtype":
    with open(path, "r+b") as f:
        text = f.read()
        f.seek(0)
        f.write(text.replace(b'"sequences": {"dtype": "I64"', b'"sequences": {"dtype": "U64"'))

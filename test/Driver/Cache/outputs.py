# ===- outputs.py - Other outputs and entries on the same weights ----------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""outputs.py ENCODER DECODER DIR: a part of the outputs, other groups of outputs, other entries: none stores the weights again."""

import os
import sys

import cache

c = cache.Cache(sys.argv[1], os.path.join(sys.argv[3], "encoder"))


def tensors(*flags):
    """Returns the outputs of the model by name."""
    c.output(*flags)
    header, data = cache.read_safetensors(os.path.join(c.folder, "out.safetensors"))
    return {name: data[slice(*entry["data_offsets"])] for name, entry in header.items() if name != "__metadata__"}


def check_shared(count):
    files = [c.file(".weights", entry) for entry in c.entries()]
    c.check(len(files) == count and len({os.stat(file).st_ino for file in files}) == 1, f"expected {count} names of one file: {files}")


every = tensors()
c.check("pooler_output" in every, f"{list(every)}")
part = tensors("--outputs=last_hidden_state")
c.check(list(part) == ["last_hidden_state"] and part["last_hidden_state"] == every["last_hidden_state"], "a part of the outputs differs")
check_shared(2)

decoder = sys.argv[2]
c = cache.Cache(decoder, os.path.join(sys.argv[3], "decoder"))
c.output()
status, _, lines = c.command("generate", c.model, "--input", os.path.join(c.model, "inputs.safetensors"), "--output",
                             os.path.join(c.folder, "generated.safetensors"))
c.check(status == 0, f"generate: {lines}")
check_shared(2)
c.finish()

# ===- past_case.py - A forward call as its end after what came before ------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# past_case.py CASE N OUT: OUT is the golden forward case CASE without its first N tokens, whose keys and values are
# inputs. The outputs that CASE expects for the other tokens are expected of OUT. CASE must expect past_key_values.

import json
import os
import struct
import sys

import models


def cut(entry, axis, begin, end):
    """Returns the entry's elements |begin| … |end| - 1 of |axis|."""
    dtype, shape, data = entry
    outer, inner = models.product(shape[:axis]), models.product(shape[axis + 1:])
    values = struct.unpack(f"<{models.product(shape)}{'q' if dtype == 'I64' else 'f'}", data)
    end = shape[axis] if end is None else end
    kept = []
    for i in range(outer):
        first = i * shape[axis]
        kept += values[(first + begin) * inner:(first + end) * inner]
    return dtype, list(shape[:axis]) + [end - begin] + list(shape[axis + 1:]), kept


def split_input(name, entry, at, decoder):
    """Returns an input without the first |at| tokens of its sequences; masks of all keys keep them."""
    stem = name[len("decoder_"):] if name.startswith("decoder_") else name
    if stem != name or not decoder:
        if stem in ("input_ids", "inputs_embeds", "token_type_ids", "position_ids"):
            return cut(entry, 1, at, None)
        if stem == "attention_mask" and len(entry[1]) > 2:
            return cut(entry, len(entry[1]) - 2, at, None)
    return cut(entry, 0, 0, None)


def split_output(name, entry, at):
    if name.startswith(("past_key_values", "encoder_")):
        return cut(entry, 0, 0, None)
    return cut(entry, 2 if "attentions" in name else 1, at, None)


def main(case, at, out, drop=()):
    inputs, expected = (models.load(os.path.join(case, name + ".safetensors")) for name in ("inputs", "expected"))
    description = json.load(open(os.path.join(case, "case.json")))
    decoder = any(name.startswith("decoder_input") for name in inputs)
    given = {name: split_input(name, entry, at, decoder) for name, entry in inputs.items() if name not in drop}
    for name, entry in expected.items():
        if name.startswith("past_key_values"):
            given[name] = cut(entry, 2, 0, at if int(name[-1]) < 2 else None)
    wanted = {name: split_output(name, entry, at) for name, entry in expected.items()
              if name != "pooler_output" and not (drop and name.startswith("encoder_"))}
    description["inputs"] = {name: {"dtype": dtype, "shape": shape} for name, (dtype, shape, _) in given.items()}
    description["outputs"] = {name: {**description["outputs"][name], "shape": shape} for name, (_, shape, _) in wanted.items()}
    os.makedirs(out, exist_ok=True)
    models.save(os.path.join(out, "inputs.safetensors"), given)
    models.save(os.path.join(out, "expected.safetensors"), wanted)
    with open(os.path.join(out, "case.json"), "w") as f:
        json.dump(description, f)
    for name in ("config.json", "model.safetensors"):
        if not os.path.lexists(os.path.join(out, name)):
            os.symlink(os.path.abspath(os.path.join(case, name)), os.path.join(out, name))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4:])

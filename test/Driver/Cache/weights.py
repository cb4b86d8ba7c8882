# ===- weights.py - Entries of the cache share packed weights --------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""weights.py MODEL DIR: other inputs and outputs of MODEL, an attention layer, are other code on the same weights."""

import os
import sys

import cache

c = cache.Cache(*sys.argv[1:3])
base, _ = c.output()
first = c.entry()
size = os.path.getsize(c.file(".weights"))
for flags in (["--outputs=context_layer,attentions"], ["--limit=batch=99"]):
    before = set(c.entries())
    _, lines = c.output(*flags)
    c.check(len(lines) == 1 and cache.is_compiling(lines[0]), f"{flags}: {lines}")
    new = set(c.entries()) - before
    c.check(len(new) == 1, f"{flags}: {new}")
    c.check(os.path.samefile(c.file(".weights", new.pop()), c.file(".weights", first)), f"{flags}: other weights")
listed = c.list()
separate = sum(entry["bytes"] for entry in listed["entries"])
c.check(len(listed["entries"]) == 3 and listed["bytes"] == separate - 2 * size, f"shared weights are counted once: {listed['bytes']}")
# The cached model is complete: attune-run finds its weights.
status, out, lines = c.command("inspect", c.file(".so", first), "--verify")
c.check(status == 0 and not lines, f"inspect: {lines}")

# Another operand type packs weights in another layout.
_, lines = c.output("--dtype=bf16")
c.check(len({os.stat(c.file(".weights", entry)).st_ino for entry in c.entries()}) == 2, "bf16 has weights of its own")

# Damaged weights are made again by the first entry that notices, and shared again by the next.
os.truncate(c.file(".weights", first), size // 2)
healed = []
for flags in ([], ["--limit=batch=99"]):
    output, lines = c.output(*flags)
    c.check(len(lines) == 1 and cache.is_warning(lines[0], ".weights"), f"{flags}, damaged: {lines}")
    c.check(output == base, f"{flags}, damaged: another result")
    healed.append(os.path.dirname(lines[0].split("damaged cache: ")[1].split(":")[0]))
c.check(os.path.samefile(c.file(".weights", healed[0]), c.file(".weights", healed[1])), "weights that were made again are not shared")

# Changed values of tensors make another weights file.
before = set(c.entries())
cache.patch(os.path.join(c.model, "model.safetensors"), -1, lambda byte: byte ^ 0x80)
c.output()
new = c.file(".weights", (set(c.entries()) - before).pop())
c.check(not any(os.path.samefile(new, c.file(".weights", entry)) for entry in before), "other values share weights")

# A weights file is removed with the last entry that uses it.
status, out, lines = c.command("cache", "clear")
c.check(status == 0 and not lines and os.listdir(c.path) == [], f"clear: {out} {lines} {os.listdir(c.path)}")
c.finish()

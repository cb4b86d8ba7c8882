# ===- key.py - A change of any file of a model is noticed -----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""key.py MODEL DIR: runs a copy of MODEL, an attention layer with stored weights, while its files change."""

import json
import os
import re
import shutil
import subprocess
import sys

import cache
from cache import is_compiling

c = cache.Cache(*sys.argv[1:3])
single = os.path.join(c.model, "model.safetensors")


def expect_change(what):
    """Checks that the model is compiled again and gives another result than before."""
    global last
    output, lines = c.output()
    c.check(len(lines) == 1 and is_compiling(lines[0]), f"{what}: expected a compilation, got {lines}")
    c.check(output != last, f"{what}: the old result came back")
    last = output


def expect_same(what):
    output, lines = c.output()
    c.check(not lines and output == last, f"{what}: expected the kept model, got {lines}")


last = b""
expect_change("first use")
expect_same("second use")

# A model in shards whose names do not begin with "model".
header, data = cache.read_safetensors(single)
header.pop("__metadata__", None)
parts = {"first.safetensors": ["key.bias", "key.weight", "query.bias", "query.weight"],
         "weights-of-rest.bin": ["value.bias", "value.weight"]}
for file, part in parts.items():
    tensors = {}
    for name in part:
        begin, end = header[name]["data_offsets"]
        tensors[name] = (header[name]["dtype"], header[name]["shape"], data[begin:end])
    cache.write_safetensors(os.path.join(c.model, file), tensors)
os.remove(single)
with open(os.path.join(c.model, "model.safetensors.index.json"), "w") as f:
    json.dump({"weight_map": {name: file for file, part in parts.items() for name in part}}, f)
output, lines = c.output()
c.check(len(lines) == 1 and is_compiling(lines[0]) and output == last, f"shards: {lines}")
expect_same("shards again")
for file in parts:
    # The last byte of a float: its sign and exponent.
    cache.patch(os.path.join(c.model, file), -1, lambda byte: byte ^ 0x80)
    expect_change("shard " + file)
    expect_same("shard again")

# A file of which only the beginning is read: a change after it, with the same size and time.
large = os.path.join(c.model, "weights-of-rest.bin")
tensors = {}
header, data = cache.read_safetensors(large)
for name, spec in header.items():
    tensors[name] = (spec["dtype"], spec["shape"], data[spec["data_offsets"][0] : spec["data_offsets"][1]])
padded = {"a.filler": ("F32", [1 << 19], bytes(1 << 21)), **tensors}
cache.write_safetensors(large, padded)
with open(os.path.join(c.model, "model.safetensors.index.json"), "w") as f:
    where = {name: file for file, part in parts.items() for name in part}
    json.dump({"weight_map": {**where, "a.filler": "weights-of-rest.bin"}}, f)
output, lines = c.output()
c.check(len(lines) == 1 and is_compiling(lines[0]) and output == last, f"large file: {lines}")
before = os.stat(large)
cache.patch(large, -1, lambda byte: byte ^ 0x80)
os.utime(large, ns=(before.st_atime_ns, before.st_mtime_ns))
after = os.stat(large)
c.check((before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns), "size or time of the change differ")
expect_change("change with the old time")

# Symbolic links, as in the folders of download caches: the key depends on the file that a link leads to.
blobs = os.path.join(c.folder, "blobs")
os.mkdir(blobs)
for blob in "ab":
    shutil.copyfile(large, os.path.join(blobs, blob))
cache.patch(os.path.join(blobs, "b"), -1, lambda byte: byte ^ 0x80)
times = os.stat(os.path.join(blobs, "a"))
os.utime(os.path.join(blobs, "b"), ns=(times.st_atime_ns, times.st_mtime_ns))
index = os.path.join(c.model, "model.safetensors.index.json")
shutil.move(index, os.path.join(blobs, "index"))
os.symlink(os.path.join(blobs, "index"), index)
os.remove(large)
os.symlink(os.path.join(blobs, "a"), large)
output, lines = c.output()
c.check(len(lines) == 1 and is_compiling(lines[0]) and output == last, f"links: {lines}")
expect_same("links again")
os.remove(large)
os.symlink(os.path.join(blobs, "b"), large)
expect_change("link to another file")

# A changed configuration changes the key; copies of small files in another folder do not.
config = os.path.join(c.model, "config.json")
with open(config) as f:
    values = json.load(f)
values["num_attention_heads"] //= 2
with open(config, "w") as f:
    json.dump(values, f)
expect_change("config.json")
os.utime(config)
expect_same("config.json written again")

# A chat template, which is kept beside the code, as the tokenizer is.
template = os.path.join(c.model, "chat_template.jinja")
for text in ("first", "other"):
    with open(template, "w") as f:
        f.write(text)
    before = set(c.entries())
    output, lines = c.output()
    c.check(len(lines) == 1 and is_compiling(lines[0]) and output == last, f"chat template '{text}': {lines}")
    with open(c.file(".text", (set(c.entries()) - before).pop()), "rb") as f:
        c.check(text.encode() in f.read(), f"the kept .text file does not have the template '{text}'")
os.remove(template)
expect_same("without chat template")

# A copy of the compiler, with other times, finds the kept model; another build, whose build id differs, does not.
copy = os.path.join(c.folder, "attune")
shutil.copyfile(shutil.which("attune"), copy)
os.chmod(copy, 0o755)
cache.ATTUNE = copy
expect_same("copy of the compiler")
with open(copy, "rb") as f:
    program = f.read()
# The note: the bytes of the name, those of the id, the type 3, "GNU".
notes = re.findall(rb"\x04\0\0\0(?:\x08|\x10|\x14)\0\0\0\x03\0\0\0GNU\0", program)
c.check(bool(notes), "the compiler has no build id")
cache.patch(copy, program.index(notes[0]) + 16, lambda byte: byte ^ 1)
before = set(c.entries())
output, lines = c.output()
c.check(len(lines) == 1 and is_compiling(lines[0]) and output == last, f"another build: {lines}")
c.check(len(set(c.entries()) - before) == 1, "another build took the entry of the first one")
expect_same("another build again")
cache.ATTUNE = "attune"

# A model that changes while it is compiled is not kept: its key would be that of the old files.
values["num_attention_heads"] *= 2
with open(config, "w") as f:
    json.dump({**values, "note": 1}, f)
before = c.entries()
words = ["attune", "run", c.model, "--input", os.path.join(c.model, "inputs.safetensors"), "--output",
         os.path.join(c.folder, "o.safetensors")]
process = subprocess.Popen(words, env=c.environment, stderr=subprocess.PIPE, text=True)
c.check(is_compiling(process.stderr.readline().rstrip()), "the model is not compiled")
with open(config, "w") as f:
    json.dump({**values, "note": 2}, f)
said = process.stderr.read()
c.check(process.wait(timeout=300) == 1 and "was changed while it was compiled; try again" in said, f"changed meanwhile: {said}")
c.check(c.entries() == before, "a model that changed meanwhile is kept")
c.finish()

# ===- damage.py - Damaged entries of the cache are made again --------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""damage.py MODEL TOKENIZER DIR [--all]: damages the cached model: with --all in every way, else in those that differ in their checks.
The next use warns once and gives the right result; the one after it is silent."""

import os
import shutil
import subprocess
import sys
import time

import cache

c = cache.Cache(sys.argv[1], sys.argv[3])
all_cases = sys.argv[4:] == ["--all"]
shutil.copy(sys.argv[2], c.model)
good, lines = c.output()
entry = c.entry()
names = sorted(os.listdir(entry))
so, weights, text, header, record = (c.file(suffix) for suffix in (".so", ".weights", ".text", ".h", ".json"))
sizes = {path: os.path.getsize(path) for path in (so, weights, text, header, record)}

damages = {
    ".so missing": (so, lambda: os.remove(so)),
    ".so cut short": (so, lambda: os.truncate(so, sizes[so] - 1)),
    ".so cut in the middle": (so, lambda: os.truncate(so, sizes[so] // 2)),
    ".so empty": (so, lambda: os.truncate(so, 0)),
    ".so with another byte": (so, lambda: cache.patch(so, sizes[so] // 2)),
    ".so that is a folder": (so, lambda: (os.remove(so), os.mkdir(so))),
    ".weights missing": (weights, lambda: os.remove(weights)),
    ".weights cut short": (weights, lambda: os.truncate(weights, sizes[weights] - 1)),
    ".weights of half the size": (weights, lambda: os.truncate(weights, sizes[weights] // 2)),
    ".weights with another byte in the header": (weights, lambda: cache.patch(weights, 40)),
    ".weights with another byte in the manifest": (weights, lambda: cache.patch(weights, -9)),
    ".text missing": (text, lambda: os.remove(text)),
    ".text cut short": (text, lambda: os.truncate(text, sizes[text] - 64)),
    ".text with another byte": (text, lambda: cache.patch(text, sizes[text] // 2)),
    "header missing": (header, lambda: os.remove(header)),
    "record missing": (record, lambda: os.remove(record)),
    "record cut short": (record, lambda: os.truncate(record, sizes[record] // 2)),
    "record with another byte": (record, lambda: cache.patch(record, sizes[record] // 2)),
}
# Damages that the same check of sizes or checksums finds as others do.
alike = (".so missing", ".so cut in the middle", ".so empty", ".weights missing", ".weights cut short", ".weights of half the size",
         ".text missing", ".text cut short", "record cut short")
assert set(alike) < set(damages)
if not all_cases:
    damages = {title: damage for title, damage in damages.items() if title not in alike}
for title, (path, damage) in damages.items():
    damage()
    output, lines = c.output()
    c.check(len(lines) == 1 and cache.is_warning(lines[0], path), f"{title}: {lines}")
    c.check(output == good, f"{title}: another result")
    c.check(c.entry() == entry and sorted(os.listdir(entry)) == names, f"{title}: {os.listdir(entry)} is left")
    output, lines = c.output()
    c.check(output == good and not lines, f"{title}, second use: {lines}")

# If only the code is damaged, the weights file is not written again.
inode = os.stat(weights).st_ino
os.remove(so)
c.output()
c.check(os.stat(weights).st_ino == inode, "weights were packed again")

# Folders of others that have a name like an entry's, and links to some, stay as they are.
other = os.path.join(c.folder, "other")
theirs = os.path.join(c.path, "0" * 32)
for folder in (other, theirs):
    os.makedirs(os.path.join(folder, "below"))
    for name in ("file", "below/file"):
        open(os.path.join(folder, name), "w").close()
os.symlink(other, os.path.join(c.path, "1" * 32))
unfinished = os.path.join(c.path, "new-abcdef")
os.symlink(other, unfinished)
c.output("--limit=batch=7")
shutil.rmtree(c.path + "-kept", ignore_errors=True)
os.rename(entry, c.path + "-kept")
os.symlink(other, entry)
run = ["run", c.model, "--input", os.path.join(c.model, "inputs.safetensors"), "--output", os.path.join(c.folder, "other.safetensors")]
status, _, lines = c.command(*run)
c.check(status == 1 and len(lines) == 1 and "expected the folder of a compiled model, got a link or a file" in lines[0], f"a link: {lines}")
c.command("cache", "clear")
for folder in (other, theirs):
    c.check(sorted(os.listdir(folder)) == ["below", "file"] and os.listdir(os.path.join(folder, "below")) == ["file"],
            f"{folder}: {os.listdir(folder)} is left")
for path in (entry, unfinished, os.path.join(c.path, "1" * 32)):
    os.remove(path)
shutil.rmtree(theirs)
os.rename(c.path + "-kept", entry)

# A process without descriptors to read an entry leaves it as it is.
shell = ["sh", "-c", 'ulimit -n 4; exec "$0" "$@"', cache.ATTUNE, *run]
done = subprocess.run(shell, capture_output=True, text=True, env=c.environment)
c.check(done.returncode == 1 and done.stderr.count("\n") == 1 and "Too many open files" in done.stderr, f"few descriptors: {done}")
output, lines = c.output()
c.check(output == good and not lines, f"after few descriptors: {lines}")

# The content of a tokenizer is verified on request, also outside of the cache.
copies = os.path.join(c.folder, "copies")
shutil.copytree(entry, copies)
copy = os.path.join(copies, os.path.basename(so))
status, out, lines = c.command("inspect", copy, "--verify")
c.check(status == 0 and "verified" in out, f"inspect --verify of a copy: {status}, {lines}")
for offset in range(0, sizes[text], sizes[text] // (20 if all_cases else 5)):
    cache.patch(os.path.join(copies, os.path.basename(text)), offset)
    status, _, lines = c.command("inspect", copy, "--verify")
    c.check(status == 1 and len(lines) == 1 and os.path.basename(text) in lines[0], f"a bit at {offset} of .text: {status}, {lines}")
    cache.patch(os.path.join(copies, os.path.basename(text)), offset)

# The content of weights is verified on request.
cache.patch(weights, 4096 + 128)
output, lines = c.output()
c.check(not lines, f"weights with another byte: {lines}")
status, _, lines = c.command("inspect", so, "--verify")
c.check(status == 1 and len(lines) == 1 and "hash" in lines[0], f"inspect --verify: {status}, {lines}")

# A header of weights that is damaged while the entry is made is an error, and the next use makes the entry again.
c.command("cache", "clear")
maker = subprocess.Popen([cache.ATTUNE, *run], stderr=subprocess.PIPE, text=True, env=c.environment)
while maker.poll() is None and not os.path.exists(weights):
    time.sleep(0.001)
cache.patch(weights, 55)
lines = maker.communicate()[1].splitlines()
c.check(maker.returncode == 1 and "expected weights within the" in lines[-1], f"a header damaged meanwhile: {maker.returncode}, {lines}")
output, lines = c.output()
c.check(output == good, f"after a damaged header: {lines}")
c.finish()

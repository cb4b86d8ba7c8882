# ===- damage.py - Damaged entries of the cache are made again --------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""damage.py MODEL DIR: damages the cached model in every way. The next use warns once and gives the right result; the one
after it is silent."""

import os
import sys

import cache

c = cache.Cache(*sys.argv[1:3])
good, lines = c.output()
entry = c.entry()
names = sorted(os.listdir(entry))
so, weights, header, record = (c.file(suffix) for suffix in (".so", ".weights", ".h", ".json"))
sizes = {path: os.path.getsize(path) for path in (so, weights, header, record)}

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
    "header missing": (header, lambda: os.remove(header)),
    "record missing": (record, lambda: os.remove(record)),
    "record cut short": (record, lambda: os.truncate(record, sizes[record] // 2)),
    "record with another byte": (record, lambda: cache.patch(record, sizes[record] // 2)),
}
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

# The content of weights is verified on request.
cache.patch(weights, 4096 + 128)
output, lines = c.output()
c.check(not lines, f"weights with another byte: {lines}")
status, _, lines = c.command("inspect", so, "--verify")
c.check(status == 1 and len(lines) == 1 and "hash" in lines[0], f"inspect --verify: {status}, {lines}")
c.finish()

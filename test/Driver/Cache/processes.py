# ===- processes.py - Processes that share a cache -------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""processes.py MODEL DIR [--all]: several processes at once, processes that are killed, entries that living processes use."""

import os
import pty
import shutil
import signal
import subprocess
import sys
import time

import cache

c = cache.Cache(*sys.argv[1:3])
arguments = ["attune", "run", c.model, "--input", os.path.join(c.model, "inputs.safetensors"), "--output"]


def start(name, **options):
    return subprocess.Popen(arguments + [os.path.join(c.folder, name)], env=c.environment, stderr=subprocess.PIPE, text=True, **options)


# Of four processes at once, one compiles; all get the same result.
running = [start(f"{number}.safetensors") for number in range(4)]
said = [process.communicate(timeout=300)[1].splitlines() for process in running]
c.check(all(process.returncode == 0 for process in running), f"at once: {said}")
c.check(sum(cache.is_compiling(line) for lines in said for line in lines) == 1 and sum(map(len, said)) == 1, f"at once: {said}")
results = set()
for number in range(4):
    with open(os.path.join(c.folder, f"{number}.safetensors"), "rb") as f:
        results.add(f.read())
good = results.pop()
c.check(not results, "results of four processes differ")
entry = c.entry()
whole = sorted(os.listdir(entry))

# Processes that are killed while they compile, wherever that is: nothing is left after the next start, which gives the right result.
for delay in (0.05, 0.2, 0.4) if sys.argv[3:] == ["--all"] else (0.2,):
    status, _, lines = c.command("cache", "clear")
    c.check(status == 0 and not lines and os.listdir(c.path) == [], f"clear: {lines}")
    process = start("killed.safetensors")
    time.sleep(delay)
    process.kill()
    process.communicate()
    output, lines = c.output()
    c.check(output == good, f"killed after {delay} s: another result: {lines}")
    c.check(c.entry() == entry and sorted(os.listdir(entry)) == whole, f"killed after {delay} s: {os.listdir(c.path)}")

# Leftovers of such processes, made by hand: of other entries, although recent, and of earlier versions.
def leave(name, *files):
    folder = os.path.join(c.path, name)
    os.mkdir(folder)
    for file in files:
        with open(os.path.join(folder, file), "w") as f:
            f.write("unfinished")
    return folder


dead = [leave("0123456789abcdef" * 2, "lock", "model.so.tmp-a1b2c3", "model.weights"), leave("f" * 32), leave("e" * 32, "lock", "model.so"),
        leave("new-a1B2c3", "model.so.tmp-x")]
living = leave("d" * 32, "lock", "model.so.tmp-a1b2c3")
held = [cache.lock(living, cache.USING, exclusive=False), cache.lock(living, cache.MAKING, exclusive=True)]
output, lines = c.output()
c.check(output == good and not lines, f"with leftovers: {lines}")
c.check(not any(os.path.exists(folder) for folder in dead), f"leftovers stay: {os.listdir(c.path)}")
c.check(os.path.exists(os.path.join(living, "model.so.tmp-a1b2c3")), "the files of a living process were removed")
for file in held:
    file.close()
c.output()
c.check(not os.path.exists(living), "the files of a process that ended stay")

# In a folder that the user named, files of other programs are kept, and with them files that look like the cache's.
others = [leave("new-photos", "a.jpg"), os.path.join(c.path, "notes.txt")]
with open(others[1], "w") as f:
    f.write("mine")
c.command("cache", "clear")
c.check(all(os.path.exists(path) for path in others), "files of others were removed")
shutil.rmtree(others[0])
os.remove(others[1])

# A model stays in the cache while a process uses it: neither clear nor a limit removes it.
output, lines = c.output()
bench = subprocess.Popen(["attune", "bench", c.model, "--batch=1", "--length=16", "--repeat=100000000"], env=c.environment,
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
try:
    deadline = time.time() + 120
    while not any(item["in_use"] and "object" in item for item in c.list()["entries"]) and time.time() < deadline and bench.poll() is None:
        time.sleep(0.05)
    used = [item for item in c.list()["entries"] if item["in_use"]]
    c.check(len(used) == 1 and "object" in used[0], f"no model is in use: {c.list()}")
    status, out, lines = c.command("cache", "clear")
    c.check(status == 0 and "stay (in use)" in out and c.entries() == [item["folder"] for item in used],
            f"clear beside a process: {out} {lines}")
    _, lines = c.output("--limit=batch=99")
    status, out, lines = c.command("cache", "prune", "--size=0")
    c.check(c.entries() == [item["folder"] for item in used], f"prune beside a process: {out} {lines}")
finally:
    bench.kill()
    bench.communicate()
status, out, lines = c.command("cache", "clear")
c.check(c.entries() == [], f"clear after the process: {out}")

# A process that waits long says so on a terminal, and continues when the other one has ended without a result.
c.output()
for file in os.listdir(entry):
    if file != "lock":
        os.remove(os.path.join(entry, file))
held = [cache.lock(entry, cache.USING, exclusive=False), cache.lock(entry, cache.MAKING, exclusive=True)]
terminal, side = pty.openpty()
process = subprocess.Popen(arguments + [os.path.join(c.folder, "waited.safetensors")], env=c.environment, stderr=side,
                           stdout=subprocess.DEVNULL)
os.close(side)
said = b""
while b"waiting for another process, which compiles" not in said:
    said += os.read(terminal, 4096)
for file in held:
    file.close()
c.check(process.wait(timeout=300) == 0, "the process that waited failed")
with open(os.path.join(c.folder, "waited.safetensors"), "rb") as f:
    c.check(f.read() == good, "the process that waited has another result")
os.close(terminal)

# A compilation that fails leaves nothing.
c.command("cache", "clear")
os.truncate(os.path.join(c.model, "model.safetensors"), 1000)
status, _, lines = c.command(*arguments[1:], os.path.join(c.folder, "failed.safetensors"))
c.check(status == 1 and len(lines) == 1 and "model.safetensors" in lines[0] and os.listdir(c.path) == [],
        f"failed: {lines} {os.listdir(c.path)}")
c.finish()

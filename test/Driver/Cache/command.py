# ===- command.py - attune cache, and where the cache is --------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""command.py MODEL DIR: lists, prunes and clears; variables of the environment; folders that cannot be used."""

import os
import re
import shutil
import subprocess
import sys

import cache

c = cache.Cache(*sys.argv[1:3])


def refused(words, *arguments, environment=None):
    status, out, lines = c.command(*arguments, environment=environment)
    c.check(status == 1 and not out and len(lines) == 1 and words in lines[0], f"{arguments} {environment}: status {status}: {out} {lines}")


def prints(words, *arguments, environment=None):
    status, out, lines = c.command(*arguments, environment=environment)
    c.check(status == 0 and not lines and re.search(words, out), f"{arguments} {environment}: status {status}: {out} {lines}")


# Listing the cache creates no folder.
prints(r"^no models are kept yet\n$", "cache", "list")
prints(r"^no models are kept yet\n$", "cache", "prune")
c.check(not os.path.exists(c.path), "cache list made a folder")

_, lines = c.output()
c.check(len(lines) == 1 and cache.is_compiling(lines[0]) and c.path in lines[0], f"first use: {lines}")
first = c.entry()
c.output("--limit=batch=99")
# Uses the first model again, so that the other one is the least recently used.
_, lines = c.output()
c.check(lines == [], f"later use: {lines}")
(second,) = set(c.entries()) - {first}
text = (r"^ *[\d.]+ [KM]iB  \d{4}-\d\d-\d\d \d\d:\d\d:\d\d  " + re.escape(c.model)
        + r"\n +--cpu=native --inputs=.*\n *[\d.]+ [KM]iB .*\n +--cpu=native --inputs=.* --limit=batch=99\n")
prints(text + r"2 models, [\d.]+ [KM]iB of at most 16.0 GiB in " + re.escape(c.path) + r"\n$", "cache", "list")
listed = c.list()
c.check([item["folder"] for item in listed["entries"]] == [second, first], "the entry used last comes last in JSON")
c.check(listed["max_bytes"] == 16 << 30 and listed["entries"][0]["model"] == c.model
        and "--limit=batch=99" in listed["entries"][0]["flags"], f"{listed}")

# A limit removes the least recently used entries. Limits may have suffixes.
prints(r"^removed 0 models, 0 B; 2 models, [\d.]+ [KM]iB, stay\n$", "cache", "prune")
limit = listed["bytes"] - 1
prints(r"^removed 1 model, [\d.]+ [KM]iB; 1 model, [\d.]+ [KM]iB, stay\n$", "cache", "prune", f"--size={limit}")
c.check(c.entries() == [first], "prune removed the wrong entry")
prints(r"^removed 0 models, 0 B; 1 model, ", "cache", "prune", "--size", "1g")
prints(r"^removed 0 models, 0 B; 1 model, ", "cache", "prune", environment={"ATTUNE_CACHE_SIZE": "2T"})
c.check(c.command("cache", "prune", environment={"ATTUNE_CACHE_SIZE": "1K"})[0] == 0 and c.entries() == [], "ATTUNE_CACHE_SIZE=1K")

# compile --cached keeps what the other commands keep, and prints where.
status, out, lines = c.command("compile", c.model, "--cached", "--progress", "--limit=batch=98")
c.check(status == 0 and os.path.dirname(out.rstrip("\n")) == c.entry() and os.path.exists(out.rstrip("\n")), f"--cached: {status} {out}")
c.check(any(line.startswith("progress: packing ") for line in lines) and cache.is_compiling(lines[0]), f"--progress: {lines}")
again = c.command("compile", c.model, "--cached", "--progress", "--limit=batch=98")
c.check(again == (0, out, []), f"--cached again: {again}")
status, _, lines = c.command("inspect", c.model, "--limit=batch=98")
c.check(status == 0 and lines == [], f"inspect compiles again: {lines}")
c.command("cache", "clear")

# Adding a model applies the limit: only the model in use stays.
for flags in ([], ["--limit=batch=99"]):
    c.environment["ATTUNE_CACHE_SIZE"] = "1K"
    _, lines = c.output(*flags)
    c.check(len(lines) == 1 and cache.is_compiling(lines[0]), f"with a small limit: {lines}")
    c.entry()
del c.environment["ATTUNE_CACHE_SIZE"]
prints(r"^removed 1 model, ", "cache", "clear")
c.check(os.listdir(c.path) == [], "clear leaves something")

# Invalid arguments are errors.
refused("expected one of list, prune, clear after cache, got nothing", "cache")
refused("expected one of list, prune, clear after cache, got 'drop'", "cache", "drop")
refused("expected one of list, prune, clear after cache, got 2 words", "cache", "list", "clear")
refused("--size: only with cache prune", "cache", "clear", "--size=1")
refused("--json: only with cache list", "cache", "prune", "--json")
run = ["run", c.model, "--input", os.path.join(c.model, "inputs.safetensors"), "--output", os.path.join(c.folder, "o.safetensors")]
for value in ("x", "1X", "-1", "1.5G", "K", "99999999T", "1 K"):
    refused(f"--size: expected a number of bytes, which may end in K, M, G or T, got '{value}'", "cache", "prune", f"--size={value}")
    words = f"ATTUNE_CACHE_SIZE: expected a number of bytes, which may end in K, M, G or T, got '{value}'"
    refused(words, "cache", "list", environment={"ATTUNE_CACHE_SIZE": value})
    refused(words, *run, environment={"ATTUNE_CACHE_SIZE": value})

# Folders that cannot be used.
file = os.path.join(c.folder, "file")
with open(file, "w") as f:
    f.write("text")
for path in (file, os.path.join(file, "below")):
    refused("ATTUNE_CACHE_DIR: expected a folder to keep compiled models in, cannot use '" + path + "'", *run,
            environment={"ATTUNE_CACHE_DIR": path})
refused("it is a file", "cache", "list", environment={"ATTUNE_CACHE_DIR": file})
opened = os.path.join(c.folder, "open")
os.mkdir(opened)
os.chmod(opened, 0o777)
refused("other users can write to it", *run, environment={"ATTUNE_CACHE_DIR": opened})

# ATTUNE_CACHE_DIR goes before XDG_CACHE_HOME, which goes before HOME; an empty or relative one counts as none, a file is passed over.
home, xdg = (os.path.join(c.folder, name) for name in ("home", "xdg"))
os.mkdir(home)
where = {"ATTUNE_CACHE_DIR": "", "XDG_CACHE_HOME": xdg, "HOME": home}
for environment, expected in ((where, os.path.join(xdg, "attune")),
                              ({**where, "XDG_CACHE_HOME": file}, os.path.join(home, ".cache", "attune")),
                              ({**where, "ATTUNE_CACHE_DIR": c.path + "/"}, c.path)):
    status, _, lines = c.command(*run, environment=environment)
    c.check(status == 0 and len(lines) == 1 and lines[0].endswith(f"(kept in '{expected}')"), f"{environment}: {lines}")
    c.check(len(os.listdir(expected)) == 1, f"{environment}: {os.listdir(expected)}")
relative = subprocess.run(["attune", *run], cwd=c.folder, env={**c.environment, "ATTUNE_CACHE_DIR": "xdg/attune"}, capture_output=True,
                          text=True)
c.check(relative.returncode == 0 and relative.stderr == "", f"relative ATTUNE_CACHE_DIR: {relative.stderr}")

# A read-only cache is used for models that it has. Permissions do not stop root, so the file system is read-only.
namespace = ["unshare", "-m"] if os.getuid() == 0 else ["unshare", "-rm"]
mount = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'
if shutil.which("unshare") and subprocess.run([*namespace, "sh", "-c", mount, c.path, "true"], stderr=subprocess.DEVNULL).returncode == 0:

    def read_only(*words):
        done = subprocess.run([*namespace, "sh", "-c", mount, c.path, "attune", *words], env=c.environment, capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr.splitlines()

    status, _, lines = read_only(*run)
    c.check(status == 0 and not lines, f"read-only: {lines}")
    status, _, lines = read_only(*run, "--limit=batch=99")
    c.check(status == 1 and len(lines) == 1 and "ATTUNE_CACHE_DIR: cannot write to" in lines[0] and "Read-only file system" in lines[0],
            f"read-only, other flags: {lines}")
    status, out, lines = read_only("cache", "clear")
    c.check(status == 1 and len(lines) == 1 and "Read-only file system" in lines[0], f"read-only, clear: {out} {lines}")
    c.check(read_only("cache", "list")[0] == 0, "read-only, list")
    os.remove(c.file(".h"))
    status, _, lines = read_only(*run)
    c.check(status == 1 and len(lines) == 1, f"read-only and damaged: {lines}")
else:
    print("read-only file systems were not tried: no namespaces here")
c.finish()

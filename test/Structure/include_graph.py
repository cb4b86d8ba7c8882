#!/usr/bin/env python3
# ===- include_graph.py - Checks includes between folders ------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that includes between the folders ("rooms") of the source tree follow the arrows of docs/architecture.md.

usage: include_graph.py ROOT

The page has a fenced block whose info string is `arrows`, one `Room -> Room Room` a line: files of the room on the left
may include files of those on the right, and whatever these may include in turn. Files may always include files of their
own room. A second block, `rooms`, gives the folder of each room; the longest folder that holds a file decides.

Prints one line for each violation and exits with 1 if there is one.
"""
import os
import re
import subprocess
import sys


def read_block(page, name):
    """Returns the lines of the fenced block |name|, without comments and blank lines."""
    found = re.search(r"^```" + name + r"\n(.*?)^```", page, re.M | re.S)
    if not found:
        sys.exit(f"docs/architecture.md: expected a block ```{name}")
    lines = (line.split("#")[0].strip() for line in found.group(1).splitlines())
    return [line for line in lines if line]


def close(arrows):
    """Returns the transitive closure of |arrows|, a dictionary from rooms to sets of rooms."""
    closed = {room: set(targets) for room, targets in arrows.items()}
    changed = True
    while changed:
        changed = False
        for targets in closed.values():
            more = set().union(*(closed.get(t, set()) for t in targets)) - targets
            if more:
                targets |= more
                changed = True
    return closed


def find_cycles(graph):
    """Returns the strongly connected components of |graph| that have more than one member (Tarjan's algorithm, iterative)."""
    index, low, on_stack, stack, components = {}, {}, set(), [], []
    for root in graph:
        if root in index:
            continue
        work = [(root, iter(sorted(graph[root])))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, successors = work[-1]
            for successor in successors:
                if successor not in index:
                    index[successor] = low[successor] = len(index)
                    stack.append(successor)
                    on_stack.add(successor)
                    work.append((successor, iter(sorted(graph.get(successor, ())))))
                    break
                if successor in on_stack:
                    low[node] = min(low[node], index[successor])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    component = []
                    while True:
                        member = stack.pop()
                        on_stack.discard(member)
                        component.append(member)
                        if member == node:
                            break
                    if len(component) > 1:
                        components.append(sorted(component))
    return components


def main():
    root = sys.argv[1]
    page = open(os.path.join(root, "docs", "architecture.md"), encoding="utf-8").read()
    folders = {}
    for line in read_block(page, "rooms"):
        room, folder = line.split()
        folders[folder] = room
    arrows = {}
    for line in read_block(page, "arrows"):
        source, targets = line.split("->")
        arrows.setdefault(source.strip(), set()).update(targets.split())
    unknown = {t for s, ts in arrows.items() for t in {s} | ts} - set(folders.values())
    if unknown:
        sys.exit("docs/architecture.md: arrows of unknown rooms: " + ", ".join(sorted(unknown)))
    allowed = close(arrows)

    def room_of(path):
        holders = [f for f in folders if path.startswith(f + "/")]
        return folders[max(holders, key=len)] if holders else None

    # The files, from git where there is a checkout; an archive of the sources has none.
    def git(*words):
        return subprocess.run(["git", "-C", root, *words], capture_output=True, text=True).stdout

    if os.path.realpath(git("rev-parse", "--show-toplevel").strip() or "/") == os.path.realpath(root):
        files = [f for f in git("ls-files", "-co", "--exclude-standard").splitlines() if os.path.exists(os.path.join(root, f))]
    else:
        files = [os.path.relpath(os.path.join(d, f), root) for d, _, names in os.walk(root) for f in names]
    files = sorted(f for f in files if f.endswith((".cpp", ".h", ".td")) and room_of(f))
    known = set(files)
    failures, graph = 0, {}
    for path in files:
        stem = os.path.splitext(path)[0]
        graph.setdefault(stem, set())
        text = open(os.path.join(root, path), encoding="utf-8").read()
        for number, line in enumerate(text.splitlines(), 1):
            found = re.match(r'\s*#?\s*include\s+"([^"]+)"', line)
            if not found:
                continue
            name = found.group(1)
            candidates = (name, os.path.normpath(os.path.join(os.path.dirname(path), name)), "runtime/include/" + name)
            target = next((c for c in candidates if c in known), None)
            if target is None:
                # A generated file counts as a file of the folder that it is made in.
                target = name if name.endswith(".inc") and room_of(name) else None
            if target is None:
                continue
            if target in known and os.path.splitext(target)[0] != stem and not target.endswith(".td") and not path.endswith(".td"):
                graph[stem].add(os.path.splitext(target)[0])
            source_room, target_room = room_of(path), room_of(target)
            if source_room == target_room or target_room in allowed.get(source_room, ()):
                continue
            print(f"{path}:{number}: {source_room} must not include {target_room} ({target})")
            failures += 1
    for cycle in sorted(tuple(c) for c in find_cycles(graph)):
        print("files include each other in a circle: " + ", ".join(cycle))
        failures += 1
    print(f"{len(files)} files, {failures} violations")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

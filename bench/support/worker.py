# ===- worker.py - Processes that are timed in turn ------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Child processes, each one attune-bench-worker: pinned to CPUs, kept ready, idle between commands."""
import array
import json
import os
import subprocess
import time

from support.models import Unavailable

# Long enough for the idle threads of the process that ran before to stop spinning.
SETTLE_SECONDS = 0.1
# A block is repeated while other processes use more than this share of a CPU.
DISTURBED = 0.05


def busy_seconds():
    """Returns the CPU time of all processes of the machine."""
    with open("/proc/stat") as f:
        ticks = list(map(int, f.readline().split()[1:9]))
    return (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")


def process_seconds(pid):
    """Returns the CPU time of one process."""
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Worker:
    """A child process; |label| is its name in results. Records all times, and the median and the fastest time of each
    block."""

    def __init__(self, label, command, threads, pinned=None):
        """Starts the process on |pinned| CPUs, as many as |threads| by default."""
        cpus = set(sorted(os.sched_getaffinity(0))[:pinned or threads])
        self.label, self.ms, self.rounds, self.fastest = label, [], [], []
        self.foreign = []  # CPUs that other processes kept busy, per block
        self.process = subprocess.Popen(
            command + [f"--threads={threads}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            universal_newlines=True, preexec_fn=lambda: os.sched_setaffinity(0, cpus))

    def ask(self, line):
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            raise Unavailable(self.process.stderr.read().strip().split("\n")[-1] or f"{self.label}: the process died")
        answer = json.loads(answer)
        if "error" in answer:
            raise Unavailable(answer["error"])
        return answer

    def block(self, seconds):
        """Runs calls for a while. Returns the answer and the number of CPUs that other processes kept busy meanwhile.
        """
        time.sleep(SETTLE_SECONDS)
        start, others = time.monotonic(), busy_seconds() - process_seconds(self.process.pid)
        answer = self.ask(f"run {seconds}")
        others = busy_seconds() - process_seconds(self.process.pid) - others
        # The counters tick a hundred times a second, so less than two ticks per CPU may be a rounding error.
        wall = time.monotonic() - start
        return answer, max(0.0, others - 0.02 * len(os.sched_getaffinity(0))) / wall

    def run(self, seconds, attempts):
        """Runs one block, the one of up to |attempts| that other processes disturbed least; records its times. Returns
        the answer."""
        blocks = []
        while not blocks or (blocks[-1][1] > DISTURBED and len(blocks) < attempts):
            blocks.append(self.block(seconds))
        answer, foreign = min(blocks, key=lambda block: block[1])
        self.foreign.append(foreign)
        if "ms" in answer:
            self.ms += answer["ms"]
            self.rounds.append(median(answer["ms"]))
            self.fastest.append(min(answer["ms"]))
        return answer

    def output(self, path):
        self.ask("output " + path)
        values = array.array("f")
        with open(path, "rb") as f:
            values.frombytes(f.read())
        os.remove(path)
        return values

    def close(self):
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()


def mean(values):
    return sum(values) / len(values)


def median(values):
    ordered = sorted(values)
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2


def worst_difference(a, b):
    """Returns the largest absolute difference, and the largest magnitude in |b|."""
    if len(a) != len(b):
        raise Unavailable(f"outputs of {len(a)} and {len(b)} elements")
    return max(map(lambda x, y: abs(x - y), a, b)), max(map(abs, b))

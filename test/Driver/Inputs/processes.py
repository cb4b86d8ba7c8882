# ===- processes.py - Tools stopped at chosen points -------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Shared by the tests of interruptions and limits: runs processes in a folder and a TMPDIR of their own, stops them at
# chosen points, where they wait for the test or the kernel kills them, and checks their end and the files they leave.

import ctypes
import errno
import os
import platform
import resource
import select
import shutil
import signal
import struct
import subprocess
import sys
import time

# Numbers of system calls; "arm" has those that all newer architectures share.
CALLS = {
    "x86_64": {"openat": 257, "pwrite64": 18, "linkat": 265, "renameat2": 316, "rename": 82, "unlink": 87},
    "arm": {"openat": 56, "pwrite64": 68, "linkat": 37, "renameat2": 276, "rename": 276, "unlink": 35},
}["x86_64" if platform.machine() == "x86_64" else "arm"]
O_TMPFILE = 0o20000000
TIMEOUT = 120


def install_filter(rules):
    """Filters the system calls of this process (seccomp). Each of |rules| is (call, condition, error): a call fails with the
    error if the condition (argument, bits) is None or all these bits of the argument are set. Without an error the
    process is killed at the call, as by SIGKILL."""
    program = [(0x20, 0, 0, 0)]  # the call's number
    for call, condition, error in rules:
        action = 0x80000000 if error is None else 0x00050000 | error
        if condition is None:
            program += [(0x15, 0, 1, CALLS[call]), (0x06, 0, 0, action)]
        else:
            argument, bits = condition
            program += [(0x15, 0, 4, CALLS[call]), (0x20, 0, 0, 16 + 8 * argument), (0x54, 0, 0, bits), (0x15, 0, 1, bits),
                        (0x06, 0, 0, action), (0x20, 0, 0, 0)]
    program.append((0x06, 0, 0, 0x7FFF0000))
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in program))
    header = struct.pack("HxxxxxxP", len(program), ctypes.addressof(code))
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    word = ctypes.c_ulong
    if prctl(38, word(1), word(0), word(0), word(0)) or prctl(22, word(2), ctypes.c_char_p(header), word(0), word(0)):
        raise OSError(ctypes.get_errno(), "no filters of system calls")


# A file system without unnamed files.
NO_UNNAMED_FILES = ("openat", (2, O_TMPFILE), errno.EOPNOTSUPP)


class Tester:
    """A scratch folder with `out` and `tmp`, in which processes are started, and a list of failures."""

    def __init__(self, folder):
        self.folder, self.out, self.tmp = folder, os.path.join(folder, "out"), os.path.join(folder, "tmp")
        self.problems, self.passed = [], 0
        self.clear()

    def clear(self):
        for folder in (self.out, self.tmp):
            shutil.rmtree(folder, ignore_errors=True)
            os.makedirs(folder)

    def start(self, command, rules=(), limits=(), ignored=(), environment=None, stderr=subprocess.PIPE, **options):
        """Starts |command|. |limits| are pairs (resource, soft limit); |ignored| are signals that it ignores from its start."""

        def prepare():
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            # Restores the signals that Python or the shell of a background job ignores.
            for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
                signal.signal(number, signal.SIG_IGN if number in ignored else signal.SIG_DFL)
            for kind, soft in limits:
                resource.setrlimit(kind, (soft, resource.getrlimit(kind)[1]))
            if rules:
                install_filter(rules)

        return subprocess.Popen(command, cwd=self.out, env={**os.environ, "TMPDIR": self.tmp, **(environment or {})}, preexec_fn=prepare,
                                restore_signals=False,
                                stdout=options.pop("stdout", subprocess.PIPE), stderr=stderr, **options)

    def run(self, command, **options):
        """Runs |command| to its end. Returns (status, lines of stderr)."""
        return self.finish(self.start(command, **options))

    def finish(self, process):
        try:
            _, errors = process.communicate(timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return "timeout", []
        return process.returncode, (errors or b"").decode().splitlines()

    def left(self):
        """Returns all names in the folders that processes write to, sorted."""
        found = []
        for top in (self.out, self.tmp):
            for folder, folders, files in os.walk(top):
                found += [os.path.relpath(os.path.join(folder, name), top) for name in folders + files]
        return sorted(found)

    def expect(self, title, got, wanted):
        if got == wanted:
            self.passed += 1
        else:
            self.problems.append(f"{title}: expected {wanted!r}, got {got!r}")

    def expect_end(self, title, ended, status, words, left=()):
        """Checks |ended|, a result of run: |words| must be in the only line of stderr; if they are None, it must have no line."""
        got, lines = ended
        self.expect(title + ": status", got, status)
        if words is None:
            self.expect(title + ": messages", lines, [])
        elif len(lines) != 1 or words not in lines[0]:
            self.problems.append(f"{title}: expected one line with {words!r}, got {lines!r}")
        if left is not None:
            self.expect(title + ": files", self.left(), sorted(left))

    def report(self):
        for problem in self.problems:
            print("FAIL:", problem)
        print(f"{self.passed} checks passed" if not self.problems else f"{len(self.problems)} checks failed")
        sys.exit(1 if self.problems else 0)


def wait_until(condition):
    """Calls |condition| until it is true and returns its value, or None after the time limit."""
    end = time.monotonic() + TIMEOUT
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.005)
    return None


class Pipe:
    """A named pipe as the input of a process, which waits for its text after its outputs were created and before it computes."""

    def __init__(self, path):
        self.path = path
        if os.path.exists(path):
            os.remove(path)
        os.mkfifo(path)

    def wait_for_reader(self):
        """Waits until a process has opened the pipe for reading, and opens it for writing."""

        def opened():
            try:
                return os.open(self.path, os.O_WRONLY | os.O_NONBLOCK) + 1
            except OSError:
                return None

        self.fd = wait_until(opened) - 1
        os.set_blocking(self.fd, True)

    def close(self):
        os.close(self.fd)

    def send(self, text):
        with os.fdopen(self.fd, "wb") as f:
            f.write(text)


def is_alive(pid):
    """Returns True if a process runs; a zombie does not."""
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def write_program(path, text):
    with open(path, "w") as f:
        f.write("#!/bin/sh\n" + text)
    os.chmod(path, 0o755)
    return path


def written_bytes(process):
    try:
        with open(f"/proc/{process.pid}/io") as f:
            return int(next(line for line in f if line.startswith("wchar:")).split()[1])
    except (OSError, ValueError):
        return 0


def full_pipe():
    """Returns both ends of a full pipe."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    while select.select([], [writer], [], 0)[1]:
        try:
            os.write(writer, b"x" * 4096)
        except BlockingIOError:
            break
    os.set_blocking(writer, True)
    return reader, writer

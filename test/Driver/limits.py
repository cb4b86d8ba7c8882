# ===- limits.py - Limits of the system, and files that change while they are read ===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""limits.py SUBJECT TOOL MODEL DIR: runs TOOL into limits of the system, as a full disk. TOOL is attune; for the subject
`run` it is attune-run, and MODEL the folder of the toy model. One line says what happened, and no file is left. Crashes
are still reported as such."""

import errno
import os
import resource
import shlex
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs"))
from processes import NO_UNNAMED_FILES, Pipe, Tester, wait_until, write_program

subject, tool, model, folder = sys.argv[1:5]
tool, model = shutil.which(tool), os.path.abspath(model)
name = os.path.basename(tool)
t = Tester(os.path.abspath(folder))
FILE_SIZE = [(resource.RLIMIT_FSIZE, 4096)]
# Reported by the allocator, by a file that cannot be mapped, by a thread that gets no stack.
MEMORY = ("out of memory (the limit of address space, ulimit -v, is", "cannot map: Cannot allocate memory",
          "cannot start a thread: Resource temporarily unavailable")
TOO_LARGE = "File too large (the limit for files, ulimit -f, is 4096 bytes)"


def test_file_size():
    t.expect_end("file size: compile", t.run([tool, "compile", model, "-o", "x.o"], limits=FILE_SIZE), 1,
                 f"attune: error: x.weights: cannot write: {TOO_LARGE}")
    init = [tool, "init", model, "-o", "new"]
    for title, ignored in (("default", ()), ("ignored", [signal.SIGXFSZ])):
        t.expect_end(f"file size, {title}: init", t.run(init, limits=FILE_SIZE, ignored=ignored), 1,
                     f"attune: error: new/model.safetensors: cannot write: {TOO_LARGE}")
    phase = [tool, "compile", model, "--compile-to=linalg"]
    t.expect_end("file size: phase", t.run(phase + ["-o", "x.mlir"], limits=FILE_SIZE), 1,
                 f"attune: error: x.mlir: cannot write: {TOO_LARGE}")
    with open(os.path.join(t.folder, "stdout"), "w") as stdout:
        t.expect_end("file size: stdout", t.run(phase, limits=FILE_SIZE, stdout=stdout), 1,
                     "attune: error: cannot write to standard output: File too large")


def test_full_disk():
    """The system refuses to write, or to give a name; test/BadInput has disks that are full and folders that cannot be written to."""
    full = "No space left on device"
    compile_, init = [tool, "compile", model, "-o", "x.o"], [tool, "init", model, "-o", "new/folder"]
    t.expect_end("full disk: compile", t.run(compile_, rules=[("pwrite64", None, errno.ENOSPC)]), 1,
                 f"attune: error: x.weights: cannot write: {full}")
    t.expect_end("full disk: init", t.run(init, rules=[("pwrite64", None, errno.ENOSPC)]), 1,
                 f"attune: error: new/folder/model.safetensors: cannot write: {full}")
    t.expect_end("full folder: compile", t.run(compile_, rules=[("linkat", None, errno.ENOSPC)]), 1,
                 f"attune: error: x.weights: cannot create: {full}")
    t.expect_end("full folder: init", t.run(init, rules=[("linkat", None, errno.ENOSPC)]), 1,
                 f"attune: error: new/folder/model.safetensors: cannot create: {full}")
    rename = ("renameat2", None, errno.ENOSPC), ("rename", None, errno.ENOSPC)
    t.expect_end("full folder, named", t.run(compile_, rules=[NO_UNNAMED_FILES, *rename]), 1,
                 f"attune: error: x.weights: cannot rename: {full}")
    t.expect_end("compile", t.run(compile_), 0, None, ["x.h", "x.o", "x.weights"])
    t.expect_end("full folder: replacing", t.run(compile_, rules=rename), 1, f"attune: error: x.weights: cannot rename: {full}",
                 ["x.h", "x.o", "x.weights"])
    t.clear()


def test_memory():
    """Raises a limit from the minimum for a start to more than enough: each run fails with one line, or succeeds."""
    # The address space of the tool while it waits for its input.
    pipe = Pipe(os.path.join(t.folder, "model.mlir"))
    process = t.start([tool, "compile", pipe.path, "--weights", model, "-o", "x.o"])
    pipe.wait_for_reader()
    with open(f"/proc/{process.pid}/status") as f:
        start = next(int(line.split()[1]) for line in f if line.startswith("VmPeak:")) << 10
    process.kill()
    t.finish(process)
    pipe.close()
    failures = 0
    for more in (0, 4, 8, 16, 4096):
        limits = [(resource.RLIMIT_AS, start + (more << 20))]
        ended = t.run([tool, "compile", model, "-o", "x.o"], limits=limits)
        if ended[0] != 0:
            failures += 1
            t.expect_end(f"memory, {more} MiB more", ended, 1, "attune: error: ")
            t.expect(f"memory, {more} MiB more: message", any(words in line for line in ended[1] for words in MEMORY), True)
        else:
            t.expect(f"memory, {more} MiB more", (ended[1], t.left()), ([], ["x.h", "x.o", "x.weights"]))
        t.clear()
    t.expect("memory: limits that are too low", failures > 2, True)
    t.expect("memory: limits that are not", ended[0], 0)


def test_stack():
    """A limit that is less than the compiler needs."""
    t.expect_end("stack", t.run([tool, "compile", model, "-o", "x.o"], limits=[(resource.RLIMIT_STACK, 32 << 10)]), 1,
                 "attune: error: out of stack (the limit, ulimit -s, is 32 KiB)")


def test_processor_time():
    pipe = Pipe(os.path.join(t.folder, "model.mlir"))
    process = t.start([tool, "compile", pipe.path, "--weights", model, "-o", "x.o"], limits=[(resource.RLIMIT_CPU, 60)])
    pipe.wait_for_reader()
    process.send_signal(signal.SIGXCPU)
    t.expect_end("CPU time", t.finish(process), -signal.SIGXCPU, "attune: error: stopped at the limit of CPU time (ulimit -t), 60 seconds")
    pipe.close()


def test_cut_sources():
    """Truncates the weights of a model after they are mapped and before they are packed, in the program that the compiler
    starts in between."""
    bin_, copy = os.path.join(t.folder, "bin"), os.path.join(t.folder, "model")
    os.makedirs(bin_)
    own = shutil.copy(tool, os.path.join(bin_, "attune"))
    write_program(os.path.join(bin_, "attune-halide-gen"),
                  f"kill -STOP $PPID\ntruncate -s 20000 {shlex.quote(copy)}/model.safetensors\nkill -CONT $PPID\nexec sleep 1000\n")
    for rules in ((), [NO_UNNAMED_FILES]):
        shutil.copytree(model, copy, dirs_exist_ok=True)
        ended = t.run([own, "compile", copy, "-o", "x.o", "--kernels=halide"], rules=rules)
        t.expect_end("cut while it is packed", ended, 1, f"attune: error: {copy}/model.safetensors: was cut short while it was read")


def test_crashes():
    """Signals that only the system sends."""
    pipe = Pipe(os.path.join(t.folder, "model.mlir"))
    for number in (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT):
        process = t.start([tool, "compile", pipe.path, "--weights", model, "-o", "x.o"], rules=[NO_UNNAMED_FILES])
        pipe.wait_for_reader()
        process.send_signal(number)
        status, lines = t.finish(process)
        t.expect(f"crash, {number.name}", (status, any("attune: crashed; please report" in line for line in lines)), (-number, True))
        t.expect(f"crash, {number.name}: files", t.left(), [])
        pipe.close()


def test_streams():
    """Streams that are closed from the start: a write there is an error, and goes into no other file."""
    shell = lambda redirection, *words: t.run(["sh", "-c", f'exec "$0" "$@" {redirection}', *words])
    t.expect_end("closed stdout", shell(">&-", tool, "compile", model, "--compile-to=import"), 1,
                 "attune: error: cannot write to standard output: Bad file descriptor")
    for words in ("families", "cache list", "compile --help", "--help", "--help=man", "--version"):
        t.expect_end(f"full stdout: {words}", shell(">/dev/full", tool, *words.split()), 1,
                     "attune: error: cannot write to standard output")
    t.expect_end("closed streams", shell("<&- >&- 2>&-", tool, "compile", model, "-o", "x.so", "--emit=shared"), 0, None,
                 ["x.h", "x.so", "x.weights"])
    reference = subprocess.run([tool, "compile", model, "-o", os.path.join(t.tmp, "x.so"), "--emit=shared"])
    for file in ("x.h", "x.so", "x.weights"):
        with open(os.path.join(t.out, file), "rb") as a, open(os.path.join(t.tmp, file), "rb") as b:
            t.expect(f"closed streams: {file}", a.read() == b.read(), True)
    t.clear()


def test_compile():
    test_file_size()
    test_full_disk()
    test_memory()
    test_stack()
    test_processor_time()
    test_cut_sources()
    test_crashes()
    test_streams()


def test_run():
    """attune-run."""
    toy, inputs = os.path.join(model, "toy.so"), os.path.join(model, "good", "inputs.safetensors")
    t.expect_end("file size", t.run([tool, "run", toy, "--input", inputs, "--output", "out"], limits=[(resource.RLIMIT_FSIZE, 64)]), 1,
                 "attune-run: error: out: cannot write: File too large (the limit for files, ulimit -f, is 64 bytes)")
    t.expect_end("full disk", t.run([tool, "run", toy, "--input", inputs, "--output", "out"], rules=[("pwrite64", None, errno.ENOSPC)]), 1,
                 "attune-run: error: out: cannot write: No space left on device")
    bench = [tool, "bench", toy, "--length=3", "--repeat=1000000"]
    t.expect_end("CPU time", t.run(bench + ["--batch=1000"], limits=[(resource.RLIMIT_CPU, 1)]), -signal.SIGXCPU,
                 "attune-run: error: stopped at the limit of CPU time (ulimit -t), 1 seconds")
    # Both limits, after which the system would send SIGKILL.
    shell = ["sh", "-c", 'ulimit -t 1; exec "$0" "$@"']
    t.expect_end("CPU time, both limits", t.run(shell + bench + ["--batch=1000"]), -signal.SIGXCPU,
                 "attune-run: error: stopped at the limit of CPU time (ulimit -t), 1 seconds")
    t.expect_end("memory", t.run(bench + ["--batch=10000000", "--threads=1"], limits=[(resource.RLIMIT_AS, 1 << 28)]), 1,
                 "attune-run: error: out of memory (the limit of address space, ulimit -v, is 262144 KiB)")
    # Truncates the weights file while it is in use.
    copy = os.path.join(t.folder, "cut")
    os.makedirs(copy)
    for file in ("toy.so", "toy.weights"):
        shutil.copy(os.path.join(model, file), copy)
    process = t.start([tool, "bench", os.path.join(copy, "toy.so"), "--batch=1000", "--length=3", "--repeat=1000000"])
    weights = os.path.join(copy, "toy.weights")
    wait_until(lambda: weights in open(f"/proc/{process.pid}/maps").read())
    os.truncate(weights, 100)
    t.expect_end("cut while it is used", t.finish(process), 1, f"attune-run: error: {weights}: was cut short while it was read")


{"compile": test_compile, "run": test_run}[subject]()
t.report()

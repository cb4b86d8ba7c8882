# ===- interruption.py - Tools that are interrupted or killed -----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""interruption.py SUBJECT TOOL MODEL DIR [--all]: interrupts and kills TOOL at chosen points. TOOL is attune; for the
subject `run` it is attune-run, and MODEL the folder of the toy model. --all adds repetitions, and combinations of points
and flags that the others contain one by one.

An interrupted tool says so in one line, ends by the signal and leaves neither files nor subprocesses. Files of a killed
tool are removed by the next process, which does not touch those of running ones."""

import os
import shlex
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs"))
import processes
from processes import NO_UNNAMED_FILES, Pipe, Tester, is_alive, wait_until, write_program, written_bytes

subject, tool, model, folder = sys.argv[1:5]
all_cases = sys.argv[5:] == ["--all"]
tool, model = shutil.which(tool), os.path.abspath(model)
t = Tester(os.path.abspath(folder))
SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGALRM")
KILLED = -signal.SIGSYS  # what the filter of system calls ends with, like SIGKILL without a chance to clean up
OUTPUTS = ["x.h", "x.o", "x.weights"]


def interrupt(title, process, name, left=()):
    number = getattr(signal, name)
    process.send_signal(number)
    t.expect_end(f"{title}, {name}", t.finish(process), -number,
                 None if name == "SIGKILL" else f"{os.path.basename(tool)}: interrupted by {name}", left)


def waiting(pipe, output="x.o", **options):
    """Returns a compilation that has created its outputs and waits for its model."""
    process = t.start([tool, "compile", pipe.path, "--weights", model, "-o", output], **options)
    pipe.wait_for_reader()
    return process


def temporaries(names, of):
    return [name for name in names if name.startswith(of + ".tmp-attune-")]


def test_signals(pipe):
    for name in SIGNALS + ("SIGKILL",):
        interrupt("compile", waiting(pipe), name)
        pipe.close()
    # The exit status, as a shell reports it.
    for name, status in (("INT", 130), ("TERM", 143)):
        shell = t.start(["sh", "-c", 'trap : INT; "$0" "$@"; exit $?', tool, "compile", pipe.path, "--weights", model, "-o", "x.o"])
        pipe.wait_for_reader()
        with open(f"/proc/{shell.pid}/task/{shell.pid}/children") as f:
            os.kill(int(f.read().split()[0]), getattr(signal, "SIG" + name))
        status_got, lines = t.finish(shell)
        t.expect(f"shell, {name}", (status_got, f"attune: interrupted by SIG{name}" in lines), (status, True))
        t.expect(f"shell, {name}: files", t.left(), [])
        pipe.close()
    # Fills the pipe, which nobody reads.
    reader, writer = processes.full_pipe()
    process = waiting(pipe, stderr=writer)
    process.send_signal(signal.SIGTERM)
    t.expect("full stderr", t.finish(process)[0], -signal.SIGTERM)
    pipe.close()
    for fd in (reader, writer):
        os.close(fd)


def test_ignored(pipe, text):
    """Ignored signals change nothing, neither by trap nor by nohup."""
    ignored = (signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT)
    process = waiting(pipe, ignored=ignored)
    for number in ignored:
        process.send_signal(number)
    pipe.send(text)
    t.expect_end("ignored signals", t.finish(process), 0, None, OUTPUTS)
    t.clear()
    process = t.start(["nohup", tool, "compile", pipe.path, "--weights", model, "-o", "x.o"], stdin=subprocess.DEVNULL)
    pipe.wait_for_reader()
    process.send_signal(signal.SIGHUP)
    pipe.send(text)
    t.expect("nohup", (t.finish(process)[0], t.left()), (0, OUTPUTS))
    # From its first moment, while libraries install handlers of their own.
    for _ in range(12 if all_cases else 4):
        process = t.start([tool, "--version"], ignored=[signal.SIGHUP])
        while process.poll() is None:
            process.send_signal(signal.SIGHUP)
        t.expect_end("ignored from the start", t.finish(process), 0, None, OUTPUTS)
    # A parent that ignores the ends of its children: the linker's end must be known nevertheless.
    t.clear()
    t.expect_end("SIGCHLD ignored", t.run([tool, "compile", model, "-o", "x.so", "--emit=shared"], ignored=[signal.SIGCHLD]), 0, None,
                 ["x.h", "x.so", "x.weights"])
    t.clear()


def test_killed():
    """Kills the tool between the end of its work and the naming of its last output: no output is there, or the earlier one,
    and the next compilation succeeds."""
    compile_ = [tool, "compile", model, "-o", "x.o"]
    t.expect("killed before the first name", (t.run(compile_, rules=[("linkat", None, None)])[0], t.left()), (KILLED, []))
    t.expect("killed at the first phase", (t.run(compile_ + ["--dump-phases=phases"], rules=[("linkat", None, None)])[0], t.left()),
             (KILLED, ["phases"]))
    os.rmdir(os.path.join(t.out, "phases"))
    t.expect_end("afterwards", t.run(compile_), 0, None, OUTPUTS)

    def content():
        found = {}
        for name in OUTPUTS:
            with open(os.path.join(t.out, name), "rb") as f:
                found[name] = f.read()
        return found

    before = content()
    t.expect("killed while replacing: status", t.run(compile_ + ["--limit=batch=7"], rules=[("renameat2", None, None)])[0], KILLED)
    t.expect("killed while replacing: outputs", content() == before, True)
    t.expect("killed while replacing: files", (len(t.left()), len(temporaries(t.left(), "x.weights"))), (4, 1))
    for name in ("x.o.tmp-backup", "x.o.tmp-attune-mine"):
        open(os.path.join(t.out, name), "w").close()
    t.expect_end("another output", t.run([tool, "compile", model, "-o", "y.o"]), 0, None, None)
    t.expect("another output: files", len(temporaries(t.left(), "x.weights")), 1)
    t.expect_end("the same output", t.run(compile_), 0, None,
                 OUTPUTS + ["x.o.tmp-attune-mine", "x.o.tmp-backup", "y.h", "y.o", "y.weights"])
    t.expect("the same output: content", content() == before, True)
    t.clear()


def test_named(pipe, text):
    """Outputs are temporary named files where the file system has no unnamed ones: a signal leaves none of them; the next
    process removes those that SIGKILL leaves."""
    for name in ("SIGINT", "SIGQUIT"):
        process = waiting(pipe, rules=[NO_UNNAMED_FILES])
        t.expect(f"named, {name}: files before", [len(temporaries(t.left(), output)) for output in OUTPUTS], [1, 1, 1])
        interrupt("named", process, name)
        pipe.close()
    process = waiting(pipe, rules=[NO_UNNAMED_FILES])
    process.kill()
    t.expect("named, killed", (t.finish(process)[0], len(t.left())), (-signal.SIGKILL, 3))
    pipe.close()
    # Two at a time: the second removes the leftovers of the killed one, but not the files of the first.
    first = waiting(pipe, rules=[NO_UNNAMED_FILES])
    living = t.left()
    t.expect("named, after a killed one", len(living), 3)
    t.expect_end("named, second", t.run([tool, "compile", model, "-o", "x.o"], rules=[NO_UNNAMED_FILES]), 0, None, OUTPUTS + living)
    pipe.send(text)
    t.expect_end("named, first", t.finish(first), 0, None, OUTPUTS)
    t.clear()


def test_compile():
    text = subprocess.run([tool, "compile", model, "--compile-to=import", "--name=x"], stdout=subprocess.PIPE, check=True).stdout
    pipe = Pipe(os.path.join(t.folder, "model.mlir"))
    test_signals(pipe)
    test_ignored(pipe, text)
    test_killed()
    test_named(pipe, text)


def test_cache():
    """The tool is killed between two writes of the weights that it packs into the cache. The next start removes the leftovers,
    whether it needs this model or the same with other flags."""
    cache = os.path.join(t.out, "cache")

    def compile_(*flags, rules=()):
        return t.run([tool, "compile", model, "--cached", *flags], rules=rules, environment={"ATTUNE_CACHE_DIR": cache})

    def kept():
        return sorted(os.path.basename(path) for path in t.left() if not os.path.isdir(os.path.join(t.out, path)))

    t.expect("cache: status", compile_()[0], 0)
    whole = kept()
    killed_in_weights = ("pwrite64", (3, 4096), None)  # the first write behind the header
    for title, rules in (("cache", [killed_in_weights]), ("cache, named", [NO_UNNAMED_FILES, killed_in_weights])):
        # Each way of writing has one kind of next start; --all crosses them.
        for flags in ((), ("--limit=batch=7",)) if all_cases else (("--limit=batch=7",) if title == "cache" else (),):
            t.clear()
            t.expect(f"{title}, killed", compile_(rules=rules)[0], KILLED)
            t.expect(f"{title}, killed: files", [len(temporaries(kept(), name)) for name in whole if name.endswith(".weights")],
                     [len(rules) - 1])
            t.expect(f"{title}, next {flags}", (compile_(*flags)[0], len(os.listdir(cache)), kept()), (0, 1, whole))
    t.clear()


def test_subprocesses():
    """Programs that the compiler waits for end with it; they are shell scripts that note their number and sleep."""
    bin_, notes = os.path.join(t.folder, "bin"), os.path.join(t.folder, "notes")
    os.makedirs(bin_, exist_ok=True)
    sleeps = f"echo >> {shlex.quote(notes)}/$$\nexec sleep 1000\n"
    own = shutil.copy(tool, os.path.join(bin_, "attune"))
    for name in ("attune-halide-gen", "ld.lld", "ptxas"):
        write_program(os.path.join(bin_, name), sleeps)
    environment = {"PATH": bin_ + os.pathsep + os.environ["PATH"], "ATTUNE_PTXAS": os.path.join(bin_, "ptxas")}
    for title, flags in (("halide", ["-o", "x.o", "--kernels=halide"]), ("linker", ["-o", "x.so", "--emit=shared"]),
                         ("ptxas", ["-o", "x.o", "--target=cuda", "--gpu=sm_80"])):
        for name in ("SIGINT", "SIGKILL") if all_cases or title != "ptxas" else ("SIGINT",):
            shutil.rmtree(notes, ignore_errors=True)
            os.makedirs(notes)
            process = t.start([own, "compile", model, *flags], environment=environment)
            t.expect(f"{title}: started", bool(wait_until(lambda: os.listdir(notes))), True)
            interrupt(title, process, name)
            t.expect(f"{title}, {name}: subprocesses end", wait_until(lambda: not any(is_alive(pid) for pid in os.listdir(notes))), True)
    # Without an interruption, the subprocess may fail, or a signal may end it alone.
    write_program(os.path.join(bin_, "attune-halide-gen"), "echo oh no >&2\nexit 3\n")
    t.expect_end("one fails", t.run([own, "compile", model, "-o", "x.o", "--kernels=halide"]), 1, "attune: error: internal error: oh no")
    write_program(os.path.join(bin_, "attune-halide-gen"), "kill -XCPU $$\n")
    t.expect_end("one is stopped", t.run([own, "compile", model, "-o", "x.o", "--kernels=halide"]), 1,
                 "attune: error: --kernels=halide: attune-halide-gen: CPU time limit exceeded")


def test_init():
    """A folder whose weights are larger than the data written before the signal."""
    large = os.path.join(t.folder, "large")
    os.makedirs(large)
    with open(os.path.join(large, "config.json"), "w") as f:
        f.write('{"model_type": "bert", "vocab_size": 50000000, "hidden_size": 64, "num_attention_heads": 2, '
                '"num_hidden_layers": 1, "intermediate_size": 64}')
    for rules in ((), (NO_UNNAMED_FILES,)):
        for name in ("SIGINT", "SIGTERM", "SIGKILL"):
            process = t.start([tool, "init", large, "-o", "new/folder"], rules=rules)
            t.expect("init: is writing", bool(wait_until(lambda: written_bytes(process) > 8 << 20)), True)
            if rules and name == "SIGKILL":
                process.kill()
                t.expect("init, named, killed", (t.finish(process)[0], len(t.left())), (-signal.SIGKILL, 1))
            else:
                interrupt("init", process, name)
    # The next run removes this leftover, too, and an interrupted run leaves the folder unchanged.
    t.expect_end("init", t.run([tool, "init", model, "-o", "new/folder", "--seed=1"]), 0, None, None)
    names = ["new", "new/folder", "new/folder/config.json", "new/folder/model.safetensors"]
    t.expect("init: files", t.left(), names)
    before = os.stat(os.path.join(t.out, "new/folder/model.safetensors"))
    process = t.start([tool, "init", large, "-o", "new/folder"])
    t.expect("init again: is writing", bool(wait_until(lambda: written_bytes(process) > 8 << 20)), True)
    interrupt("init again", process, "SIGINT", names)
    t.expect("init again: the same file", os.stat(os.path.join(t.out, "new/folder/model.safetensors")).st_ino, before.st_ino)
    t.expect("init, killed at the first name", (t.run([tool, "init", model, "-o", "other"], rules=[("linkat", None, None)])[0], t.left()),
             (KILLED, names + ["other"]))


def test_run():
    """attune-run: a call that writes a file, and one that takes long."""
    run = [tool, "run", os.path.join(model, "toy.so"), "--input", os.path.join(model, "good", "inputs.safetensors"), "--output",
           "out.safetensors"]
    t.expect("killed in the first write", (t.run(run, rules=[("pwrite64", None, None)])[0], t.left()), (KILLED, []))
    t.expect("killed before the name", (t.run(run, rules=[("linkat", None, None)])[0], t.left()), (KILLED, []))
    t.expect("named, killed before the name", (t.run(run, rules=[NO_UNNAMED_FILES, ("rename", None, None)])[0],
                                               len(temporaries(t.left(), "out.safetensors"))), (KILLED, 1))
    t.expect_end("afterwards", t.run(run), 0, None, ["out.safetensors"])
    t.expect_end("replaced", t.run(run), 0, None, ["out.safetensors"])
    t.expect_end("replaced, named", t.run(run, rules=[NO_UNNAMED_FILES]), 0, None, ["out.safetensors"])
    t.expect("killed while replacing", (t.run(run, rules=[("rename", None, None)])[0], len(t.left())), (KILLED, 2))
    t.expect_end("afterwards again", t.run(run), 0, None, ["out.safetensors"])
    t.clear()
    bench = [tool, "bench", os.path.join(model, "toy.so"), "--length=3", "--batch=1000", "--repeat=1000000"]
    maps = lambda process: open(f"/proc/{process.pid}/maps").read()
    for name in SIGNALS:
        process = t.start(bench)
        wait_until(lambda: "toy.weights" in maps(process))
        interrupt("bench", process, name)
    ignored = t.start(bench, ignored=[signal.SIGINT])
    wait_until(lambda: "toy.weights" in maps(ignored))
    ignored.send_signal(signal.SIGINT)
    interrupt("bench that ignores SIGINT", ignored, "SIGTERM")
    # The output has no reader: the tool ends as usual, without a message.
    reader, writer = os.pipe()
    os.close(reader)
    t.expect_end("closed pipe", t.run([tool, "inspect", os.path.join(model, "toy.so")], stdout=writer), -signal.SIGPIPE, None)
    t.expect_end("closed pipe, ignored", t.run([tool, "inspect", os.path.join(model, "toy.so")], stdout=writer, ignored=[signal.SIGPIPE]),
                 1, "cannot write to standard output")


{"compile": test_compile, "cache": test_cache, "subprocesses": test_subprocesses, "init": test_init, "run": test_run}[subject]()
t.report()

# ===- cross.py - Compiled models on emulated machines ---------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# cross.py ARCH RUNTIME_SOURCE RUNTIME_LIBRARY DIR [--FLAG=VALUE…] CPU[/QEMU_CPU[/REFUSAL]]… -- CASE…: builds the
# runtime for ARCH the way its README says, compiles each case for each CPU of ARCH ("default" is none named) and for
# x86-64-v3, runs it on the emulated CPU with one and three threads, and compares the bytes of all outputs with those of
# x86; or expects the runtime to refuse the first case with a message that has REFUSAL. The x86 object runs in the same
# small program; golden.test compares what it computes with the expected outputs. The C compiler is ARCH-linux-gnu-gcc,
# $ATTUNE_CROSS_CXX_ARCH the C++ compiler for the runtime.

import os
import subprocess
import sys

import models

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs", "cross-run.c")
THREADS = ("1", "3")


def run(*command):
    # Shows standard error only of failures, since the emulator prints warnings.
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"exit {done.returncode}: {' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def build_runtime(source, work, *flags):
    """Returns the static runtime for another machine, from runtime/ alone."""
    run("cmake", "-S", source, "-B", work, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", *flags)
    run("cmake", "--build", work, "--target", "attune_runtime")
    return os.path.join(work, "lib", "libattune_runtime.a")


def plain_inputs(case, work):
    """Returns the arguments of cross-run for the case's inputs."""
    arguments = []
    for name, (dtype, shape, data) in models.load(os.path.join(case, "inputs.safetensors")).items():
        path = os.path.join(work, name + ".raw")
        with open(path, "wb") as f:
            f.write(data)
        arguments += [name, dtype.lower(), "x".join(map(str, shape)), path]
    return arguments


def build(case, stem, flags, link):
    """Compiles the case to STEM.o and links it to the program STEM."""
    inputs = ",".join(f"{n}:{len(s)}" for n, (_, s, _) in models.load(os.path.join(case, "inputs.safetensors")).items())
    run("attune", "compile", case, "-o", stem + ".o", "--name=cross", "--inputs=" + inputs, *flags)
    run(*link, "-o", stem, stem + ".o")


def outputs_of(case, stem, start):
    """Returns the names and bytes of all outputs for each number of threads."""
    found = []
    for threads in THREADS:
        listed = run(*start, stem, stem + ".weights", threads, stem + ".out", *plain_inputs(case, os.path.dirname(stem)))
        with open(stem + ".out", "rb") as f:
            found.append((listed, f.read()))
    return found


def check_refusal(stem, start, words):
    done = subprocess.run([*start, stem, stem + ".weights", "1", stem + ".out"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)
    if done.returncode != 1 or words not in done.stdout:
        sys.exit(f"expected a refusal with '{words}', got exit {done.returncode}: {done.stdout}")
    print(done.stdout.strip())


def main(arch, source, library, work, *rest):
    split = rest.index("--")
    flags = [word for word in rest[:split] if word.startswith("--")]
    cpus = [word for word in rest[:split] if not word.startswith("--")]
    os.makedirs(work)
    prefix, cxx = f"{arch}-linux-gnu-", os.environ["ATTUNE_CROSS_CXX_" + arch].split()
    # Without a C++ library for the machine a C++ program cannot be linked; the runtime needs none.
    foreign = build_runtime(source, os.path.join(work, "runtime"), "-DCMAKE_SYSTEM_NAME=Linux", "-DCMAKE_SYSTEM_PROCESSOR=" + arch,
                            "-DCMAKE_C_COMPILER=" + prefix + "gcc", "-DCMAKE_CXX_COMPILER=" + cxx[0],
                            "-DCMAKE_CXX_FLAGS=" + " ".join(cxx[1:]),
                            "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY")
    program = ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-I", os.path.join(source, "include"), SOURCE]
    libraries = ["-lpthread", "-lm"]
    for case in rest[split + 1:]:
        name = os.path.basename(case)
        stem = os.path.join(work, name + "-x86")
        build(case, stem, ["--cpu=x86-64-v3", *flags], ["cc", *program, library, *libraries])
        expected = outputs_of(case, stem, [])
        for number, words in enumerate(cpus):
            cpu, emulated, refusal = (words.split("/") + ["", ""])[:3]
            stem, start = os.path.join(work, f"{name}-{number}"), ["qemu-" + arch] + (["-cpu", emulated] if emulated else [])
            build(case, stem, ["--triple=" + arch + "-linux-gnu", *flags] + (["--cpu=" + cpu] if cpu != "default" else []),
                  [prefix + "gcc", "-static", *program, foreign, *libraries])
            if refusal:
                check_refusal(stem, start, refusal)
                continue
            for threads, want, have in zip(THREADS, expected, outputs_of(case, stem, start)):
                if have != want:
                    sys.exit(f"{name} on {cpu} with {threads} threads: other bytes than on x86-64-v3\n{want[0]}{have[0]}")
            print(f"{name} on {arch} {cpu}: {len(expected[0][1])} bytes as on x86-64-v3")


if __name__ == "__main__":
    main(*sys.argv[1:])

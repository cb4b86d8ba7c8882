# ===- lit.cfg.py - How the tests are found and what they may use ----------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Substitutions beside lit's own. Do not put any of them, nor %s or %t, inside quotes: they bring their own when a path has
# a space.
#   %fixtures           test/fixtures, the golden model folders
#   %examples           examples/
#   %source_root        the repository
#   %cc %cxx            the compilers of this build, with its sanitizer flags
#   %plain_cc %plain_cxx %sanitizer_flags    these one by one, for CC and CFLAGS of a Makefile; no paths are in the flags
#   %runtime_include    folder of attune/runtime.h           %runtime_lib   the static runtime library
#   %python             a Python 3 (standard library only)    %integration   test/Integration
#   %mlir_lib           folder of mlir-runner's libraries
#   %{features}         the features below that this machine has, separated by commas
#   %fake_cuda          runs the following command with the fake NVIDIA driver of test/FakeCuda
#   %local_ranks        the transport of test/Ranks, which connects ranks without MPI
#   %mpirun_openmpi     mpirun of Open MPI with the flags that root and few CPUs need           %mpirun_mpich     that of MPICH
#
# Features for REQUIRES: avx2, avx512, avx512-dots (bf16 and VNNI), avxvnni, amx (this CPU), cuda (a GPU that answers),
# ptxas (NVIDIA's assembler), compiler, nvvm, halide (parts of this build), numpy, asan, shared-linker, pkg-config (with
# CMake), debian (the tools for a Debian package), cross-aarch64 and cross-riscv64 (qemu-user and compilers for that
# machine), mpi (a transport of this build and its mpirun), openmpi, mpich (this one), hosts (network namespaces, for root), gdb,
# chromium, valgrind, fuzzer (libFuzzer and its sanitizers), long (sweeps of many models and minutes of random inputs,
# enabled by `--param long=1` and by the target check-attune-all). Tests of features that a machine lacks are reported as
# unsupported, never as passed.

import glob
import os
import shlex
import shutil
import subprocess

import lit.formats
import lit.TestRunner
import lit.util

config.name = "attune"
config.test_format = lit.formats.ShTest(False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["fixtures", "lib", "Inputs", "CMakeLists.txt", "lit.cfg.py", "lit.site.cfg.py"]
config.test_source_root = os.path.dirname(os.path.abspath(__file__))
config.test_exec_root = os.path.join(config.attune_binary_dir, "test")


def quote_paths_with_spaces():
    """Lit pastes %s, %t and the like into the command as they are; a checkout in a folder with a space needs them quoted."""
    plain = lit.TestRunner.getDefaultSubstitutions

    def quoted(test, *args, **kwargs):
        own = len(test.config.substitutions)
        found = plain(test, *args, **kwargs)
        return found[:own] + [(k, shlex.quote(v) if " " in v else v) for k, v in found[own:]]

    lit.TestRunner.getDefaultSubstitutions = quoted


if " " in config.test_source_root + config.test_exec_root:
    quote_paths_with_spaces()

# ---------------------------------------------------------------- tools and places

config.environment["PATH"] = os.pathsep.join(
    [os.path.join(config.attune_binary_dir, "bin"), config.llvm_tools_dir, os.environ.get("PATH", "")]
)
# The compiled models that `run` and `check` cache belong to this test run; those of earlier runs are removed.
caches = os.path.join(config.test_exec_root, "cache")
for run in os.listdir(caches) if os.path.isdir(caches) else []:
    if not os.path.exists(os.path.join("/proc", run)):
        shutil.rmtree(os.path.join(caches, run), ignore_errors=True)
config.environment["XDG_CACHE_HOME"] = os.path.join(caches, str(os.getpid()))
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH"):
    if name in os.environ:
        config.environment[name] = os.environ[name]


def substitute(name, *words):
    config.substitutions.append((name + r"\b", " ".join(shlex.quote(w) for w in words if w)))


source = config.attune_source_dir
sanitize = shlex.split(config.sanitizer_flags)
substitute("%fixtures", os.path.join(source, "test", "fixtures"))
substitute("%integration", os.path.join(source, "test", "Integration"))
substitute("%examples", os.path.join(source, "examples"))
substitute("%source_root", source)
substitute("%binary_root", config.attune_binary_dir)
substitute("%cc", config.cc, *sanitize)
substitute("%cxx", config.cxx, *sanitize)
substitute("%plain_cc", config.cc)
substitute("%plain_cxx", config.cxx)
substitute("%sanitizer_flags", *sanitize)
substitute("%runtime_include", os.path.join(source, "runtime", "include"))
substitute("%runtime_lib", config.attune_runtime_lib)
substitute("%python", config.python)
substitute("%fake_cuda", "env", "LD_LIBRARY_PATH=" + os.path.join(config.attune_binary_dir, "lib", "fake-cuda"))
substitute("%local_ranks", os.path.join(config.attune_binary_dir, "lib", "libattune_local_ranks.so"))
substitute("%hosts", os.path.join(config.attune_binary_dir, "bin", "attune-test-hosts"))
substitute("%mpirun_openmpi", "mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none",
           "--mca", "mpi_yield_when_idle", "1")
substitute("%mpirun_mpich", "mpirun.mpich")
substitute("%mlir_lib", os.path.join(os.path.dirname(config.llvm_tools_dir), "lib"))

# ---------------------------------------------------------------- features


def cpu_flags():
    try:
        with open("/proc/cpuinfo") as f:
            return next((set(line.split()) for line in f if line.startswith("flags")), set())
    except OSError:
        return set()


def succeeds(*command):
    try:
        return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


if lit_config.params.get("long"):
    config.available_features.add("long")
# A driver in Python runs some of its cases by default, and all of them in long mode.
substitute("%all", *(["--all"] if "long" in config.available_features else []))
flags = cpu_flags()
if {"avx2", "fma", "bmi2"} <= flags:
    config.available_features.add("avx2")
if {"avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512cd"} <= flags:
    config.available_features.add("avx512")
if {"avx512_bf16", "avx512_vnni"} <= flags:
    config.available_features.add("avx512-dots")
if "avx_vnni" in flags:
    config.available_features.add("avxvnni")
if {"amx_tile", "amx_bf16", "amx_int8"} <= flags:
    config.available_features.add("amx")


def find_cross_compiler(arch):
    """Returns a command that compiles the runtime's C++ for |arch|, or None without one, a C compiler and an emulator. The
    runtime uses no C++ library, so Clang with this machine's headers suffices if the cross compiler is for C alone."""
    folder = os.path.join(config.test_exec_root, "cross-" + arch)
    os.makedirs(folder, exist_ok=True)
    program, main = os.path.join(folder, "main"), os.path.join(folder, "main.c")
    with open(main, "w") as f:
        f.write("int main(void) { return 0; }\n")
    with open(os.path.join(folder, "runtime.cpp"), "w") as f:
        f.write("#include <atomic>\n#include <cstring>\n#include <new>\n")
    if not succeeds(arch + "-linux-gnu-gcc", "-static", main, "-o", program) or not succeeds("qemu-" + arch, program):
        return None
    headers = [d for pattern in ("/usr/include/c++/*", "/usr/include/x86_64-linux-gnu/c++/*") for d in sorted(glob.glob(pattern))[-1:]]
    clang = [word for d in headers for word in ("-isystem", d)]
    for command in ([arch + "-linux-gnu-g++"], ["clang++-22", f"--target={arch}-linux-gnu", *clang],
                    ["clang++", f"--target={arch}-linux-gnu", *clang]):
        if succeeds(*command, "-fsyntax-only", os.path.join(folder, "runtime.cpp")):
            return " ".join(command)
    return None


for mpi, flags in (("openmpi", ["--allow-run-as-root"]), ("mpich", [])):
    library = os.path.join(config.attune_binary_dir, "lib", "libattune_mpi_" + mpi + ".so")
    if os.path.exists(library) and succeeds("mpirun." + mpi, *flags, "-n", "1", "true"):
        config.available_features.update({"mpi", mpi})
if succeeds(os.path.join(config.attune_binary_dir, "bin", "attune-test-hosts"), "1", "1", "0", "true"):
    config.available_features.add("hosts")

for arch in ("aarch64", "riscv64"):
    compiler = shutil.which("cmake") and shutil.which("ninja") and find_cross_compiler(arch)
    if compiler:
        config.available_features.add("cross-" + arch)
        config.environment["ATTUNE_CROSS_CXX_" + arch] = compiler
if shutil.which("ptxas"):
    config.available_features.add("ptxas")
if succeeds("nvidia-smi", "-L"):
    config.available_features.add("cuda")
config.available_features.update(config.parts)
if succeeds(config.python, "-c", "import numpy"):
    config.available_features.add("numpy")
if sanitize:
    config.available_features.add("asan")
    # Allocators and containers of LLVM's headers poison memory where our code, built with the sanitizer, includes them.
    # LLVM's packaged library, built without it, uses such memory without unpoisoning it.
    config.environment.setdefault("ASAN_OPTIONS", "allow_user_poisoning=0:detect_container_overflow=0")
if shutil.which("gdb"):
    config.available_features.add("gdb")
if any(shutil.which(name) for name in ("chromium", "chromium-browser")):
    config.available_features.add("chromium")
if shutil.which("valgrind"):
    config.available_features.add("valgrind")
if shutil.which("pkg-config") and shutil.which("cmake") and shutil.which("readelf"):
    config.available_features.add("pkg-config")
if all(shutil.which(c) for c in ("cpack", "dpkg-deb", "dpkg-shlibdeps", "file", "strip")):
    config.available_features.add("debian")
if any(shutil.which(c, path=config.environment["PATH"]) for c in ("ld.lld", "cc")):
    config.available_features.add("shared-linker")

# For scripts that skip tests this machine cannot run.
config.substitutions.append(("%{features}", ",".join(sorted(config.available_features))))

# ===- package.py - Install Attune and build an outside project with it ----===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""package.py install|deb BUILD SOURCE MODEL CC CXX DIR [--all]

Installs the build into a prefix below DIR, or makes the Debian package and unpacks it there, and moves that prefix.
Builds Inputs/ against it by CMake and by pkg-config, static and shared, in C and C++; runs the programs, also from where
that project installs them, and compares their outputs. Builds an installed example by its Makefile with a model made from
an installed configuration; with --all, all those of C and C++, and compiles the model for pkg-config anew. Prints "ok: STEP"
for each step; exits with 1 at the first that fails."""

import glob
import gzip
import os
import shlex
import shutil
import subprocess
import sys

kind, build, source, model, cc, cxx, work = sys.argv[1:8]
everything = "--all" in sys.argv[8:]
inputs = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs")


def run(*command, **kwargs):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **kwargs)
    if result.returncode:
        sys.exit("FAIL: %s\n%s" % (" ".join(command), result.stdout))
    return result.stdout


def need(condition, what):
    if not condition:
        sys.exit("FAIL: " + what)


def install():
    """Installs below DIR/first and moves that to DIR/second; returns the prefix."""
    first, second = os.path.join(work, "first"), os.path.join(work, "second")
    if kind == "install":
        run("cmake", "--install", build, "--prefix", first)
        os.rename(first, second)
        return second
    # By default CPack writes beside the build; -B makes it write below DIR.
    run("cpack", "-G", "DEB", "--config", os.path.join(build, "CPackConfig.cmake"), "-B", os.path.join(work, "cpack"), cwd=build)
    packages = glob.glob(os.path.join(work, "cpack", "*.deb"))
    need(len(packages) == 1, "expected one package, got %s" % packages)
    check_control(packages[0])
    run("dpkg-deb", "-x", packages[0], second)
    return os.path.join(second, "usr")


def check_control(package):
    fields = run("dpkg-deb", "-f", package, "Package", "Architecture", "Version")
    depends, recommends = (run("dpkg-deb", "-f", package, field).lower() for field in ("Depends", "Recommends"))
    need("Package: attune" in fields, "the package's name: " + fields)
    # Everything the tools load must come from a package that is named; LLVM and MLIR are the ones that are not on every
    # system. dpkg-shlibdeps may omit libllvm, on which libmlir depends.
    for library in ("libc6", "libstdc++6", "libmlir"):
        need(library in depends, "Depends lacks %s: %s" % (library, depends))
    # One tool needs Halide, for one flag.
    has_halide = os.path.exists(os.path.join(build, "bin", "attune-halide-gen"))
    need("halide" not in depends and ("libhalide" in recommends) == has_halide, "Halide: depends %s, recommends %s" % (depends, recommends))
    need("libc6-dev" in recommends, "Recommends lacks libc6-dev: " + recommends)
    print("ok: control")


def check_contents(prefix):
    """Checks that no file names the source or the build folder, and that all files of the package are there."""
    forbidden = [os.path.abspath(p).encode() for p in (build, source)]
    names = []
    for folder, _, files in os.walk(prefix):
        for name in files:
            path = os.path.join(folder, name)
            names.append(os.path.relpath(path, prefix))
            if os.path.islink(path):
                need(not os.path.isabs(os.readlink(path)), "absolute link " + path)
                continue
            data = open(path, "rb").read()
            data = gzip.decompress(data) if name.endswith(".gz") else data
            for text in forbidden:
                need(text not in data, "'%s' names '%s'" % (path, text.decode()))
    for part in ("bin/attune", "bin/attune-run", "bin/attune-opt", "include/attune/runtime.h", "include/attune/runtime.hpp",
                 "include/attune/abi.h",
                 "libattune_runtime.a", "libattune_runtime.so", "AttuneConfig.cmake", "AttuneAddModel.cmake", "pkgconfig/attune.pc",
                 "doc/attune/embed.md", "doc/attune/reference/XfmrDialect.md", "doc/attune/reference/XfmrPasses.md",
                 "doc/attune/examples/hello/Makefile",
                 "share/attune/configs/bert-tiny/config.json", "share/attune/configs/gpt2-tiny/config.json", "man1/attune.1",
                 "man1/attune-run.1", "man1/attune-opt.1", "bash-completion/completions/attune"):
        need(any(part in name for name in names), "%s is not installed: %s" % (part, names))
    print("ok: contents")


def library_folder(prefix):
    return os.path.dirname(glob.glob(os.path.join(prefix, "lib", "**", "libattune_runtime.a"), recursive=True)[0])


def build_by_cmake(prefix):
    out = os.path.join(work, "by-cmake")
    run("cmake", "-S", inputs, "-B", out, "-DCMAKE_PREFIX_PATH=" + prefix, "-DMODEL=" + model, "-DCMAKE_C_COMPILER=" + cc,
        "-DCMAKE_CXX_COMPILER=" + cxx)
    run("cmake", "--build", out)
    check_weights(out)
    return [os.path.join(out, "bin", name) for name in ("static-c", "static-cpp", "shared-c", "shared-cpp")], out


def check_weights(out):
    """Programs find their weights in folders of other names and where they are installed; a program without says where it looked."""
    prefix = os.path.join(work, "installed")
    run("cmake", "--install", out, "--prefix", prefix)
    installed = os.path.join(prefix, "programs")
    for program in (os.path.join(out, "nested", "elsewhere", "indirect"), os.path.join(installed, "static-c"),
                    os.path.join(installed, "static-cpp")):
        need("last_hidden_state" in run(program), program)
    weights = os.path.join(installed, "model.weights")
    os.remove(weights)
    failed = subprocess.run([os.path.join(installed, "static-c")], stderr=subprocess.PIPE, text=True)
    for text in ("ATTUNE_NOT_FOUND", "'%s' (searched: model.weights, *.weights)" % os.path.realpath(installed), "weights_path"):
        need(failed.returncode == 1 and text in failed.stderr, "'%s' is not in: %s" % (text, failed.stderr))
    # A second build does nothing. A build with new weights copies them.
    need("Weights beside" not in run("cmake", "--build", out), "weights are copied twice")
    os.utime(os.path.join(out, "model.weights"))
    need("Weights beside" in run("cmake", "--build", out), "new weights are not copied")
    print("ok: weights")


def make_examples(prefix):
    """Builds installed examples by their own makefiles, and runs those with arguments below."""
    attune, examples = os.path.join(prefix, "bin", "attune"), os.path.join(prefix, "share", "doc", "attune", "examples")
    bert, gpt2 = (os.path.join(work, name) for name in ("bert", "gpt2"))
    for name, folder in (("bert-tiny", bert), ("gpt2-tiny", gpt2))[:None if everything else 1]:
        run(attune, "init", os.path.join(prefix, "share", "attune", "configs", name), "-o", folder)
    for name, program, folder, arguments in (
        ("hello", "terse", bert, ["8", "1"]),
        ("complete", "complete", gpt2, ["4", "464", "3290"]),
        ("embed", "embed", bert, None),
        ("translate", "translate", os.path.join(source, "test", "fixtures", "marian_beam4"), None),
    )[:None if everything else 1]:
        out = os.path.join(work, "examples", name)
        # Make does not support targets with a space in their path.
        run("make", "-C", os.path.join(examples, name), "MODEL=" + folder, "OUT=" + os.path.relpath(out, os.path.join(examples, name)),
            "CC=" + cc, "CXX=" + cxx)
        need(os.path.exists(os.path.join(out, program)), "no " + program)
        if arguments:
            need(run(os.path.join(out, program), *arguments), program + " prints nothing")
    print("ok: examples")


def build_by_pkg_config(prefix):
    out = os.path.join(work, "by-pkg-config")
    os.mkdir(out)
    if everything:
        run(os.path.join(prefix, "bin", "attune"), "compile", model, "-o", os.path.join(out, "model.o"), "--limit", "length=16")
    else:
        for name in ("model.o", "model.h", "model.weights"):
            shutil.copy(os.path.join(work, "by-cmake", name), out)
    environment = dict(os.environ, PKG_CONFIG_PATH=os.path.join(library_folder(prefix), "pkgconfig"))
    programs = []
    for package in ("attune", "attune-static"):
        flags = shlex.split(run("pkg-config", "--cflags", "--libs", package, env=environment))
        for compiler, language, standard in ((cc, "c", "-std=c11"), (cxx, "cpp", "-std=c++17")):
            programs.append(os.path.join(out, package + "-" + language))
            run(compiler, standard, "-Wall", "-Wextra", "-Werror", os.path.join(inputs, "outside." + language),
                os.path.join(out, "model.o"), "-I" + out,
                *flags, "-o", programs[-1])
    return programs, out


prefix = install()
print("ok: " + kind)
check_contents(prefix)
if kind == "install":
    make_examples(prefix)
environment = dict(os.environ, LD_LIBRARY_PATH=library_folder(prefix))
printed = set()
for programs, folder in (build_by_cmake(prefix), build_by_pkg_config(prefix)):
    for program in programs:
        text = run(program, env=environment)
        # The program also accepts the path of the weights.
        need(text == run(program, os.path.join(folder, "model.weights"), env=environment), "two runs of " + program)
        printed.add(text)
        shared = "libattune_runtime.so.0" in run("readelf", "-d", program)
        need(shared == ("static" not in os.path.basename(program)), program + " links the other library")
    print("ok: " + os.path.basename(folder))
need(len(printed) == 1 and "last_hidden_state" in next(iter(printed)), "the programs differ: %s" % printed)
print("ok: %d programs agree" % 8)

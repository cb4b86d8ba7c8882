# ===- options.py - Common flags of the benchmark commands -----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import os
import sys

from support.linear import DEEP
from support.models import ROOT, Models


def fixture(name):
    """Returns the path of the folder |name| of test/fixtures."""
    return os.path.join(ROOT, "test", "fixtures", name)


def parser(doc, rounds, config="bert_base_synth"):
    """Returns a parser with the common flags; |config| is a folder of test/fixtures, None if it depends on the row."""
    result = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    result.add_argument("--threads", default="1,2", help="numbers of threads, comma separated (default: %(default)s)")
    result.add_argument("--rounds", type=int, default=rounds, help="looks at each figure (default: %(default)s)")
    result.add_argument("--config", default=config and fixture(config), help="folder with the config.json")
    result.add_argument("--deep", type=int, default=DEEP,
                        help="layers of the model whose matrices are read from memory (default: %(default)s)")
    result.add_argument("--build", default=os.environ.get("ATTUNE_BUILD_DIR", os.path.join(ROOT, "build")), help="build tree")
    result.add_argument("--work", help="where models are kept (default: bench-work/ in the build tree)")
    result.add_argument("--cpu", default="native", help="CPU to compile for")
    result.add_argument("--markdown", action="store_true", help="a Markdown table")
    result.add_argument("--json", action="store_true", help="one JSON object")
    return result


def add_peer(parser):
    """Adds the flags of comparisons with onnxruntime."""
    parser.add_argument("--onnxruntime", default=os.environ.get("ATTUNE_ONNXRUNTIME"), help="libonnxruntime.so, or a folder with it")
    parser.add_argument("--no-outputs", dest="outputs", action="store_false", help="do not compare outputs")
    add_blocks(parser)


def add_blocks(parser):
    """Adds the flags of commands that time several processes in turn."""
    parser.add_argument("--seconds", type=float, default=0.6, help="length of a block, at least two calls (default: %(default)s)")
    parser.add_argument("--attempts", type=int, default=4, help="how often a block that others disturb is tried (default: %(default)s)")


def find_onnxruntime(path):
    """Returns the library at a path, or in a folder of an npm package."""
    if not path:
        print("onnxruntime: not given (--onnxruntime PATH or ATTUNE_ONNXRUNTIME); ours is measured alone", file=sys.stderr)
        return None
    if os.path.isfile(path):
        return os.path.abspath(path)
    machine = {"x86_64": "x64", "aarch64": "arm64"}.get(os.uname().machine, "")
    for folder, _, names in os.walk(path):
        for name in sorted(names):
            if name.startswith("libonnxruntime.so") and f"linux/{machine}" in folder:
                return os.path.abspath(os.path.join(folder, name))
    sys.exit(f"bench: error: {path}: expected libonnxruntime.so or a folder that holds it")


def models(options, kind=Models, **arguments):
    """Returns the models of these options; sets options.work."""
    options.work = options.work or os.path.join(options.build, "bench-work")
    os.makedirs(options.work, exist_ok=True)
    return kind(options.build, options.work, options.config, options.cpu, **arguments)


def thread_counts(options):
    """Returns the requested numbers of threads that the CPUs of this process allow."""
    available = len(os.sched_getaffinity(0))
    for threads in map(int, options.threads.split(",")):
        if threads <= available:
            yield threads
        else:
            print(f"skipped: {threads} threads on {available} CPUs", file=sys.stderr)


def cpu_name():
    with open("/proc/cpuinfo") as f:
        return next((line.split(":", 1)[1].strip() for line in f if line.startswith("model name")), "unknown CPU")

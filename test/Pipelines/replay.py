# ===- replay.py - The dump of each phase gives the next one ----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# replay.py MODEL DIR FLAG…: compiles MODEL with FLAG…, dumping the phases up to `target` to DIR, and lowers each dump
# with attune-opt and no option. The result must be the next dump, bit for bit.

import filecmp
import os
import subprocess
import sys

PHASES = ["import", "dialect", "linalg", "tiled", "kernels", "bufferized", "vector", "target"]


def main(model, folder, *flags):
    tools = "-emulated" if "--gpu=emulator" in flags else ""
    subprocess.run(["attune" + tools, "compile", model, *flags, "--compile-to=target", f"--dump-phases={folder}", "-o",
                    os.path.join(folder, "last.mlir")], check=True)
    dumps = [os.path.join(folder, f"{number:02}-{phase}.mlir") for number, phase in enumerate(PHASES, 1)]
    replayed = os.path.join(folder, "replayed.mlir")
    for before, after, phase in zip(dumps, dumps[1:], PHASES[1:]):
        subprocess.run(["attune-opt" + tools, before, f"--attune-to-{phase}", "-o", replayed], check=True)
        if not filecmp.cmp(replayed, after, shallow=False):
            sys.exit(f"{' '.join(flags)}: attune-opt {before} --attune-to-{phase} differs from {after}")


if __name__ == "__main__":
    main(*sys.argv[1:])

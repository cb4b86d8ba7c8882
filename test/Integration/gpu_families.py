#!/usr/bin/env python3
"""Models compile for GPUs: kernels for every architecture in each type of products.

    gpu_families.py FOLDER...      with GPUs and types of ATTUNE_GPUS (sm_80,sm_90a) and ATTUNE_DTYPES (f32,bf16,f16)

Without an assembler: `ptxas.test` asks it. Prints a line per folder; exit 1 names what fails.
"""
import os
import subprocess
import sys


def main():
    gpus, dtypes = os.environ.get("ATTUNE_GPUS", "sm_80,sm_90a"), os.environ.get("ATTUNE_DTYPES", "f32,bf16,f16").split(",")
    failures = 0
    for folder in sys.argv[1:]:
        for dtype in dtypes:
            command = ["attune", "compile", folder, "--target=cuda", "--gpu=" + gpus, "--dtype=" + dtype, "--compile-to=llvm", "-o", "-"]
            done = subprocess.run(command, env={**os.environ, "ATTUNE_PTXAS": ""}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                  text=True)
            if done.returncode != 0:
                failures += 1
                print(f"FAIL {folder} {dtype}: {done.stderr.strip()}")
        print(f"{os.path.basename(folder)}: {', '.join(dtypes)} for {gpus}", flush=True)
    sys.exit(failures != 0)


main()

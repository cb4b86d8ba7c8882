# ===- depth.py - A module of many calls --------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# depth.py DIR COUNT: writes a module whose entry has COUNT calls of two small functions, x + 1 and 3 - x, and a call
# with its result: integers that any other order of the calls, or an omitted one, changes.

import os
import sys

import models

TYPE = "tensor<?x8xf32>"
FUNCTION = """  func.func private @%s(%%x: TYPE) -> TYPE {
    %%c0 = arith.constant 0 : index
    %%rows = tensor.dim %%x, %%c0 : TYPE
    %%k = arith.constant %s : f32
    %%empty = tensor.empty(%%rows) : TYPE
    %%y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                         iterator_types = ["parallel", "parallel"]} ins(%%x : TYPE) outs(%%empty : TYPE) {
    ^bb0(%%in: f32, %%out: f32):
      %%sum = %s : f32
      linalg.yield %%sum : f32
    } -> TYPE
    return %%y : TYPE
  }
"""


def main(work, count):
    rng = models.generator("depth")
    calls = ["less" if rng.randrange(3) == 0 else "more" for _ in range(count)]
    text = 'module attributes {xfmr.model = #xfmr.model<family = "test", architecture = "Deep", limits = {rows = 16 : i64}>} {\n'
    text += FUNCTION % ("more", "1.0", "arith.addf %in, %k") + FUNCTION % ("less", "3.0", "arith.subf %k, %in")
    text += '  func.func @forward(%0: TYPE {xfmr.input = #xfmr.input<"x", [rows, 8]>})\n'
    text += '      -> (TYPE {xfmr.output = #xfmr.output<"y", [rows, 8]>}) attributes {xfmr.entry = #xfmr.entry<"forward">} {\n'
    text += "".join(f"    %{i + 1} = call @{name}(%{i}) : (TYPE) -> TYPE\n" for i, name in enumerate(calls))
    with open(os.path.join(work, "calls.mlir"), "w") as f:
        f.write((text + f"    return %{count} : TYPE\n  }}\n}}\n").replace("TYPE", TYPE))
    given = [float(i) for i in range(24)]
    results = given
    for name in calls:
        results = [x + 1 if name == "more" else 3 - x for x in results]
    models.save(os.path.join(work, "in.safetensors"), {"x": ("F32", [3, 8], given)})
    models.save(os.path.join(work, "expected.safetensors"), {"y": ("F32", [3, 8], results)})


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))

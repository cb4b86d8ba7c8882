# ===- errors.py - Mistakes on the command line and what is said about them ===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""errors.py ATTUNE MODEL DIR [cuda]: runs wrong commands in DIR; prints FAIL for each whose status, message or leftover
files differ from the expected ones."""

import os
import shutil
import subprocess
import sys

attune, model, folder = sys.argv[1:4]
has_cuda = sys.argv[4:] == ["cuda"]
out = os.path.join(folder, "out")
OUT = os.path.join(out, "x.o")
bad = os.path.join(folder, "bad.mlir")
with open(bad, "w") as f:
    f.write("func.func @f() {\n  oops\n}\n")
broken = os.path.join(folder, "broken")
shutil.copytree(model, broken, dirs_exist_ok=True)
with open(os.path.join(broken, "model.safetensors"), "r+b") as f:
    f.truncate(1000)
empty = os.path.join(folder, "empty.mlir")
with open(empty, "w") as f:
    f.write("module {}\n")
tensors = os.path.join(folder, "import.mlir")
subprocess.run([attune, "compile", model, "--compile-to=import", "-o", tensors], check=True)

ENTRY = """func.func @forward(%x: tensor<?x8xf32> {xfmr.input = #xfmr.input<"x", [batch, 8]>}ARGUMENTS)
    -> (tensor<?x8xf32> {xfmr.output = #xfmr.output<"y", [batch, 8]>}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
BODY  return %y : tensor<?x8xf32>
}
"""


def write_ir(name, body, arguments="", before=""):
    """Returns a file with an entry of this body, which begins in its third line."""
    path = os.path.join(folder, name)
    with open(path, "w") as f:
        f.write(before + ENTRY.replace("ARGUMENTS", arguments).replace("BODY", body))
    return path


linear = "  %y = xfmr.linear %x, %w : tensor<?x8xf32>, tensor<8x8xf32>\n"
constant = write_ir("constant.mlir", "  %w = arith.constant dense<1.0> : tensor<8x8xf32>\n" + linear)
given = write_ir("given.mlir", linear, ', %w: tensor<8x8xf32> {xfmr.input = #xfmr.input<"w", [8, 8]>}')
other = write_ir("other.mlir", "  %y = tosa.add %x, %x : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>\n")
far = write_ir("far.mlir", "  %c = arith.constant 7 : index\n  %d = tensor.dim %x, %c : tensor<?x8xf32>\n"
               "  %e = tensor.empty(%d) : tensor<?x8xf32>\n  %y = arith.addf %x, %e : tensor<?x8xf32>\n")
nameless = os.path.join(folder, "nameless.mlir")
with open(nameless, "w") as f:
    f.write('func.func @forward(%x: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {xfmr.entry = #xfmr.entry<"forward">} {\n'
            '  return %x : tensor<?x8xf32>\n}\n')
no_weights = write_ir("no-weights.mlir", "  %w = xfmr.weight_ref @w : tensor<8x8xf32>\n" + linear,
                      before='xfmr.weight @w : tensor<8x8xf32> = #xfmr.tensor<"w" : tensor<8x8xf32>>\n')

compile_ = ["compile", model, "-o", OUT]
# Pairs of arguments and words that the message must contain.
cases = [
    (["comple", model], "unknown command 'comple' (did you mean 'compile'?)"),
    (["frobnicate"], "unknown command 'frobnicate'; attune --help lists the commands"),
    (["compile"], "expected a model"),
    (["compile", model], "expected an output file, -o OUT"),
    (["compile", model, "-o", "-"], "expected an output file, -o OUT"),
    (["compile", model, "other", "-o", OUT], "expected one model"),
    (["compile", os.path.join(folder, "nope"), "-o", OUT], "no such file or folder"),
    (["compile", folder, "-o", OUT], "config.json"),
    (["compile", broken, "-o", OUT], "model.safetensors"),
    (["compile", bad, "-o", OUT], "bad.mlir:2:"),
    (["compile", empty, "-o", OUT], "the module has no function with 'xfmr.entry'"),
    (["compile", constant, "-o", OUT], "constant.mlir:4:8: expects a weight, an xfmr.weight_ref or, "),
    (["compile", constant, "-o", OUT], "but got the result of 'arith.constant'"),
    (["compile", given, "-o", OUT], "but got argument #1 of 'forward'"),
    (["compile", far, "-o", OUT], "far.mlir:4:8: expects a dimension below the rank 2, but got 7"),
    (["compile", other, "-o", OUT],
     "other.mlir:3:8: 'tosa.add' op cannot be compiled: expected ops of the xfmr, linalg, arith, math, tensor and scf dialects"),
    (["compile", nameless, "-o", OUT], "entry 'forward': argument #0: expected 'xfmr.input'"),
    (["compile", no_weights, "-o", OUT], "no-weights.mlir (no --weights given): tensor 'w' is missing, expected shape [8, 8]"),
    (["compile", tensors, "-o", OUT], "tensor 'embeddings.word_embeddings.weight' is missing"),
    (["compile", tensors, "-o", OUT, "--weights", os.path.join(folder, "nope")], "nope"),
    (["compile", tensors, "-o", OUT, "--padding=skip"], "--padding: only for a model folder"),
    (["compile", model, "-o", os.path.join(folder, "nope", "x.o")], "cannot create"),
    (["compile", broken, "--compile-to=import", "-o", os.path.join(folder, "nope", "x.mlir")], "cannot create"),
    (["compile", model, "-o", out], "is a folder"),
    (["compile", model, "-o", os.path.join(out, "x.h")], "would be overwritten"),
    (["compile", model, "-o", os.path.join(out, "x.weights")], "would be overwritten"),
    (["compile", model, "-o"], "-o: expected a value"),
    (["compile", "/dev/zero", "-o", OUT], "'/dev/zero': expected a model folder or IR in the xfmr dialect (.mlir), got a special file"),
    (["run", "/dev/zero", "--ids=1"], "'/dev/zero': expected a model folder or a file, got a special file"),
    (["init", "", "-o", out], "expected one folder with a config.json"),
    (["compile", model, "--cached", "-o", OUT], "--cached: not with -o, -g, --emit, --compile-to, --dump-phases or --remarks"),
    (["compile", model, "--cached", "--emit=shared"], "--cached: not with -o, -g, --emit, --compile-to, --dump-phases or --remarks"),
    (["compile", os.path.join(folder, "nope"), "--cached"], "no such file or folder"),
    (["tokenize", model, "text", "--output=" + OUT], "--output: not with texts or other flags"),
    (["tokenize", bad, "--output=" + OUT], "--output: expected a model folder"),
    (["tokenize", model, "--output=" + OUT], "expected a folder with a tokenizer"),
    (compile_ + ["--emit=exe"], "--emit: expected object, shared, asm, ptx, got 'exe'"),
    (compile_ + ["--emit", "ptx"], "--emit: 'ptx' is not for --target=cpu, expected object, shared or asm"),
    (compile_ + ["--compile-to=end"], "--compile-to: expected import, dialect, linalg"),
    (compile_ + ["--dump-phases", bad], "--dump-phases: cannot create"),
    (compile_ + ["--dump-phases", OUT], "--dump-phases: expected another name than that of the output"),
    (["compile", model, "-o", os.path.join(folder, "no", "x.o"), "--dump-phases", os.path.join(out, "dump")], "no"),
    (compile_ + ["--target=tpu"], "target 'tpu' is not in this build, expected cpu"),
    (compile_ + ["--dtype=f16"], "--dtype=f16: not implemented for --target=cpu, expected f32, bf16 or int8"),
    (compile_ + ["--gpu=sm_80"], "--gpu: not for --target=cpu"),
    (compile_ + ["--cpu=i486x"], "unknown CPU 'i486x' for x86_64"),
    (compile_ + ["--cpu=x86-64-v3,+nonsense"], "expected features like +avx2 or -avx2 behind the name, got '+nonsense'"),
    (compile_ + ["--cpu=x86-64-v3,-fma"], "has no FMA"),
    (compile_ + ["--cpu=native", "--triple=aarch64-linux-gnu"], "--cpu=native: this machine is x86_64, not aarch64; name a CPU"),
    (compile_ + ["--cpu=generic-rv64", "--triple=riscv64-linux-gnu"],
     "has no M extension, which the code needs; the least is generic-rv64,+m,+a,+f,+d,+c"),
    (compile_ + ["--triple=powerpc64le-linux-gnu"], "--triple: expected x86_64, aarch64 or riscv64"),
    (compile_ + ["--cpu=core2"], "CPU 'core2' has no AVX2"),
    (compile_ + ["--triple=nonsense"], "unknown target 'nonsense'"),
    (compile_ + ["--triple=i686-linux-gnu", "--cpu=haswell"], "expected a 64-bit little-endian ELF target"),
    (compile_ + ["--triple=x86_64-windows-msvc"], "expected a 64-bit little-endian ELF target"),
    (compile_ + ["--dtype=f64"], "--dtype: expected f32, bf16, f16, int8, got 'f64'"),
    (compile_ + ["--weights-format=int4"], "--weights-format: expected native, auto, bf16, f16, or int4 or int8 with groups of 16, 32, "
     "64, 128 or 0 (a row) and perhaps :asym, as in int4:32, got 'int4'"),
    (compile_ + ["--weights-format="], "--weights-format: expected a format such as int4:32, got ''"),
    (compile_ + ["--weights-format=int4:32,pooler=auto"], "--weights-format: expected native, bf16, f16, or int4 or int8 with groups"),
    (compile_ + ["--weights-format=int4:32,int8:32"],
     "--weights-format: expected a format without a name once, at the beginning, and PATTERN=FORMAT behind it, got 'int8:32'"),
    (compile_ + ["--weights-format=pooler=int8:32,int4:32"], "expected a format without a name once, at the beginning"),
    (compile_ + ["--weights-format=int4:32,"], "expected a format without a name once, at the beginning"),
    (compile_ + ["--weights-format=int4:32,=int8:32"], "expected a name or a pattern of names before '=', got '=int8:32'"),
    (compile_ + ["--weights-format=int4:32,a..b=int8:32"], "expected a name or a pattern of names before '=', got 'a..b=int8:32'"),
    (compile_ + ["--weights-format=int4:32,[a=int8:32"], "expected a pattern of names before '=': invalid glob pattern"),
    (compile_ + ["--weights-format=a=int4:32,a=int8:32"], "expected each pattern once, got 'a=int8:32'"),
    (compile_ + ["--weights-format=embeddings=int8:32"],
     "expected native, bf16 or f16 for the tables of embeddings, got 'embeddings=int8:32'"),
    (compile_ + ["--weights-format=int4:32,pooler=f16", "--dtype=bf16"],
     "--weights-format=f16: not for --dtype=bf16, whose products have weights of bf16, expected native or --dtype=f32"),
    (compile_ + ["--weights-format=f16", "--cpu=x86-64-v3,-f16c"],
     "--weights-format=f16: not implemented for CPUs without F16C, expected bf16"),
    (compile_ + ["--weights-format=embeddings=f16", "--triple=riscv64-linux-gnu"],
     "--weights-format=f16: not implemented for RISC-V, expected bf16"),
    (compile_ + ["--weights-format=bf16", "--calibrate=" + bad], "--calibrate: expected a format of weights beside it"),
    (compile_ + ["--weights-format=poolr=int8:32"], "--weights-format: 'poolr' matches no weight of a projection, expected parts of a name "
     "such as '"),
    (compile_ + ["--weights-format=lm_head=int8:32"],
     "--weights-format: 'lm_head' matches no weight: no projection of the model has a row for each id of 'input_ids'"),
    (compile_ + ["--weights-format=int4:48"], "got 'int4:48'"),
    (compile_ + ["--weights-format=int4:32:bf16"], "got 'int4:32:bf16'"),
    (compile_ + ["--kernels=hand"], "--kernels: 'hand' is not in this build, expected mlir"),
    (compile_ + ["--padding=some"], "--padding: expected compute, skip, got 'some'"),
    (compile_ + ["--inputs=ids"], "got 'ids'"),
    (compile_ + ["--outputs=all"], "got 'all'"),
    (compile_ + ["--limit=length=x"], "--limit: expected a positive integer after '=', got 'length=x'"),
    (compile_ + ["--limit=width=3"], "--limit: expected batch, length"),
    (compile_ + ["--name=1st"], "--name: expected a C identifier, got '1st'"),
    (compile_ + ["--wights=x"], "unknown flag '--wights'; did you mean '--weights'?"),
    (compile_ + ["-help"], "unknown flag '-help'; --help lists the flags"),
    (compile_ + ["--h"], "unknown flag '--h'; --help lists the flags"),
]
if has_cuda:
    cases += [
        (compile_ + ["--target=cuda", "--kernels=halide"], "--kernels=halide: not for --target=cuda"),
        (compile_ + ["--target=cuda", "--dtype=int8"], "--dtype=int8: not implemented for --target=cuda, expected f32, bf16 or f16"),
        (compile_ + ["--target=cuda", "--weights-format=int4:32"],
         "--weights-format=int4:32: not implemented for products of f32 on --target=cuda, expected --dtype=bf16 or f16"),
        (compile_ + ["--target=cuda", "--gpu=sm_70"], "--gpu: expected sm_80, sm_86, sm_87, sm_89, sm_90, sm_90a, got 'sm_70'"),
        (compile_ + ["--target=cuda", "--gpu=emulator"], "got 'emulator'"),
    ]
else:
    cases.append((compile_ + ["--target=cuda"], "target 'cuda' is not in this build, expected cpu"))

failures = 0
for arguments, words in cases:
    result = subprocess.run([attune] + arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    lines = result.stderr.splitlines()
    left = os.listdir(out)
    problem = (
        result.returncode != 1 and "status %d" % result.returncode
        or (len(lines) != 1 or not lines[0].startswith("attune: error: ")) and "not one line of error: " + result.stderr
        or words not in lines[0] and "expected %r in %r" % (words, lines[0])
        or result.stdout and "output: " + result.stdout
        or left and "left behind: %s" % left
    )
    if problem:
        failures += 1
        print("FAIL:", " ".join(arguments), "->", problem)

none = subprocess.run([attune], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
print("ok: no command" if none.returncode == 1 and none.stderr.startswith("usage:") else "FAIL: no command")
print("ok: %d mistakes" % len(cases) if not failures else "FAIL: %d of %d mistakes" % (failures, len(cases)))

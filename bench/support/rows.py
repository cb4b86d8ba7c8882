# ===- rows.py - The rows of the table -------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The rows of the table: what each one runs and compares.

[DTYPE:]BxL   B sequences of L tokens. f32 and int8 against onnxruntime, bf16 against Attune's f32
halide:BxL    the same in f32, by Halide's kernels against those of Attune's own passes
ragged        8 sequences of 5 to 128 tokens, 40 on average, --padding=skip, against 8 sequences of 40 tokens without
              padding; times are per token that is not padding
linear        matrices of a deep model, one token, weights from memory: share of the read bandwidth
"""
import re

from support import bert_onnx
from support.compare import compare
from support.linear import LinearTimes
from support.models import Unavailable

DEFAULT = "1x8,1x32,1x128,1x512,8x128,ragged,bf16:1x128,int8:1x128,linear"
# Lengths of the sequences if the longest may have 128 tokens; the mean is 40.
RAGGED = (128, 5, 24, 72, 40, 9, 31, 11)
# ONNX forms per dtype, and the optimization that slows some of them down on CPUs.
FORMS = {"f32": ("plain", "attention", "mha"), "int8": ("int8",)}
DISABLE = "SkipLayerNormFusion"


def ours(models, label, shared, file):
    return label, [models.worker, "ours", "--model=" + shared, "--input=" + file]


def onnxruntime(models, form, file, library):
    command = [models.worker, "onnxruntime", "--model=" + bert_onnx.write(models.folder(), form), "--input=" + file, "--library=" + library]
    return "onnxruntime " + form, command + (["--disable=" + DISABLE] if form in ("attention", "mha") else [])


def shape_row(models, name, threads, options):
    match = re.fullmatch(r"(?:(f32|bf16|int8|halide):)?([1-9]\d*)x([1-9]\d*)", name)
    if not match:
        raise Unavailable(f"unknown row '{name}'; expected [f32:|bf16:|int8:|halide:]BxL, ragged or linear")
    kind, batch, length = match.group(1) or "f32", int(match.group(2)), int(match.group(3))
    dtype, kernels = ("f32", kind) if kind == "halide" else (kind, "mlir")
    file = models.input([length] * batch, length)
    own = ours(models, "attune " + kind, models.object(dtype, kernels=kernels), file)
    peers = []
    if kind in ("bf16", "halide"):
        peers.append(ours(models, "attune f32", models.object(), file))
    elif options.library:
        peers += [onnxruntime(models, form, file, options.library) for form in FORMS[dtype]]
    flops = models.flops([length] * batch) if dtype == "f32" else None
    return compare(models.worker, threads, own, peers, options, flops, models.linear_bytes({"f32": 4, "bf16": 2, "int8": 1}[dtype]))


def ragged_row(models, name, threads, options):
    limit = min(128, models.config["max_position_embeddings"])
    lengths = [max(1, n * limit // 128) for n in RAGGED]
    shared = models.object(padding="skip")
    mean = max(1, sum(lengths) // len(lengths))
    own = ours(models, "attune skip, ragged", shared, models.input(lengths, max(lengths)))
    peer = ours(models, f"attune {len(lengths)}x{mean}", models.object(), models.input([mean] * len(lengths), mean))
    options = type(options)(**dict(vars(options), outputs=False))  # other sequences, so nothing to compare
    row = compare(models.worker, threads, own, [peer], options, models.flops(lengths))
    scale = mean * len(lengths) / sum(lengths)  # tokens the peer computes for each of ours
    for key in ("ratio_min", "ratio_median"):
        row[key] /= scale
    row["tokens"] = sum(lengths)
    return row


def linear_row(models, name, threads, options):
    times = LinearTimes(models, threads, options.deep)
    for _ in range(options.rounds):
        times.measure(1)
    kernels = {f"{k}x{n}": {"ms": times.ms(1, k, n), "read_fraction": times.read_fraction(1, k, n)} for k, n in times.layers()}
    return {"kernels": kernels, "machine": {"read_bytes_per_s": times.read}}


def measure(models, name, threads, options):
    """Returns the figures of a row, or {"unavailable": reason}."""
    kind = {"ragged": ragged_row, "linear": linear_row}.get(name, shape_row)
    try:
        row = kind(models, name, threads, options)
    except Unavailable as reason:
        row = {"unavailable": str(reason)}
    return {"row": name, "threads": threads, **row}

# ===- sentence_peers.py - Other ways from sentences to vectors ---------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""sentence_peers.py NAME FOLDER TEXTS THREADS: the process that `sentences` times.

Reads commands from standard input: `go` embeds all lines of TEXTS and answers with the seconds, `vectors FILE` writes
them as an array of numpy. NAME is a backend of sentence-transformers, `onnxruntime`, or `attune:DTYPE`.
"""

import json
import os
import pathlib
import shutil
import sys
import tempfile
import time

os.environ["HF_HUB_OFFLINE"] = os.environ["TRANSFORMERS_OFFLINE"] = "1"
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import numpy  # noqa: E402


def sentence_transformers(folder, backend, threads):
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(threads)
    options = {}
    if backend == "onnx":
        import onnxruntime

        session = onnxruntime.SessionOptions()
        session.intra_op_num_threads = threads
        options["model_kwargs"] = {"session_options": session, "provider": "CPUExecutionProvider", "export": True}
    elif backend == "openvino":
        options["model_kwargs"] = {"ov_config": {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32"}, "export": True}
    model = SentenceTransformer(str(folder), device="cpu", backend=backend, **options)
    return lambda texts: model.encode(texts, batch_size=32, show_progress_bar=False)


def attune_encoder(folder, dtype, threads):
    import attune

    model = attune.SentenceTransformer(folder, threads=threads, progress=False, dtype=dtype)
    return lambda texts: model.encode(texts, batch_size=32)


def onnxruntime_pipeline(folder, threads):
    import onnxruntime
    from support.bert_onnx import write
    from tokenizers import Tokenizer

    scratch = tempfile.mkdtemp()
    for name in ("config.json", "model.safetensors"):
        shutil.copy(pathlib.Path(folder, name), scratch)  # a link would lead out of the folder, which onnxruntime refuses
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(write(scratch, "attention"), options, providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_file(f"{folder}/tokenizer.json")
    tokenizer.enable_truncation(json.loads(pathlib.Path(folder, "sentence_bert_config.json").read_text())["max_seq_length"])
    tokenizer.no_padding()

    def embed(texts):
        encoded = tokenizer.encode_batch_fast(texts)
        order = sorted(range(len(texts)), key=lambda i: -len(encoded[i].ids))
        vectors = None
        for begin in range(0, len(order), 32):
            numbers = order[begin : begin + 32]
            length = len(encoded[numbers[0]].ids)
            ids, mask = (numpy.zeros((len(numbers), length), numpy.int64) for _ in range(2))
            for row, number in enumerate(numbers):
                sequence = encoded[number].ids
                ids[row, : len(sequence)], mask[row, : len(sequence)] = sequence, 1
            [state] = session.run(None, {"input_ids": ids, "attention_mask": mask, "token_type_ids": numpy.zeros_like(ids)})
            mean = numpy.einsum("blh,bl->bh", state, mask.astype(numpy.float32)) / mask.sum(1, keepdims=True)
            if vectors is None:
                vectors = numpy.empty((len(texts), mean.shape[1]), numpy.float32)
            vectors[numbers] = mean / numpy.linalg.norm(mean, axis=1, keepdims=True)
        return vectors

    return embed


def main():
    name, folder, path, threads = sys.argv[1:]
    answers, sys.stdout = os.fdopen(os.dup(1), "w"), sys.stderr
    texts = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
    try:
        kind, _, dtype = name.partition(":")
        if kind == "attune":
            embed = attune_encoder(folder, dtype, int(threads))
        elif kind == "onnxruntime":
            embed = onnxruntime_pipeline(folder, int(threads))
        else:
            embed = sentence_transformers(folder, kind, int(threads))
        embed(texts[:40])
    except Exception as error:
        print("error: " + " ".join(str(error).split())[:160], file=answers, flush=True)
        return
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        begin = time.perf_counter()
        vectors = embed(texts)
        seconds = time.perf_counter() - begin
        if line.startswith("vectors "):
            numpy.save(line.split()[1], vectors)
        print(f"{seconds:.6f}", file=answers, flush=True)


if __name__ == "__main__":
    main()

# ===- generation_side.py - A process that continues texts -----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""generation_side.py SIDE FILE THREADS: loads the language model FILE, a GGUF file, and prints "ready"; then, for each line
of input, {"prompt", "tokens"} in JSON, continues the prompt greedily and prints {"seconds", "tokens", "text"}, or an error.
SIDE is "llama-cpp-python" or "attune:" and flags of the compiler, as in attune:dtype=int8. The time is that of the call: a
text in, a text out."""

import json
import sys
import time


def open_attune(flags, path, threads):
    """Returns a function that continues a prompt by Attune."""
    import attune

    named = dict(flag.split("=", 1) for flag in flags.split(",") if flag)
    model = attune.Model(path, threads=threads, progress=False, **named)

    def run(prompt, tokens):
        [result] = model.generate(prompt, max_new_tokens=tokens, do_sample=False, return_dict_in_generate=True)
        return len(result.ids), result.text

    return run


def open_llama(path, threads):
    """Returns a function that continues a prompt by llama.cpp."""
    import llama_cpp

    model = llama_cpp.Llama(path, n_ctx=1024, n_threads=threads, n_threads_batch=threads, verbose=False)

    def run(prompt, tokens):
        # Forgets the tokens of the call before, which would spare the prompt.
        model.reset()
        made = model.create_completion(prompt, max_tokens=tokens, temperature=0.0, repeat_penalty=1.0)
        return made["usage"]["completion_tokens"], made["choices"][0]["text"]

    return run


def main():
    side, path, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
    try:
        run = open_attune(side.partition(":")[2], path, threads) if side.startswith("attune:") else open_llama(path, threads)
        print("ready", flush=True)
        for line in sys.stdin:
            call = json.loads(line)
            begin = time.perf_counter()
            tokens, text = run(call["prompt"], call["tokens"])
            print(json.dumps({"seconds": time.perf_counter() - begin, "tokens": tokens, "text": text}), flush=True)
    except Exception as error:  # the caller prints it
        print(" ".join(str(error).split()), flush=True)


if __name__ == "__main__":
    main()

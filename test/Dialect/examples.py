#!/usr/bin/env python3
#===- examples.py - Parses the examples of the documentation ---------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# examples.py ROOT FILE.td…: takes the ```mlir blocks out of the descriptions of operations, attributes and passes and
# parses them with attune-opt. Every operation must have an example. A block of operations becomes the body of a
# function whose arguments are the values that the block uses and does not define; their types are those that attune-opt
# asks for. A block of a pass with an ellipsis is an excerpt and is not parsed. Prints a line per failure, and the
# numbers of examples; exits with 1 if one failed.

import os
import re
import subprocess
import sys

SEPARATOR = "\n// -----\n"


class Example:
    def __init__(self, place, text):
        self.place, self.text = place, text
        self.isModule = bool(re.search(r"^ *(func\.func|xfmr\.weight|gpu\.module|module|llvm\.func)\b", text, re.M))
        defined = set(re.findall(r"(%\w+)(?::\w+)?(?=(?:, *%\w+)* *=)", text))
        if self.isModule:
            defined |= set(re.findall(r"(%\w+) *:[^=]*[,)]", text))
        defined |= set(re.findall(r"\^\w+\(([^)]*)\)", text))
        used = [name.split("#")[0] for name in re.findall(r"%\w+", text)]
        self.types = {} if self.isModule else {name: "none" for name in used if name not in defined}
        self.error = None

    def module(self):
        if self.isModule:
            return self.text
        arguments = ", ".join(f"{name}: {type}" for name, type in self.types.items())
        return f"{self.symbols()}func.func @example({arguments}) {{\n{self.text}\nreturn\n}}\n"

    def symbols(self):
        """Declares the symbols that the block names: weights, and bodies of parallel loops."""
        weights = re.findall(r'xfmr\.weight_ref (@[\w".]+) : (tensor<[^>]*>)', self.text)
        bodies = re.findall(r"rt\.parallel_call .*(@\w+)\(.*?\) : (.*)", self.text)
        return "".join(f'xfmr.weight {name} : {type} = #xfmr.tensor<"w" : {type}>\n' for name, type in weights) + "".join(
            f"func.func private {name}({types}, index, index, index)\n" for name, types in bodies
        )

    def learn(self, message):
        """Reads a type from |message|; returns false if it has none."""
        found = re.search(r"use of value '(%\w+)' expects different type than prior uses: '(.*)' vs '(.*)'", message)
        if not found or found.group(1) not in self.types or self.types[found.group(1)] != "none":
            self.error = message
            return False
        self.types[found.group(1)] = found.group(2)
        return True


def readExamples(root, path):
    """Returns the examples of a .td file, and the operations in it that have none."""
    with open(os.path.join(root, path), encoding="utf-8") as file:
        text = file.read()
    examples, bare = [], []
    for definition in re.finditer(r"^def (\w+)(.*?)(?=^def |\Z)", text, re.S | re.M):
        blocks = re.findall(r"```mlir\n(.*?)```", definition.group(2), re.S)
        isOp = bool(re.search(r"^ *:[^{]*Op<\"", definition.group(2)))
        if isOp and not blocks:
            bare.append(f"{path}: {definition.group(1)} has no example")
        for block in blocks:
            if isOp or not re.search(r"…|\.\.\.", block):
                # The IR after the pass follows "// becomes".
                for part in re.split(r"^ *// becomes.*\n", block, flags=re.M):
                    examples.append(Example(f"{path}: {definition.group(1)}", part))
    return examples, bare


def parseAll(examples):
    """Parses |examples| together, until no error says a type any more."""
    left = examples
    while left:
        chunks = [example.module() for example in left]
        starts, line = [], 1
        for chunk in chunks:
            starts.append(line)
            line += (chunk + SEPARATOR).count("\n")
        run = subprocess.run(["attune-opt", "--split-input-file", "-", "-o", os.devnull], input=SEPARATOR.join(chunks), text=True,
                             capture_output=True)
        messages = {}
        for at, message in re.findall(r"^<?[^<>\n:]*>?:(\d+):\d+: error: (.*)$", run.stderr, re.M):
            index = max(i for i, start in enumerate(starts) if start <= int(at))
            messages.setdefault(index, message)
        if run.returncode != 0 and not messages:
            sys.exit(f"attune-opt failed without an error: {run.stderr}")
        left = [example for i, example in enumerate(left) if i in messages and example.learn(messages[i])]


def main():
    root, paths = sys.argv[1], sys.argv[2:]
    examples, failures = [], []
    for path in paths:
        found, bare = readExamples(root, path)
        examples += found
        failures += bare
    parseAll(examples)
    failures += [f"{example.place}: {example.error}\n{example.module()}" for example in examples if example.error]
    for failure in failures:
        print(failure)
    print(f"{len(examples)} examples, {len(failures)} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# ===- full_pipes.py - attune-lsp-server with more to say than a pipe takes ---===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""full_pipes.py: asks attune-lsp-server for an answer of a megabyte, sends it a large change and ends the session, and
reads nothing before all is sent. Prints facts about the answers. Fails after two minutes if the server and its proxy
wait for each other."""
import signal
import sys

import lsp

signal.signal(signal.SIGALRM, lambda *_: sys.exit("the server does not read"))
signal.alarm(120)
server = lsp.start()
document = {"uri": "file:///large.mlir"}
text = "".join(f"func.func private @function_{number:04}() // {'-' * 20}\n" for number in range(6000))
messages = [
    ("initialize", {"processId": None, "rootUri": None,
                    "capabilities": {"textDocument": {"documentSymbol": {"hierarchicalDocumentSymbolSupport": True}}}}, 0),
    ("textDocument/didOpen", {"textDocument": {**document, "languageId": "mlir", "version": 1, "text": text}}, None),
    ("textDocument/documentSymbol", {"textDocument": document}, 1),
    ("textDocument/didChange", {"textDocument": {**document, "version": 2}, "contentChanges": [{"text": text + "\n"}]}, None),
    ("shutdown", None, 2),
    ("exit", None, None),
]
try:
    for message in messages:
        server.stdin.write(lsp.frame(*message))
    server.stdin.close()
    answers = {}
    while (answer := lsp.read(server.stdout))[1]:
        answers[answer[1].get("id")] = answer
    print("symbols:", len(answers[1][1]["result"]) >= 6000, "in more than a megabyte" if answers[1][0] > 1 << 20 else answers[1][0])
    print("shutdown:", answers[2][1]["result"])
    print("exit status:", server.wait())
finally:
    server.kill()

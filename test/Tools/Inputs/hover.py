#!/usr/bin/env python3
# ===- hover.py - The answers of attune-lsp-server to a hover --------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""hover.py FILE PLACE...: opens FILE in attune-lsp-server and prints its answer to a hover at each place, LINE:COLUMN from
0 on or the first occurrence of a word."""
import sys

import lsp

server = lsp.start()


def send(*message):
    server.stdin.write(lsp.frame(*message))
    server.stdin.flush()


def answer(number):
    while message := lsp.read(server.stdout)[1]:
        if message.get("id") == number:
            return message["result"]
    sys.exit("the server ended")


document = {"uri": "file:///hover.mlir"}
send("initialize", {"processId": None, "rootUri": None, "capabilities": {}}, 0)
answer(0)
with open(sys.argv[1], encoding="utf-8") as file:
    text = file.read()
send("textDocument/didOpen", {"textDocument": {**document, "languageId": "mlir", "version": 1, "text": text}})
for number, place in enumerate(sys.argv[2:], 1):
    if place[0].isdigit():
        line, column = map(int, place.split(":"))
    else:
        line = text[:text.index(place)].count("\n")
        column = text.split("\n")[line].index(place)
    send("textDocument/hover", {"textDocument": document, "position": {"line": line, "character": column}}, number)
    result = answer(number)
    print(f"at {place}:", result["contents"]["value"] if result else "nothing")
# After a change to a text that cannot be parsed there is nothing to add.
send("textDocument/didChange", {"textDocument": {**document, "version": 2}, "contentChanges": [{"text": "func.func @"}]})
send("textDocument/hover", {"textDocument": document, "position": {"line": 0, "character": 2}}, 90)
print("after a change:", answer(90))
send("shutdown", None, 91)
answer(91)
send("exit", None)
server.stdin.close()
print("exit status:", server.wait(60))

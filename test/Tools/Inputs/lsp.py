# ===- lsp.py - Messages of the language server protocol ---------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The messages that tests of attune-lsp-server exchange with it."""
import json
import subprocess


def start():
    return subprocess.Popen(["attune-lsp-server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def frame(method, params, number=None):
    """Returns the bytes of a notification or, with |number|, of a request."""
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    if number is not None:
        message["id"] = number
    body = json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def read(stream):
    """Returns the size in bytes and the object of the next message; (0, None) at the end."""
    size = 0
    while (line := stream.readline()) not in (b"\r\n", b""):
        if line.lower().startswith(b"content-length:"):
            size = int(line.split(b":")[1])
    return size, json.loads(stream.read(size)) if size else None

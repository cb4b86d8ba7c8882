# ===- wheel_program.py - What a wheel without the compiler can do ---------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""wheel_program.py DIR [--alone]: prints results of DIR/bert.so and DIR/chat.so. With --alone, checks that the package and
this process have no compiler. scripts/check-python compares what two environments print."""

from __future__ import annotations

import os
import sys

import attune


def check_alone(folder: str) -> None:
    """Checks that nothing compiles."""
    package = os.path.dirname(attune.__file__)
    assert not os.path.exists(os.path.join(package, "bin")) and not os.path.exists(os.path.join(package, "lib"))
    for in_process, expected in ((False, "needs the command 'attune'"), (True, "built without the compiler")):
        try:
            attune.Model(os.path.join(folder, "bert"), in_process=in_process)
        except attune.NotFoundError as error:
            assert expected in str(error), error
        else:
            raise AssertionError("a model was compiled")
    with open("/proc/self/maps") as maps:
        text = maps.read()
    assert "attune" in text and "libLLVM" not in text and "libMLIR" not in text


def main() -> None:
    """Prints the results."""
    folder = sys.argv[1]
    bert = attune.Model(os.path.join(folder, "bert.so"), verify=True)
    for name, value in bert(input_ids=[[101, 7592, 102]]).items():
        print(name, value.shape, value.tobytes().hex()[:400])
    chat = attune.Model(os.path.join(folder, "chat.so"))
    print(chat.generate("The quick brown fox", max_new_tokens=8))
    tokenizer = attune.Tokenizer(os.path.join(folder, "chat.text"))
    print(tokenizer.encode("the dog").ids, tokenizer.decode([5, 6, 7]))
    reply = chat.chat(max_new_tokens=4).send("Hello!")
    print(repr(reply.text), reply.finish, reply.reply_tokens)
    if "--alone" in sys.argv:
        check_alone(folder)


main()

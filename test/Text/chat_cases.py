# ===- chat_cases.py - Chat templates, a construct or two each -------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Renders the templates of Inputs/chat-cases.txt and compares the texts with those of the reference, Inputs/chat-cases.json.

usage: chat_cases.py TOOL        compares
       chat_cases.py --record    writes what the reference gives; needs the environment of scripts/chat-templates

A line of five "=" is between two templates. An error of the reference is null: the tool must fail, too.
"""

import json
import os
import subprocess
import sys

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs")
SPECIAL = [["bos_token", "<s>"]]
VARIABLES = {
    "messages": [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": " Grüße, 世界 🎉 <b> \n"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": {"b": 1, "a": [1.5, None, True]}}}],
            "thinking": "hm",
        },
    ],
    "tools": [
        {
            "type": "function",
            "function": {"name": "f", "parameters": {"type": "object", "properties": {"x": {"type": "string"}}, "required": []}},
        }
    ],
    "l": [3, 1, 2],
    "d": {"b": 1, "a": "x", "C": None},
    "s": "Hello World",
    "e": "",
    "n": 7,
    "f": 2.5,
    "none_value": None,
    "xs": [{"a": 2, "b": {"c": "q"}}, {"a": 1}, {"z": 0}],
}


def read_templates():
    with open(os.path.join(HERE, "chat-cases.txt"), encoding="utf-8", newline="") as file:
        return file.read().split("\n=====\n")


def record():
    import chat_reference

    texts = []
    for template in read_templates():
        expected = chat_reference.render(template, VARIABLES, dict(SPECIAL))
        spans = (
            [[len(expected.text[:b].encode()), len(expected.text[:e].encode())] for b, e in expected.spans]
            if expected.text is not None
            else []
        )
        texts.append({"text": expected.text, "assistant": spans} if spans else expected.text)
        if expected.text is None:
            print(f"{template!r}: {expected.error}")
    with open(os.path.join(HERE, "chat-cases.json"), "w", encoding="utf-8") as file:
        json.dump(texts, file, indent=0)
        file.write("\n")


def main():
    if sys.argv[1] == "--record":
        return record()
    with open(os.path.join(HERE, "chat-cases.json"), encoding="utf-8") as file:
        texts = json.load(file)
    templates = read_templates()
    assert len(texts) == len(templates) > 70, "the texts belong to other templates"
    lines = []
    for template in templates:
        lines += [json.dumps({"template": template, "special": SPECIAL, "date": [2026, 3, 7, 15, 4, 9]}), json.dumps(VARIABLES)]
    done = subprocess.run([sys.argv[1]], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(templates)
    wrong = 0
    for template, expected, answer in zip(templates, texts, answers):
        got = answer if expected and not isinstance(expected, str) else answer.get("text")
        if got != expected:
            wrong += 1
            print(f"template {template!r}\n expected {expected!r}\n got      {answer!r}")
    print(f"{len(templates)} templates, {sum(text is None for text in texts)} errors, {wrong} wrong")
    sys.exit(wrong != 0)


main()

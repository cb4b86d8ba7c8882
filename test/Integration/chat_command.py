# ===- chat_command.py - The command chat ------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""chat_command.py DIR [--all]: replies are those to the whole text by the template; reuse, full contexts, signals, terminals,
refusals. --all adds refusals for which a model has to be compiled."""

import json
import os
import pty
import signal
import subprocess
import sys
import time

from text_models import T5, compile_folder, configure_tokenizer, gpt2, make_folder, run, start

work = sys.argv[1]
os.chdir(work)
# Letters are tokens; the template writes <user>MESSAGE<reply>REPLY<end>. The model never ends by itself but with <end>.
make_folder("letters", gpt2(11, 12000, n_embd=16, eos_token_id=None, bos_token_id=None), "letters", seed=7)
model = compile_folder("letters")
FLAGS = ["--sample", "--seed=3", "--max-new-tokens=9"]


def reply_to(text, seed, *flags):
    """Returns the reply to the rendered |text| by the command generate."""
    sampling = ["--sample", f"--seed={seed}", "--max-new-tokens=9", "--stop=<end>"]
    return run("attune-run", "generate", model, "--prompt", text, *sampling, *flags)[:-1]


def conversation(messages, system="", seed=3):
    text, replies = system, []
    for number, message in enumerate(messages):
        text += "<user>" + message + "<reply>"
        reply = reply_to(text, seed + number)
        replies.append(reply)
        if reply:
            text += reply + "<end>"
        else:
            text = text[:text.rindex("<user>")]
    return replies


def test_pipes():
    messages = ["abc", "d", "eefc", "h"]
    expected = conversation(messages)
    assert any(expected) and len(set(expected)) > 2, expected
    text = "\n".join(messages)
    for command in (["attune-run", "chat", model], ["attune", "chat", "letters"], ["attune-run", "chat", "--model", model]):
        assert run(*command, *FLAGS, text=text + "\n").split("\n") == expected + [""], command
    assert run("attune-run", "chat", model, *FLAGS, text="\n\n" + text).split("\n") == expected + [""]
    assert run("attune-run", "chat", model, *FLAGS, text="") == ""
    with_system = conversation(messages, system="fab")
    assert with_system != expected
    assert run("attune-run", "chat", model, *FLAGS, "--system=fab", "--threads=1", text=text).split("\n") == with_system + [""]
    objects = [json.loads(line) for line in run("attune-run", "chat", model, *FLAGS, "--json", text=text).splitlines()]
    assert [one["content"] for one in objects] == expected and {one["role"] for one in objects} == {"assistant"}
    assert objects[0]["prompt_tokens"] == 5 and objects[0]["reused_tokens"] == 0
    # The session holds all of the text before but the end of the last reply.
    for before, after in zip(objects, objects[1:]):
        assert before["content"] == "" or after["reused_tokens"] >= before["prompt_tokens"], objects


def test_full():
    def chat(*flags, text="\n".join(["abcabc"] * 9)):
        return subprocess.run(["attune-run", "chat", model, *flags], input=text, capture_output=True, text=True)

    done = chat(*FLAGS, "--context=40")
    assert done.returncode == 0 and done.stdout.count("\n") == 9, done
    assert "the context of 40 tokens is full: the oldest turn leaves the conversation" in done.stderr, done
    quiet = chat(*FLAGS, "--context=40", "--quiet")
    assert quiet.stdout == done.stdout and quiet.stderr == "", quiet
    cut = chat("--context=20", "--set=suppress_tokens=[2]", text="a\n")
    assert cut.returncode == 0 and "the context of 20 tokens is full: the reply ends there" in cut.stderr, cut
    run("attune-run", "chat", model, "--context=5", text="abcabc", error="the message makes 8 tokens, the context has 5")
    run("attune-run", "chat", model, "--context=99999", error="context is 99999, expected 1 to 12000")


ENDLESS = ["attune-run", "chat", model, "--set=suppress_tokens=[2]", "--sample"]


def test_interruption():
    """Tests that Ctrl-C stops a reply but not the conversation, which ends with its input."""
    process = start(ENDLESS, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    for message in (b"abc\n", b"f\n"):
        process.stdin.write(message)
        process.stdin.flush()
        assert os.read(process.stdout.fileno(), 1) not in (b"", b"\n")
        process.send_signal(signal.SIGINT)
        while os.read(process.stdout.fileno(), 1) != b"\n":
            pass
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 0 and errors == b"", (process.returncode, errors)
    # Where a message is expected, a second one ends the program.
    process = start(ENDLESS, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdin.write(b"a\n")
    process.stdin.flush()
    os.read(process.stdout.fileno(), 1)
    process.send_signal(signal.SIGINT)
    while os.read(process.stdout.fileno(), 1) != b"\n":
        pass
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    assert b"a second Ctrl-C ends the program" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == -signal.SIGINT and process.stderr.read() == b"attune-run: interrupted by SIGINT\n"
    for stream in (process.stdin, process.stdout, process.stderr):
        stream.close()


def read_until(terminal, end):
    text = b""
    while not text.endswith(end):
        text += os.read(terminal, 1)
    return text


def test_terminal():
    for environment, prompt in (({}, b"\x1b[1m> \x1b[0m"), ({"NO_COLOR": "1"}, b"> ")):
        primary, secondary = pty.openpty()
        kept = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
        process = start(["attune-run", "chat", model, *FLAGS, "--quiet"], stdin=secondary, stdout=secondary,
                        stderr=secondary, env={**kept, **environment})
        os.close(secondary)
        assert read_until(primary, b"> " if environment else b"\x1b[0m") == prompt
        # A line that ends with a backslash goes on.
        os.write(primary, b"ab\\\n")
        read_until(primary, prompt)
        os.write(primary, b"c\n")
        shown = read_until(primary, prompt)
        expected = reply_to("<user>ab\nc<reply>", 3)
        assert shown == b"c\r\n" + expected.encode() + b"\r\n" + prompt, (shown, expected)
        os.write(primary, b"\x04")
        assert process.wait(timeout=60) == 0
        os.close(primary)


def test_wrapper():
    messages = ["abc", "d", "eefc", "h"]
    replies = run("attune-test-chat-session", "./" + model, model[:-2] + "text", "3", *messages)
    assert replies.split("\n") == conversation(messages) + [""], replies


def test_errors():
    make_folder("plain", gpt2(400, 20), "gpt2")
    run("attune", "chat", "plain", error="plain: expected a model with a chat template, got none; `attune generate MODEL --prompt=T` "
                                         "continues plain text")
    make_folder("broken", gpt2(11, 20), "letters")
    configure_tokenizer("broken", chat_template="{{ raise_exception('no ' + messages[0].role) }}")
    run("attune", "chat", "broken", text="a", error="broken: chat template, line 1: no user")
    run("attune-run", "chat", model, text=b"a\xff\n", error="expected UTF-8, got byte 0xFF at offset 1")
    run("attune-run", "chat", model, text="a" * (17 << 20), error="standard input: expected lines of at most 16777216 bytes")
    for command in (["chat", model], ["generate", model, "-"], ["tokenize", "letters.text", "--file=-"]):
        folder = os.open("/", os.O_RDONLY)
        done = subprocess.run(["attune-run", *command], stdin=folder, capture_output=True, text=True, check=False)
        os.close(folder)
        assert done.returncode == 1 and "cannot read standard input: Is a directory" in done.stderr, done
    run("attune-run", "chat", model, "--variable=x", error="--variable: expected NAME=VALUE, got 'x'")
    run("attune-run", "chat", "missing.so", error="missing.so")
    if sys.argv[2:] == ["--all"]:
        make_folder("bare", gpt2(400, 20), None)
        run("attune", "chat", "bare", error="expected a model with a tokenizer")
        make_folder("t5", T5, "t5")
        run("attune", "chat", "t5", error="expected a decoder that continues texts, got T5ForConditionalGeneration")
    with open("letters/tokenizer_config.json") as file:
        template = json.load(file)["chat_template"]
    make_folder("switched", gpt2(11, 64, eos_token_id=None, bos_token_id=None), "letters", seed=7)
    configure_tokenizer("switched", chat_template="{% if style == 'f' %}fff{% endif %}" + template)
    plain, styled = (run("attune", "chat", "switched", *FLAGS, *more, text="a") for more in ([], ["--variable=style=f"]))
    expected = run("attune", "generate", "switched", "--prompt=fff<user>a<reply>", *FLAGS, "--stop=<end>")
    assert styled == expected and plain != styled, (plain, styled, expected)


test_pipes()
test_full()
test_interruption()
test_terminal()
test_wrapper()
test_errors()
print("chat: ok")

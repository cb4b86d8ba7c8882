# ===- chat_conversations.py - Conversations for chat templates ------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the variables of chat templates: conversations of every kind, with unusual parts."""

import itertools
import random

TEXTS = [
    "Hello!",
    "",
    "  leading and trailing  ",
    "\n\nline ends\n\n",
    "Grüße, мир, 世界 🎉 e\u0301 ﬁ \u00a0 nbsp",
    "<think>\nLet me see.\n</think>\n\nThe answer is 42.",
    "quotes ' and \" and \\ and <b>&amp;</b>",
    "{{ braces }} {% tags %} {# comments #}",
    "a</think>b</think>c",
    "[INST] <|im_end|> </s> <tool_response>ok</tool_response>",
    "very long " * 40,
    "\t\x1f\x7f\u2028",
]

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": 'Gets the weather.\nIn two lines: "now" & <later>.',
            "parameters": {
                "type": "object",
                "properties": {
                    "city": {"type": "string", "description": "Name of the city"},
                    "unit": {"type": "string", "enum": ["celsius", "fahrenheit"], "default": "celsius"},
                    "days": {"type": "integer", "minimum": 1, "nullable": True},
                    "where": {"type": ["string", "null"]},
                    "tags": {"type": "array", "items": {"type": "string"}},
                    "more": {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]},
                    "either": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
                },
                "required": ["city"],
            },
            "return": {"type": "string", "description": "The weather"},
        },
    },
    {"type": "function", "function": {"name": "now", "description": "Zeit – 時間", "parameters": {"type": "object", "properties": {}}}},
]

DOCUMENTS = [{"title": "One", "text": "Text of one."}, {"title": "Zwei", "text": "Öl\n und mehr"}]


def call(name, arguments, identifier="call12345"):
    return {"id": identifier, "type": "function", "function": {"name": name, "arguments": arguments}}


def make_conversations(seed):
    """Yields the variables of conversations: fixed forms with every text, then random ones."""
    rng = random.Random(seed)
    user = lambda text: {"role": "user", "content": text}  # noqa: E731
    system = lambda text: {"role": "system", "content": text}  # noqa: E731
    answer = lambda text: {"role": "assistant", "content": text}  # noqa: E731
    weather = call("get_weather", {"city": "Paris", "days": 3, "ratio": 0.5, "deep": {"a": [1, None, True]}, "ü": "ß"})
    forms = []
    for text in TEXTS:
        forms += [
            [user(text)],
            [system(text), user("Hi")],
            [user("Hi"), answer(text), user(text)],
            [system("Be kind."), user("Hi"), answer("Hello"), user(text), answer(text)],
        ]
    for prompt, form in itertools.product((False, True), forms):
        yield {"messages": form, "add_generation_prompt": prompt}
    called = [
        [
            user("Weather?"),
            {"role": "assistant", "content": "", "tool_calls": [weather]},
            {"role": "tool", "tool_call_id": "call12345", "name": "get_weather", "content": '{"t": 20}'},
        ],
        [
            user("Weather?"),
            {"role": "assistant", "content": None, "tool_calls": [weather]},
            {"role": "tool", "name": "get_weather", "content": "20"},
            answer("It is 20."),
        ],
        [
            system("S"),
            user("W"),
            {"role": "assistant", "tool_calls": [weather, call("now", {}, "call67890")]},
            {"role": "tool", "content": "a", "tool_call_id": "call12345"},
            {"role": "tool", "content": "b", "tool_call_id": "call67890"},
            answer("Done."),
            user("More"),
        ],
        [
            user("W"),
            {"role": "assistant", "content": "Wait", "tool_calls": [call("get_weather", '{"city": "Rome"}')]},
            {"role": "tool", "content": "x"},
        ],
        [user("W"), {"role": "assistant", "content": "A", "reasoning_content": "because\n"}, user("Why?")],
        [user("W"), {"role": "assistant", "content": "A", "thinking": " hm ", "reasoning": "no"}, user("Why?"), answer("So.")],
        [{"role": "developer", "content": "D"}, user("U")],
        [answer("first"), user("second")],
        [user("a"), user("b")],
        [user("a"), answer("b"), answer("c")],
        [{"role": "strange", "content": "x"}],
        [{"role": "user"}],
        [user([{"type": "text", "text": "part one"}, {"type": "image"}, {"type": "text", "text": " part two "}])],
        [
            user([{"type": "image_url", "image_url": {"url": "x"}}, {"type": "text", "text": "t"}]),
            answer([{"type": "text", "text": "r"}]),
            user("n"),
        ],
        [system([{"type": "text", "text": "sys"}]), user("n")],
        [user("x"), {"role": "tool", "content": [{"type": "text", "text": "r"}, {"type": "tool_reference", "name": "n"}]}],
        [user("x"), {"role": "tool", "content": {"b": 1, "a": [1.0, 1e30, -0.0]}}],
    ]
    options = [
        {},
        {"tools": TOOLS},
        {"tools": []},
        {"tools": TOOLS[1:], "enable_thinking": False},
        {"documents": DOCUMENTS},
        {"enable_thinking": True, "reasoning_effort": "high"},
        {
            "tools": TOOLS,
            "documents": DOCUMENTS,
            "date_string": "01 Jan 2025",
            "custom_tools": TOOLS,
            "builtin_tools": ["python"],
            "thinking": True,
        },
        {"tools": [{"name": "bare", "description": "d", "parameters": {"type": "object", "properties": {"p": {"type": "string"}}}}]},
    ]
    for prompt, option, form in itertools.product((False, True), options, called):
        yield {"messages": form, "add_generation_prompt": prompt, **option}
    for _ in range(60):
        messages = [system(rng.choice(TEXTS))] if rng.random() < 0.5 else []
        for _ in range(rng.randrange(1, 5)):
            messages.append(user(rng.choice(TEXTS)))
            reply = answer(rng.choice(TEXTS))
            if rng.random() < 0.3:
                reply["tool_calls"] = rng.choice(([weather], [call("now", {}, "abcdefghi"), weather]))
                messages += [reply, {"role": "tool", "content": rng.choice(TEXTS), "name": "now", "tool_call_id": "abcdefghi"}]
            if rng.random() < 0.3:
                reply["reasoning_content"] = rng.choice(TEXTS)
            if rng.random() < 0.7:
                messages.append(reply)
        yield {"messages": messages, "add_generation_prompt": rng.random() < 0.5, **rng.choice(options)}

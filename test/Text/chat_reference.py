# ===- chat_reference.py - Chat templates by the reference -----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Renders chat templates as apply_chat_template of transformers does, at a fixed time."""

import collections
import datetime
import warnings

from transformers.utils import chat_template_utils

warnings.filterwarnings("ignore", category=SyntaxWarning)
NOW = datetime.datetime(2026, 3, 7, 15, 4, 9)


class FixedTime(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return NOW


chat_template_utils.datetime = FixedTime
Rendered = collections.namedtuple("Rendered", "text spans error")


def render(template, variables, special):
    """Returns the text and the spans of the assistant, or the error."""
    given = {**special, **variables}
    messages = given.pop("messages", [])
    tools, documents = given.pop("tools", None), given.pop("documents", None)
    prompt = given.pop("add_generation_prompt", False)
    chat = [{key: value for key, value in message.items() if value is not None} for message in messages]
    try:
        if not chat:
            raise ValueError("no message")
        chat = chat_template_utils._alias_reasoning_fields(chat_template_utils._plain_template_data(chat))
        compiled = chat_template_utils._compile_jinja_template(template)
        text, spans = chat_template_utils._render_with_assistant_indices(compiled, chat, tools, documents, prompt, **given)
        text.encode()
        return Rendered(text, spans, None)
    except Exception as error:  # whatever a template can raise
        return Rendered(None, [], f"{type(error).__name__}: {error}")

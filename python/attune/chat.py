# ===- chat.py - Conversations ---------------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, NamedTuple

from attune import _attune
from attune.errors import InvalidArgumentError, describe
from attune.generation import Stream, _check_callback, _check_texts, _Work, dump_settings
from attune.tokenizer import dump_variables

if TYPE_CHECKING:
    from attune.model import Model


class Reply(NamedTuple):
    """A reply. `finish` is "end", "stop", "length" or "callback"; `prompt_tokens` counts the whole text before it,
    `reused_tokens` those that the session held already, `reply_tokens` its own, `left_turns` the oldest turns that left the
    conversation for want of room."""

    text: str
    finish: str
    prompt_tokens: int
    reused_tokens: int
    reply_tokens: int
    left_turns: int

    def __str__(self) -> str:
        return self.text


class Chat:
    """A conversation with a model that has a chat template, as `attune chat` holds it. The session's cache keeps the text so
    far: only new tokens are computed. Serves one call at a time.

    system     the system message
    context    the most tokens of the conversation; by default those of the model, at most 8192
    variables  what the template reads, as {"enable_thinking": False}
    settings   those of generate: max_new_tokens=200, do_sample=True, temperature=0.7, stop_strings=["User:"]
    """

    def __init__(
        self,
        model: Model,
        *,
        system: str | None = None,
        context: int | None = None,
        variables: dict[str, Any] | None = None,
        chat_template: str | None = None,
        threads: int | None = None,
        **settings: Any,
    ) -> None:
        from attune.model import read_threads

        if system is not None:
            _text("system", system)
        if context is not None and (
            isinstance(context, bool) or not isinstance(context, int) or not 1 <= context < 2**40
        ):
            raise InvalidArgumentError(f"context: expected a number of tokens, got {describe(context)}")
        if chat_template is not None and (not isinstance(chat_template, str) or "\0" in chat_template):
            raise InvalidArgumentError(
                "chat_template: expected the name of a template that was compiled with the model"
            )
        if variables is not None and not isinstance(variables, dict):
            raise InvalidArgumentError(f"variables: expected a dictionary, got {type(variables).__name__}")
        self._conversation = _attune.Conversation(
            model._open(),
            model.tokenizer._handle,
            dump_settings(settings),
            system,
            dump_variables(variables or {}, "variables"),
            chat_template or "",
            context or 0,
            model._threads if threads is None else read_threads(threads),
        )

    @property
    def context(self) -> int:
        """The most tokens of the conversation."""
        return self._conversation.context()

    def send(self, message: str, *, on_text: Callable[[int, str], bool | None] | None = None) -> Reply:
        """Sends |message| of the user and returns the reply. |on_text| gets (0, piece) as the reply comes and ends it by
        returning False; the conversation keeps what came."""
        return Reply(*self._conversation.send(_text("message", message), _check_callback("on_text", on_text)))

    def stream(self, message: str) -> Stream:
        """Sends |message| and returns a stream of the reply's pieces; its `result` is then the Reply."""
        _text("message", message)

        def run(work: _Work) -> Reply:
            def on_text(row: int, piece: str) -> bool:
                work.put(("piece", piece))
                return work.goes_on()

            return self.send(message, on_text=on_text)

        return Stream(run)

    def reset(self) -> None:
        """Forgets all messages but the system message."""
        self._conversation.reset()


def _text(name: str, text: Any) -> str:
    if not isinstance(text, str):
        raise InvalidArgumentError(f"{name}: expected a text, got {type(text).__name__}")
    return _check_texts([text])[0]

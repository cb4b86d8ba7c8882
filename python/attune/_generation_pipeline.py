# ===- _generation_pipeline.py - Continuations of texts and chats -----------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pipeline text-generation: prompts and chats to the results of model.generate."""

from __future__ import annotations

from typing import Any, Mapping

from attune._arguments import refuse
from attune._pipeline import Pipeline, flag, text_of
from attune.errors import InvalidArgumentError
from attune.generation import GeneratedText


def _is_message(value: Any) -> bool:
    return isinstance(value, Mapping) and "role" in value and "content" in value


def _is_chat(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and len(value) > 0 and all(map(_is_message, value))


class TextGenerationPipeline(Pipeline):
    """Continuations of texts and chats.

        pipe("Once")                                    [{"generated_text": "Once upon…"}]
        pipe("Once", num_return_sequences=2, …)         [{…}, {…}]
        pipe(["Once", "Then"])                          [[{…}], [{…}]]
        pipe([{"role": "user", "content": "Hi"}])       [{"generated_text": [{"role": "user", …}, {"role": "assistant", …}]}]

    return_full_text    False: only the new text
    return_tensors      True: {"generated_token_ids": ids with those of the prompt}
    stop_sequence       a text or texts that end the generation
    continue_final_message   True: continues the last message; by default if its role is "assistant"
    prefix, add_special_tokens, skip_special_tokens, tools, documents

    Further arguments are those of model.generate; defaults are those of the model's files: greedy search and
    256 new tokens if they say nothing. transformers samples then, which do_sample=True, temperature=0.7 asks for.
    """

    task = "text-generation"
    _names = (
        "return_full_text", "return_text", "return_tensors", "prefix", "stop_sequence", "continue_final_message",
        "add_special_tokens", "skip_special_tokens", "tools", "documents",
    )  # fmt: skip
    _refused = {
        "return_type": "give return_full_text or return_tensors",
        "handle_long_generation": "give the end of the text",
        "truncation": "give the end of the text",
        "padding": "texts of a list are computed without padding between them",
        "tokenizer_encode_kwargs": "give add_special_tokens",
        "clean_up_tokenization_spaces": "texts are those of the tokenizer",
    }

    def _check(self, arguments: dict[str, Any]) -> dict[str, Any]:
        for name in ("on_text", "on_token", "return_dict_in_generate", "threads"):
            if arguments.get(name) is not None:
                raise InvalidArgumentError(f"{self.task}: '{name}' is an argument of model.generate alone")
        return refuse(self.task, arguments, self._refused)

    def _run(self, inputs: Any, batch: int, given: dict[str, Any]) -> Any:
        settings = {name: value for name, value in given.items() if name not in self._names}
        stop = given.get("stop_sequence")
        if stop is not None:
            settings["stop_strings"] = [stop] if isinstance(stop, str) else stop
        texts, full = flag(given, "return_text"), flag(given, "return_full_text")
        if flag(given, "return_tensors") and (texts or full is not None):
            raise InvalidArgumentError("return_tensors: not with return_text or return_full_text")
        if texts and full is not None:
            raise InvalidArgumentError("return_full_text: not with return_text")
        many = isinstance(inputs, (list, tuple)) and not _is_chat(inputs)
        items: list[Any] = list(inputs) if many else [inputs]
        prompts = [self._prompt(one, given) for one in items]
        results: list[list[Any]] = [[] for _ in items]
        # Texts of chats have their special tokens already.
        for special in (True, False):
            numbers = [number for number, prompt in enumerate(prompts) if prompt[1] == special]
            if not numbers:
                continue
            found: Any = self.model.generate(
                [prompts[number][0] for number in numbers],
                add_special_tokens=special and flag(given, "add_special_tokens") is not False,
                skip_special_tokens=flag(given, "skip_special_tokens") is not False,
                return_dict_in_generate=True,
                **settings,
            )
            for one in found:
                number = numbers[one.input]
                results[number].append(self._record(items[number], prompts[number], one, given))
        return results if many else results[0]

    def _prompt(self, value: Any, given: dict[str, Any]) -> tuple[str, bool]:
        """Returns the text to continue, and whether the tokenizer adds its special tokens."""
        if not _is_chat(value):
            prefix = given.get("prefix")
            return text_of("" if prefix is None else prefix, "prefix as a text") + text_of(
                value, "a text, or a chat: a list of dictionaries with role and content"
            ), True
        messages = [dict(message) for message in value]
        arguments = {name: given[name] for name in ("tools", "documents") if given.get(name) is not None}
        if not self._continues(value, given):
            text = self.tokenizer.apply_chat_template(
                messages, add_generation_prompt=True, tokenize=False, **arguments
            )
            return text, False
        # The mark tells where the message ends in the text.
        mark = "CONTINUE_FINAL_MESSAGE_TAG "
        content = text_of(messages[-1]["content"], "the last message as a text")
        messages[-1]["content"] = content + mark
        text = self.tokenizer.apply_chat_template(messages, tokenize=False, **arguments)
        place = text.rfind(mark.strip())
        if place < 0 or content.strip() not in text:
            raise InvalidArgumentError("continue_final_message: the chat template changes the last message")
        kept = text[:place]
        return (kept if text[place:].startswith(mark) else kept.rstrip()), False

    @staticmethod
    def _continues(chat: Any, given: dict[str, Any]) -> bool:
        wanted = flag(given, "continue_final_message")
        return bool(chat[-1]["role"] == "assistant") if wanted is None else wanted

    def _record(self, value: Any, prompt: tuple[str, bool], one: GeneratedText, given: dict[str, Any]) -> dict[str, Any]:
        if given.get("return_tensors"):
            special = prompt[1] and flag(given, "add_special_tokens") is not False
            ids = self.tokenizer.encode(prompt[0], add_special_tokens=special).ids
            return {"generated_token_ids": [*ids, *one.ids]}
        new = one.text
        if one.finish == "stop":
            # As in transformers, the text ends with the token that completes the stop string.
            new = self.tokenizer.decode(one.ids, skip_special_tokens=flag(given, "skip_special_tokens") is not False)
        if given.get("return_full_text") is False:
            return {"generated_text": new}
        if not _is_chat(value):
            return {"generated_text": value + new}
        messages = list(value)
        if self._continues(value, given):
            last = messages[-1]
            return {
                "generated_text": [*messages[:-1], {"role": last["role"], "content": last["content"] + new}]
            }
        return {"generated_text": [*messages, {"role": "assistant", "content": new}]}

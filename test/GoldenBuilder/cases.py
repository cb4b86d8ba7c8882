# ===- cases.py - Declarations of families, cases and calls -----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The records that the tables in families/ are made of."""

import dataclasses


class Absent:
    """The value of a key that a variant removes from the family's configuration."""


def without_absent(config):
    return {key: value for key, value in config.items() if value is not Absent}


@dataclasses.dataclass
class Call:
    """A call of a model. Masks: `right` and `left` padding, `holes` inside a row."""

    function: str = "forward"
    batch: int = 2
    length: int = 11
    target: int = 0  # length of the decoder's ids; 0: no decoder
    mask: str = ""
    target_mask: str = ""
    types: bool = False  # token_type_ids
    positions: bool = False  # position_ids, not 0, 1, 2, ...
    pads: str = ""  # ids that equal pad_token_id although no mask hides them: `right` or `inside`
    choices: int = 0  # ids [batch, choices, length]
    embeds: bool = False  # inputs_embeds in place of ids
    special: str = ""  # key of a token id that appears in each row, such as mask_token_id
    extra: tuple = ()  # further inputs: `bbox`, `langs`, `pixel_values`, `encoder_hidden_states`, `encoder_attention_mask`
    steps: tuple = ()
    outputs: tuple = ()  # groups; none: all but keys and values
    kwargs: dict = dataclasses.field(default_factory=dict)


STATES = {"output_hidden_states": True, "output_attentions": True}


def forward(**options):
    """Returns a forward call; `states=True` asks for hidden states and attention probabilities, `past=True` for keys and values."""
    kwargs = dict(options.pop("kwargs", {}))
    if options.pop("states", False):
        kwargs.update(STATES)
    if options.pop("past", False):
        kwargs["use_cache"] = True
        options.setdefault("outputs", ("logits", "last_hidden_state", "hidden_states", "attentions", "past_key_values"))
    return Call(**options, kwargs=kwargs)


def steps(*sizes, past=True, **options):
    """Returns the call that decodes chunks of |sizes| tokens; its outputs have the final keys and values if |past|."""
    length = {"target": sum(sizes)} if options.pop("seq2seq", False) else {"length": sum(sizes)}
    return Call(function="incremental", steps=sizes, outputs=("logits", "past_key_values") if past else ("logits",),
                **{**length, **options})


def generate(new=9, **options):
    """Returns the call of a greedy search for |new| ids beyond the prompt or the start token. Prompts are padded on the
    left."""
    options.setdefault("mask", "left")
    return Call(function="generate", outputs=("sequences",), kwargs={"do_sample": False, "num_beams": 1, "max_new_tokens": new}, **options)


@dataclasses.dataclass
class Case:
    name: str
    architecture: str
    exercises: list
    call: Call
    config: dict = dataclasses.field(default_factory=dict)  # differs from the family's
    generation: dict = None  # generation_config.json
    ends: bool = False  # an end that the first row reaches, chosen among what it generates, becomes eos_token_id
    weights: str = "generated"  # "file": stored as the reference saves them; "memory": under the names and in the shapes of its modules
    published: dict = None  # keys of the stored config.json that the reference does not read: files for custom code
    rename: tuple = ()  # (pattern, replacement) of names in a stored file
    pack: object = None  # (tensors) -> tensors: the stored file of code that the reference lacks, from that of the reference
    buffers: dict = dataclasses.field(default_factory=dict)  # {name: shape} of a stored file that are no parameters
    add: dict = dataclasses.field(default_factory=dict)  # {name: shape} of parameters beyond those that the reference saves
    adapter: dict = None  # keys of adapter_config.json: an adapter of the generated weights (adapters.py)
    attention: str = "eager"
    inert: tuple = ()  # patterns of tensors that change nothing in this case
    notes: str = ""


@dataclasses.dataclass
class Family:
    """A family: its configuration in the spelling of published files, its golden cases and the space of the census."""

    name: str
    config: dict
    cases: list
    census: dict = dataclasses.field(default_factory=dict)  # {key or "a,b": choices}; a choice of several keys is a dict
    classes: tuple = ()  # of the census
    sizes: object = None  # (rng) -> dict of sizes for the census
    kind: str = "decoder"  # or "encoder", "encoder-decoder": what calls the census makes
    masks: tuple = ("", "right", "holes", "left")  # of the census
    states: bool = True  # the reference's probabilities are `[batch, heads, queries, keys]`, so that the census compares them
    caches: object = None  # (config) -> does the census compare caches, as the reference keeps each head once; always without it
    constant: tuple = ()  # patterns of tensors that the reference saves although they are computed
    inert: tuple = ()  # patterns of tensors that change nothing, with a reason in the family's file
    attention: object = None  # (config) -> the reference's attention in the census; eager without it
    repair: object = None  # (config) -> None: makes a random configuration of the census legal

    def folder(self, case):
        return f"{self.name}_{case.name}".replace("-", "_")

    def configuration(self, case):
        return without_absent({"architectures": [case.architecture], **self.config, **case.config})

    def stored_configuration(self, case):
        """Returns the content of config.json in the golden folder of |case|."""
        return without_absent({**self.configuration(case), **(case.published or {})})

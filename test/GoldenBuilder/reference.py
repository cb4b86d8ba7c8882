# ===- reference.py - Models of the reference library in f32 and f64 --------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loads a model folder with transformers and calls it, in single and in double precision."""

import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")

import numpy as np
import torch
import transformers
from torch.overrides import TorchFunctionMode
from transformers.cache_utils import DynamicCache, EncoderDecoderCache

from . import jina

transformers.utils.logging.disable_progress_bar()
torch.set_num_threads(1)

VERSION = f"transformers {transformers.__version__}, torch {torch.__version__.split('+')[0]}, float64"


class DoublePrecision(TorchFunctionMode):
    """Reads `float32` as `float64` in every call of torch.

    Models of the reference compute norms, softmax and rotary angles in float32 whatever the type of their weights
    is. Within this mode those parts are computed in float64, too, so that the stored values are exact to about 1e-15.
    Rounding to bfloat16, where a model asks for it, stays.
    """

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function is torch.Tensor.float:
            return torch.Tensor.double(*args)
        args = [torch.float64 if value is torch.float32 else value for value in args]
        kwargs = {name: torch.float64 if value is torch.float32 else value for name, value in (kwargs or {}).items()}
        return function(*args, **kwargs)


class Precision:
    """Context in which a model is created and called: f32 as it is, or f64 within DoublePrecision."""

    def __init__(self, dtype):
        self.dtype, self.mode = dtype, DoublePrecision() if dtype == torch.float64 else None

    def __enter__(self):
        self.default = torch.get_default_dtype()
        torch.set_default_dtype(self.dtype)
        if self.mode:
            self.mode.__enter__()
        self.gradients = torch.no_grad()
        self.gradients.__enter__()

    def __exit__(self, *exception):
        self.gradients.__exit__(*exception)
        if self.mode:
            self.mode.__exit__(*exception)
        torch.set_default_dtype(self.default)


def model_class(architecture):
    found = getattr(transformers, architecture, None) or getattr(jina, architecture, None)
    if found is None:
        raise ValueError(f"expected a class of transformers {transformers.__version__}, got '{architecture}'")
    return found


def load(folder, architecture, dtype, attention="eager"):
    """Returns the model of |folder| in |dtype|, and the keys that the reference found missing, unexpected or of another shape."""
    with Precision(dtype):
        model, info = model_class(architecture).from_pretrained(folder, dtype=dtype, attn_implementation=attention,
                                                                experts_implementation="eager",
                                                                output_loading_info=True)
    return model.eval(), {kind: sorted(map(str, info[kind])) for kind in ("missing_keys", "unexpected_keys",
                                                                          "mismatched_keys") if info.get(kind)}


def numbered(prefix, values):
    """Returns a tuple of tensors, of tuples or of None as `prefix.0`, `prefix.1`, ..."""
    result = {}
    for number, value in enumerate(values):
        result.update(named(f"{prefix}.{number}", value))
    return result


def cache_tensors(cache):
    """Returns {`past_key_values.L.K`: tensor} for layer L. K: 0 keys, 1 values, 2 and 3 those of cross attention."""
    if isinstance(cache, EncoderDecoderCache):
        own, cross = cache_tensors(cache.self_attention_cache), cache_tensors(cache.cross_attention_cache)
        for name, value in cross.items():
            layer, kind = name.split(".")[1:]
            own[f"past_key_values.{layer}.{int(kind) + 2}"] = value
        return own
    if not hasattr(cache, "layers"):
        return numbered("past_key_values", cache)
    return numbered("past_key_values", [(layer.keys, layer.values) for layer in cache.layers if layer.keys is not None])


def named(name, value):
    """Returns the tensors of an output under today's names."""
    if value is None:
        return {}
    if name == "past_key_values":
        return cache_tensors(value)
    if isinstance(value, (tuple, list)):
        return numbered(name, value)
    return {name: value.detach().clone()}


def tensors_of(output):
    result = {}
    for name, value in output.items():
        if name != "loss":
            result.update(named(name, value))
    return result


def group(name):
    """Returns the group of an output, such as `hidden_states` for `hidden_states.3`."""
    return name.split(".")[0]


def select(outputs, wanted):
    """Returns the outputs of the groups |wanted|; all but keys and values when it is None."""
    return {name: value for name, value in outputs.items() if (group(name) in wanted if wanted else group(name) != "past_key_values")}


def to_torch(inputs, dtype):
    return {name: torch.from_numpy(np.ascontiguousarray(value)).to(dtype if value.dtype.kind == "f" else torch.int64) for name,
            value in inputs.items()}


def empty_cache(model, inputs):
    """Returns a cache that keeps every key, of layers with a window, too."""
    crossed = "decoder_input_ids" in inputs or "encoder_hidden_states" in inputs
    return EncoderDecoderCache(DynamicCache(), DynamicCache()) if crossed else DynamicCache()


def forward(model, inputs, kwargs):
    if kwargs.get("use_cache"):
        kwargs = {**kwargs, "past_key_values": empty_cache(model, inputs)}
    return tensors_of(model(**inputs, **kwargs, return_dict=True))


def incremental(model, inputs, steps):
    """Feeds the ids in chunks of |steps|, each with the keys and values of those before; returns the logits joined along
    the length, and the cache."""
    inputs = dict(inputs)
    seq2seq = "decoder_input_ids" in inputs
    prefix = "decoder_" if seq2seq else ""
    ids = inputs.pop(prefix + "input_ids")
    mask, types, positions = (inputs.pop(name, None) for name in (prefix + "attention_mask", "token_type_ids", prefix + "position_ids"))
    assert sum(steps) == ids.shape[1]
    cache, logits, begin = empty_cache(model, {**inputs, "decoder_input_ids": ids} if seq2seq else inputs), [], 0
    if seq2seq:
        source = {name: inputs.pop(name) for name in ("input_ids", "inputs_embeds") if name in inputs}
        encoder_mask = {name: inputs[name] for name in ("attention_mask",) if name in inputs}
        inputs["encoder_outputs"] = model.get_encoder()(**source, **encoder_mask, return_dict=True)
    for size in steps:
        end = begin + size
        call = {prefix + "input_ids": ids[:, begin:end], prefix + "attention_mask": None if mask is None else mask[:, :end],
                "token_type_ids": None if types is None else types[:, begin:end],
                prefix + "position_ids": None if positions is None else positions[:, begin:end]}
        output = model(**inputs, **{name: value for name, value in call.items() if value is not None}, past_key_values=cache,
                       use_cache=True, return_dict=True)
        cache, begin = output.past_key_values, end
        logits.append(output.logits)
    return {"logits": torch.cat(logits, 1), **cache_tensors(cache)}


def generate(model, inputs, kwargs):
    """Returns `sequences`, `step_logits` [rows, steps, vocabulary] and `step_scores`, the logits after the rules of generation."""
    output = model.generate(**inputs, **kwargs, return_dict_in_generate=True, output_logits=True, output_scores=True)
    result = {"sequences": output.sequences, "step_logits": torch.stack(output.logits, 1), "step_scores": torch.stack(output.scores, 1)}
    if getattr(output, "sequences_scores", None) is not None:
        result["sequences_scores"] = output.sequences_scores
    return result


def call(model, dtype, inputs, call):
    """Returns every output of |call| (the object `call` of a case.json) as torch tensors."""
    inputs = to_torch(inputs, dtype)
    with Precision(dtype):
        if call["function"] == "incremental":
            return incremental(model, inputs, call["steps"])
        if call["function"] == "generate":
            return generate(model, inputs, call["kwargs"])
        return forward(model, inputs, call.get("kwargs", {}))

# ===- inputs.py - The inputs of a call -------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes ids, masks and the other inputs of a call, deterministically."""

import numpy as np


def visible_lengths(batch, length):
    """Returns the number of tokens of each row: all of them in the first row, few in the last."""
    return [max(1, length - (row * length * 3) // (5 * max(1, batch - 1))) for row in range(batch)]


def padding_mask(kind, batch, length):
    """Returns a mask that is 1 at visible tokens. The rows of `right` and `left` have as many as visible_lengths returns."""
    column = np.arange(length)
    rows = [column < count if kind == "right" else column >= length - count for count in visible_lengths(batch, length)]
    if kind == "holes":
        rows = [(column * 7 + row * 3) % 5 != 1 for row in range(batch)]
    return np.array(rows, dtype=np.int64)


def ordinary_ids(config):
    """Returns the ids that are not special tokens of |config|."""
    special = {value for key, value in config.items() if key.endswith("token_id") and isinstance(value, int)}
    return np.array([i for i in range(config["vocab_size"]) if i not in special], dtype=np.int64)


def hide(ids, mask, config):
    """Sets hidden tokens to the padding id, if the model has one."""
    if isinstance(config.get("pad_token_id"), int):
        ids[mask == 0] = config["pad_token_id"]


def boxes(rng, shape, limit):
    """Returns random boxes [..., 4]: left, top, right, bottom."""
    corner, size = rng.integers(0, limit // 2, (*shape, 2)), rng.integers(0, limit // 2, (*shape, 2))
    return np.concatenate([corner, corner + size], -1).astype(np.int64)


def hidden_size(config):
    return next(config[key] for key in ("hidden_size", "n_embd", "d_model", "dim", "emb_dim") if key in config)


def make(case, config, rng):
    """Returns {name: array}, the inputs of |case|'s call."""
    call, inputs = case.call, {}
    if "pixel_values" in call.extra:
        side, channels = config["image_size"], config.get("num_channels", 3)
        return {"pixel_values": rng.uniform(-1, 1, (call.batch, channels, side, side)).astype(np.float32)}
    shape = (call.batch, call.length)
    rows = call.batch * max(1, call.choices)
    ids = rng.choice(ordinary_ids(config), (rows, call.length))
    if call.mask:
        inputs["attention_mask"] = padding_mask(call.mask, rows, call.length)
        hide(ids, inputs["attention_mask"], config)
    if call.pads:
        hide(ids, padding_mask("right" if call.pads == "right" else "holes", rows, call.length), config)
    if call.special:
        for row in ids:
            places = np.flatnonzero(row != config.get("pad_token_id", -1))
            row[places[rng.integers(0, len(places), 1 + len(places) // 5)]] = config[call.special]
    if "Sequence" in case.architecture and config.get("is_encoder_decoder"):
        # The row of the last end is classified; the reference wants equally many ends in each sequence.
        for row in range(rows):
            ids[row, np.flatnonzero(ids[row] != config.get("pad_token_id", -1))[-1]] = config["eos_token_id"]
    inputs["input_ids"] = ids
    if call.types:
        inputs["token_type_ids"] = rng.integers(0, max(1, config.get("type_vocab_size", config["vocab_size"])), ids.shape).astype(np.int64)
    if call.choices:
        inputs = {name: value.reshape(call.batch, call.choices, call.length) for name, value in inputs.items()}
    if call.positions:
        inputs["position_ids"] = np.stack([np.sort(rng.choice(call.length + 9, call.length,
                                                              replace=False)) for _ in range(call.batch)]).astype(np.int64)
    if call.embeds:
        del inputs["input_ids"]
        inputs["inputs_embeds"] = rng.uniform(-1.5, 1.5, (*shape, hidden_size(config))).astype(np.float32)
    if "bbox" in call.extra:
        inputs["bbox"] = boxes(rng, shape, config["max_2d_position_embeddings"])
    if "langs" in call.extra:
        inputs["langs"] = rng.integers(0, config["n_langs"], shape).astype(np.int64)
    if "encoder_hidden_states" in call.extra:
        inputs["encoder_hidden_states"] = rng.uniform(-1.5, 1.5, (call.batch, 7, hidden_size(config))).astype(np.float32)
    if "encoder_attention_mask" in call.extra:
        inputs["encoder_attention_mask"] = padding_mask("right", call.batch, 7)
    if call.target:
        inputs["decoder_input_ids"] = rng.choice(ordinary_ids(config), (call.batch, call.target))
        if isinstance(config.get("decoder_start_token_id"), int):
            inputs["decoder_input_ids"][:, 0] = config["decoder_start_token_id"]
        if call.target_mask:
            inputs["decoder_attention_mask"] = padding_mask(call.target_mask, call.batch, call.target)
            hide(inputs["decoder_input_ids"], inputs["decoder_attention_mask"], config)
    return inputs

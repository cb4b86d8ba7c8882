# ===- checks.py - Comparisons of trained models with the reference ---------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the reference and ours on real texts.

A check returns rows of a table, (what, reference, value per dtype), and failures: what f32 must give and does not.
"""

import dataclasses
import math

import numpy
import torch
import transformers

from . import texts


@dataclasses.dataclass
class Result:
    rows: list = dataclasses.field(default_factory=list)
    failures: list = dataclasses.field(default_factory=list)

    def add(self, what, reference, values):
        self.rows.append((what, reference, values))

    def expect(self, holds, message):
        if not holds:
            self.failures.append(message)


@dataclasses.dataclass
class Setting:
    """What a check needs: the tool, a model's folder, the dtypes to compare."""

    attune: object
    folder: object
    dtypes: list
    full: bool


def padded(batch, pad):
    """Returns ids and mask of sequences, padded on the right."""
    length = max(map(len, batch))
    ids = numpy.full((len(batch), length), pad, numpy.int64)
    mask = numpy.zeros((len(batch), length), numpy.int64)
    for i, sequence in enumerate(batch):
        ids[i, : len(sequence)], mask[i, : len(sequence)] = sequence, 1
    return ids, mask


def batches(sequences, size):
    """Yields (numbers, sequences) of batches of similar lengths."""
    order = sorted(range(len(sequences)), key=lambda i: len(sequences[i]))
    for begin in range(0, len(order), size):
        numbers = order[begin : begin + size]
        yield numbers, [sequences[i] for i in numbers]


def cosines(a, b):
    a, b = a.astype(numpy.float64), b.astype(numpy.float64)
    return (a * b).sum(-1) / numpy.linalg.norm(a, axis=-1) / numpy.linalg.norm(b, axis=-1)


def token_ids(setting, result, lines=None):
    """Compares the ids that attune and transformers make of texts in many languages."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(setting.folder)
    lines = lines or texts.lines(20000 if setting.full else 4000)
    lines = [" ".join(line.split()) for line in lines]
    expected = [tokenizer(line)["input_ids"] for line in lines]
    got = setting.attune.tokenize(setting.folder, lines)
    differing = [i for i, (a, b) in enumerate(zip(expected, got)) if a != b]
    result.add("texts whose ids differ", len(lines), {"": len(differing) + abs(len(expected) - len(got))})
    result.expect(len(expected) == len(got), f"ids of {len(got)} texts, expected {len(expected)}")
    result.expect(not differing, f"ids differ, first of {lines[differing[0]]!r}" if differing else "")


def pooled_states(setting, model, sentences, dtype):
    """Returns the mean over tokens of last hidden states, of length 1: an embedding by the tensors of `attune run`."""
    encoded = [model.tokenizer(text, truncation=True, max_length=model.max_seq_length)["input_ids"] for text in sentences]
    vectors = [None] * len(sentences)
    for numbers, batch in batches(encoded, 128):
        ids, mask = padded(batch, model.tokenizer.pad_token_id)
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": numpy.zeros_like(ids)}
        state = setting.attune.run(setting.folder, inputs, ["last_hidden_state"], dtype)["last_hidden_state"]
        mean = (state * mask[:, :, None]).sum(1) / mask.sum(1)[:, None]
        for number, vector in zip(numbers, mean / numpy.linalg.norm(mean, axis=1, keepdims=True)):
            vectors[number] = vector
    return numpy.stack(vectors)


def ranks_of_targets(queries, passages):
    """Returns for each query the passages in falling order of similarity."""
    return numpy.argsort(-(queries @ passages.T), axis=1, kind="stable")


def embeddings(setting, result):
    """Compares embeddings, and what a search of manual pages by their short descriptions finds."""
    from sentence_transformers import SentenceTransformer

    pairs = texts.manual_entries(10**6 if setting.full else 300)
    sentences = [text for pair in pairs for text in pair]
    model = SentenceTransformer(str(setting.folder), device="cpu")
    reference = model.encode(sentences, batch_size=32, show_progress_bar=False)
    numbers = numpy.arange(len(pairs))

    def found(vectors):
        return ranks_of_targets(vectors[0::2], vectors[1::2])

    expected = found(reference)
    subjects = ("smallest cosine", "same first result", "same among the first 10", "page found first", "page among the first 10")
    rows = {subject: {} for subject in subjects}

    def add(name, vectors):
        order = found(vectors)
        rows["page found first"][name] = f"{100 * (order[:, 0] == numbers).mean():.2f} %"
        rows["page among the first 10"][name] = f"{100 * (order[:, :10] == numbers[:, None]).any(1).mean():.2f} %"
        rows["same first result"][name] = f"{100 * (order[:, 0] == expected[:, 0]).mean():.2f} %"
        shared = [len(set(a) & set(b)) for a, b in zip(order[:, :10].tolist(), expected[:, :10].tolist())]
        rows["same among the first 10"][name] = f"{10 * numpy.mean(shared):.2f} %"
        least = cosines(vectors, reference).min()
        rows["smallest cosine"][name] = f"{least:.7f}"
        return least

    add("reference", reference)
    for dtype in setting.dtypes:
        least = add(dtype, pooled_states(setting, model, sentences, dtype))
        result.expect(dtype != "f32" or least >= 0.999999, f"f32: smallest cosine {least:.9f}, expected at least 0.999999")
    for what, values in rows.items():
        result.add(f"{what}, {len(pairs)} pages", values.pop("reference"), values)


def greedy_texts(setting, result):
    """Compares greedy continuations of prompts, 200 tokens each."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(setting.folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(setting.folder).eval()
    questions = [
        "What is gravity?",
        "Write a short story about a lighthouse keeper and a storm.",
        "Explain step by step how to bake bread at home.",
        "Translate into French: The weather is lovely today, and we will walk to the sea.",
        "List ten uses for an old newspaper.",
        "Was ist die Hauptstadt von Österreich, und was kann man dort sehen?",
        "Write a Python function that returns the n-th Fibonacci number, with comments.",
        "Who was Marie Curie? 请用中文回答。",
    ]
    chats = [[{"role": "user", "content": question}] for question in questions]
    prompts = [tokenizer.apply_chat_template(chat, add_generation_prompt=True, return_dict=True)["input_ids"] for chat in chats]
    prompts += [tokenizer(text)["input_ids"] for text in ("Once upon a time", texts.python_reference(800), "def quicksort(values):\n")]
    equal = {dtype: 0 for dtype in setting.dtypes}
    shared = {dtype: [] for dtype in setting.dtypes}
    for prompt in prompts:
        ids = torch.tensor([prompt])
        with torch.no_grad():
            expected = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=200, do_sample=False)[0].tolist()
        expected = expected[len(prompt) :]
        for dtype in setting.dtypes:
            given = {"input_ids": numpy.array([prompt]), "attention_mask": numpy.ones((1, len(prompt)), numpy.int64)}
            got = setting.attune.generate(setting.folder, given, 200, dtype)[0].tolist()[len(prompt) :]
            same = next((i for i, (a, b) in enumerate(zip(got, expected)) if a != b), min(len(got), len(expected)))
            equal[dtype] += got == expected
            shared[dtype].append(same)
            if dtype == "f32" and got != expected:
                result.expect(False, f"f32: the text differs after {same} tokens, {difference(model, prompt + expected[:same])}")
    result.add("equal texts of up to 200 tokens", len(prompts), equal)
    result.add("tokens before the first difference, median", "", {dtype: int(numpy.median(s)) for dtype, s in shared.items()})


def difference(model, ids):
    """Returns a text with the reference's two best scores for the token after |ids|."""
    with torch.no_grad():
        best = model(torch.tensor([ids])).logits[0, -1].topk(2).values
    return f"where the reference's two best scores are {best[0]:.6f} and {best[1]:.6f}"


def perplexity(setting, result):
    """Compares the perplexity of a text, the tokens of each window predicted from those before."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(setting.folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(setting.folder).eval()
    text = texts.python_reference(120000 if setting.full else 12000)
    ids = tokenizer(text)["input_ids"]
    window = 512
    windows = [ids[i : i + window] for i in range(0, len(ids) - window + 1, window)]
    surprise = {name: 0.0 for name in ("reference", *setting.dtypes)}
    agree = {dtype: 0 for dtype in setting.dtypes}
    worst = {dtype: 0.0 for dtype in setting.dtypes}

    def log_probabilities(logits, targets):
        return torch.log_softmax(torch.from_numpy(logits), -1).gather(-1, torch.tensor(targets)[:, None]).sum().item()

    for sequence in windows:
        given = numpy.array([sequence])
        with torch.no_grad():
            expected = model(torch.tensor(given)).logits[0, :-1].numpy()
        surprise["reference"] -= log_probabilities(expected, sequence[1:])
        for dtype in setting.dtypes:
            logits = setting.attune.run(setting.folder, {"input_ids": given}, ["logits"], dtype)["logits"][0, :-1]
            surprise[dtype] -= log_probabilities(logits, sequence[1:])
            agree[dtype] += (logits.argmax(-1) == expected.argmax(-1)).sum()
            worst[dtype] = max(worst[dtype], float(numpy.abs(logits - expected).max()))
    count = len(windows) * (window - 1)
    value = {name: math.exp(sum_ / count) for name, sum_ in surprise.items()}
    reference = value.pop("reference")
    result.add(f"perplexity, {len(text) // 1000} kB in windows of {window} tokens", f"{reference:.4f}",
               {dtype: f"{v:.4f} ({100 * (v / reference - 1):+.3f} %)" for dtype, v in value.items()})
    result.add("same best next token", "", {dtype: f"{100 * n / count:.2f} %" for dtype, n in agree.items()})
    result.add("largest difference of a score", "", {dtype: f"{v:.2g}" for dtype, v in worst.items()})
    if "f32" in value:
        result.expect(abs(value["f32"] / reference - 1) < 1e-4, f"f32: perplexity {value['f32']:.6f}, expected {reference:.6f}")


def states(setting, result, model, name, batch_inputs, limit=2e-4):
    """Compares an output on batches of inputs, whose values at padding do not count."""
    worst = {dtype: [0.0, 1.0, 0.0] for dtype in setting.dtypes}
    agree = {dtype: [0, 0] for dtype in setting.dtypes}
    for inputs in batch_inputs:
        with torch.no_grad():
            expected = getattr(model(**{k: torch.from_numpy(v) for k, v in inputs.items()}), name).numpy()
        mask = inputs.get("attention_mask")
        visible = (lambda array: array[mask != 0]) if mask is not None and expected.ndim == 3 else (lambda array: array)
        expected = visible(expected)
        for dtype in setting.dtypes:
            got = visible(setting.attune.run(setting.folder, inputs, [name], dtype)[name])
            entry = worst[dtype]
            entry[0] = max(entry[0], float(numpy.abs(got - expected).max()))
            entry[1] = min(entry[1], float(cosines(got, expected).min()))
            entry[2] = max(entry[2], float(numpy.abs(expected).max()))
            agree[dtype][0] += int((got.argmax(-1) == expected.argmax(-1)).sum())
            agree[dtype][1] += got.size // got.shape[-1]
    scale = next(iter(worst.values()))[2]
    result.add(f"largest difference of {name}", f"largest value {scale:.3g}", {dtype: f"{v[0]:.2g}" for dtype, v in worst.items()})
    result.add(f"smallest cosine of {name}", "", {dtype: f"{v[1]:.7f}" for dtype, v in worst.items()})
    if name == "logits":
        result.add("same best class", "", {dtype: f"{100 * a / b:.2f} %" for dtype, (a, b) in agree.items()})
    if "f32" in worst:
        message = f"f32: {name} differs by {worst['f32'][0]:.3g} where the largest value is {scale:.3g}"
        result.expect(worst["f32"][0] <= limit * scale, message)
    return worst


def model_of(setting, loader):
    return loader.from_pretrained(setting.folder).eval()


def token_batches(setting, sequences, size=16):
    """Yields ids, masks and token types of batches."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(setting.folder)
    encoded = [tokenizer(text, truncation=True)["input_ids"] for text in sequences]
    for _, batch in batches(encoded, size):
        ids, mask = padded(batch, tokenizer.pad_token_id)
        yield {"input_ids": ids, "attention_mask": mask, "token_type_ids": numpy.zeros_like(ids)}


def masked_words(setting, result):
    """Compares the scores of every token of every position."""
    sentences = [text for pair in texts.manual_entries(256 if setting.full else 64) for text in pair]
    states(setting, result, model_of(setting, transformers.AutoModelForMaskedLM), "logits", token_batches(setting, sentences))


def reaction_ids(setting, result):
    token_ids(setting, result, texts.reactions(900))


def masked_atoms(setting, result):
    reactions = texts.reactions(900 if setting.full else 100)
    states(setting, result, model_of(setting, transformers.AutoModelForMaskedLM), "logits", token_batches(setting, reactions, 64))


def reaction_classes(setting, result):
    reactions = texts.reactions(900 if setting.full else 100)
    model = model_of(setting, transformers.AutoModelForSequenceClassification)
    states(setting, result, model, "logits", token_batches(setting, reactions, 64))


def fingerprints(setting, result):
    """Compares the states of [CLS], and the nearest neighbors among reactions."""
    reactions = texts.reactions(900 if setting.full else 100)
    states(setting, result, model_of(setting, transformers.AutoModel), "last_hidden_state", token_batches(setting, reactions, 64))


def images(setting, result):
    """Compares the states of crops of two photographs."""
    from sklearn.datasets import load_sample_images

    mean, deviation = numpy.array([0.485, 0.456, 0.406]), numpy.array([0.229, 0.224, 0.225])
    corners = [(y, x) for y in (0, 100, 200) for x in (0, 140, 280, 416)]
    crops = [photo[y : y + 224, x : x + 224] for photo in load_sample_images().images for y, x in corners]
    pixels = ((numpy.stack(crops) / 255 - mean) / deviation).transpose(0, 3, 1, 2).astype(numpy.float32)
    states(setting, result, model_of(setting, transformers.AutoModel), "last_hidden_state",
           [{"pixel_values": pixels[i : i + 8]} for i in range(0, len(pixels), 8)])


def text_to_text(setting, result):
    """Compares greedy texts of an encoder-decoder."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(setting.folder)
    model = model_of(setting, transformers.AutoModelForSeq2SeqLM)
    sources = texts.titles(200 if setting.full else 20)
    encoded = [tokenizer(text, truncation=True, max_length=512)["input_ids"] for text in sources]
    equal = {dtype: 0 for dtype in setting.dtypes}
    for number, ids in enumerate(encoded):
        given = {"input_ids": numpy.array([ids]), "attention_mask": numpy.ones((1, len(ids)), numpy.int64)}
        with torch.no_grad():
            tensors = {name: torch.from_numpy(value) for name, value in given.items()}
            expected = model.generate(**tensors, max_new_tokens=200, do_sample=False)[0].tolist()
        for dtype in setting.dtypes:
            got = setting.attune.generate(setting.folder, given, 200, dtype)[0].tolist()
            equal[dtype] += got == expected
            if dtype == "f32":
                message = f"f32: another text for source {number}: {tokenizer.decode(got)!r}, expected {tokenizer.decode(expected)!r}"
                result.expect(got == expected, message)
    result.add("equal texts of up to 200 tokens", len(sources), equal)


CHECKS = {
    "minilm": [token_ids, embeddings],
    "smollm2": [token_ids, greedy_texts, perplexity],
    "flan-t5": [token_ids, text_to_text],
    "splade": [token_ids, masked_words],
    "reactions": [reaction_ids, masked_atoms],
    "reaction-classes": [reaction_ids, reaction_classes],
    "reaction-fingerprints": [reaction_ids, fingerprints],
    "atom-mapping": [reaction_ids, masked_atoms],
    "vit": [images],
}

# ===- beam_reference.py - Beam search, one row at a time -------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Greedy and beam search as transformers 4.22 does them, in plain Python: BeamSearchScorer and the processors of scores,
# over any function that gives the logits of the next id. Written from the library's behavior and not from the runtime's
# code.

import math

DEFAULTS = dict(max_length=20, min_length=0, num_beams=1, num_return_sequences=1, length_penalty=1.0, early_stopping=False,
                no_repeat_ngram_size=0,
                repetition_penalty=1.0, bad_words_ids=(), eos_token_id=None, pad_token_id=None, forced_bos_token_id=None,
                forced_eos_token_id=None,
                encoder_no_repeat_ngram_size=0, never_token_id=None, encoder_repetition_penalty=1.0, suppress_tokens=(),
                begin_suppress_tokens=(),
                renormalize_logits=False)


def log_softmax(logits):
    top = max(logits)
    total = top + math.log(math.fsum(math.exp(v - top) for v in logits))
    return [v - total for v in logits]


def banned_by(ngrams_of, ids, size):
    """Returns the ids that complete an n-gram of |ngrams_of| after the last of |ids|."""
    last = ids[len(ids) - size + 1:] if size > 1 else []
    return {ngrams_of[i + size - 1] for i in range(len(ngrams_of) - size + 1) if ngrams_of[i:i + size - 1] == last}


def penalise(scores, ids, penalty):
    for i in set(ids):
        scores[i] = scores[i] * penalty if scores[i] < 0 else scores[i] / penalty


def process(scores, ids, options, source, begin, padding):
    """Applies the processors in the library's order. |padding| ids at the beginning of |ids| do not count as occurred."""
    scores = list(scores)

    def ban(some):
        for i in some:
            scores[i] = -math.inf

    penalise(scores, source, 1 / options["encoder_repetition_penalty"])
    penalise(scores, ids[padding:], options["repetition_penalty"])
    if 0 < options["no_repeat_ngram_size"] <= len(ids) + 1:
        ban(banned_by(ids, ids, options["no_repeat_ngram_size"]))
    if 0 < options["encoder_no_repeat_ngram_size"] <= len(ids) + 1:
        ban(banned_by(source, ids, options["encoder_no_repeat_ngram_size"]))
    for word in options["bad_words_ids"]:
        if word != [options["eos_token_id"]] and (len(word) == 1 or ids[-(len(word) - 1):] == word[:-1]):
            ban(word[-1:])
    if len(ids) < options["min_length"] and options["eos_token_id"] is not None:
        ban([options["eos_token_id"]])
    for forced, place in (("forced_bos_token_id", 1), ("forced_eos_token_id", options["max_length"] - 1)):
        if options[forced] is not None and len(ids) == place:
            scores = [-math.inf] * len(scores)
            scores[options[forced]] = 0.0
    ban(options["suppress_tokens"])
    if len(ids) == (begin if begin > 1 or options["forced_bos_token_id"] is None else begin + 1):
        ban(options["begin_suppress_tokens"])
    if options["renormalize_logits"] and options["num_beams"] > 1 and max(scores) > -math.inf:
        scores = log_softmax(scores)
    return scores


class Hypotheses:
    """The best finished sequences of a row."""

    def __init__(self, options):
        self.options, self.found = options, []

    def add(self, ids, total):
        self.found.append((total / len(ids) ** self.options["length_penalty"], ids))
        if len(self.found) > self.options["num_beams"]:
            self.found.remove(min(self.found, key=lambda one: one[0]))

    def is_done(self, best, length):
        if len(self.found) < self.options["num_beams"]:
            return False
        return self.options["early_stopping"] or min(score for score, _ in self.found) >= best / length ** self.options["length_penalty"]


def beam_search(logits_of, prompt, options, source=None, padding=0):
    """Returns [(ids without the end id, score)], the best first."""
    beams, end, found = options["num_beams"], options["eos_token_id"], Hypotheses(options)
    running, done = [(0.0 if b == 0 else -1e9, list(prompt)) for b in range(beams)], False
    while True:
        candidates = []
        for b, (total, ids) in enumerate(running):
            logits = list(logits_of(ids))
            if options["never_token_id"] is not None:
                logits[options["never_token_id"]] = -math.inf
            scores = process(log_softmax(logits), ids, options, source or prompt, len(prompt), padding)
            candidates += [(total + s, b, i) for i, s in enumerate(scores)]
        candidates.sort(key=lambda c: -c[0])
        length, following = len(running[0][1]), []
        for rank, (total, b, i) in enumerate(candidates[:2 * beams]):
            if i == end:
                if rank < beams:
                    found.add(running[b][1], total)
            elif len(following) < beams:
                following.append((total, running[b][1] + [i]))
        done = found.is_done(candidates[0][0], length)
        running = following
        if done or length + 1 >= options["max_length"]:
            break
    if not done:
        for total, ids in running:
            found.add(ids, total)
    best = sorted(reversed(found.found), key=lambda one: -one[0])
    return [(ids, score) for score, ids in best[:options["num_return_sequences"]]]


def greedy_search(logits_of, prompt, options, source=None, padding=0):
    ids = list(prompt)
    while len(ids) < options["max_length"]:
        scores = process(logits_of(ids), ids, options, source or prompt, len(prompt), padding)
        following = max(range(len(scores)), key=lambda i: scores[i])
        if following == options["eos_token_id"]:
            break
        ids.append(following)
    return [(ids, None)]


def generate(logits_of, prompts, options, sources=None, paddings=None):
    """Returns rows of equal length and their scores. |paddings| has the number of padding ids on the left of each prompt."""
    options = {**DEFAULTS, **options}
    search = beam_search if options["num_beams"] > 1 else greedy_search
    results = []
    for row, prompt in enumerate(prompts):
        source, padding = sources[row] if sources else None, paddings[row] if paddings else 0
        results += search(lambda ids: logits_of(row, ids), prompt, options, source, padding)
    end, pad = options["eos_token_id"], options["pad_token_id"]
    ended = [ids + [end] if len(ids) < options["max_length"] else ids for ids, _ in results]
    width = max(map(len, ended))
    return [ids + [end if pad is None else pad] * (width - len(ids)) for ids in ended], [score for _, score in results]

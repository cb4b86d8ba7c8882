# ===- build.py - From a declaration to a golden folder ---------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds golden folders and checks them: f32 and f64 agree, and every tensor matters."""

import json
import math
import os
import re
import shutil
import tempfile

import numpy as np
import torch

from . import inputs as input_maker
from . import adapters, reference, weights

# A change of a tensor by a tenth of its values must move an output by this many tolerances.
LEAST_EFFECT = 4
# Largest allowed difference of f32 and f64, as a share of the largest value. A larger one means that rounding changed a
# decision, such as the choice of an expert.
LARGEST_ERROR = 3e-5
# Differences of logits between the chosen id and the next one, in units of the noise that the choice withstands.
NOISE_MARGIN = 12
LEAST_NOISE = 3e-4
ATTEMPTS = 40
GENERATION_IDS = "bos_token_id", "eos_token_id", "pad_token_id", "decoder_start_token_id", "forced_bos_token_id", "forced_eos_token_id"


class BuildError(Exception):
    """A case that the reference refuses or that fails a check."""


def round_up(value, digits=2):
    """Returns |value| rounded up to |digits| decimal digits."""
    if value == 0:
        return 0.0
    unit = 10.0 ** (math.floor(math.log10(value)) - digits + 1)
    return float(f"{math.ceil(round(value / unit, 9)) * unit:.{digits}g}")


def significant(value, digits):
    return float(f"{value:.{digits}g}")


def describe(exact, single):
    """Returns the entry of an output in case.json: the tolerance follows the rule of ../fixtures/README.md."""
    if exact.dtype == np.int64:
        return {"dtype": "I64", "shape": list(exact.shape)}
    error, largest = float(np.abs(single.astype(np.float64) - exact).max()), float(np.abs(exact).max())
    return {"dtype": "F32", "shape": list(exact.shape), "max_abs": significant(largest, 4), "std": significant(float(exact.std()), 4),
            "fp32_max_abs_err": significant(error, 3), "atol": round_up(max(30 * error, 5e-6 * largest)), "rtol": 1e-5}


def dump(value):
    """Returns |value| as JSON, indented by one space, with lists of numbers in one line."""
    text = json.dumps(value, indent=1, ensure_ascii=False)
    return re.sub(r"\[[\s\d.,eE+-]*\]", lambda found: re.sub(r"\s+", " ", found[0]).replace("[ ", "[").replace(" ]", "]"), text) + "\n"


def write(path, value):
    with open(path, "w", encoding="utf-8") as file:
        file.write(dump(value))


def to_numpy(outputs):
    return {name: value.cpu().numpy() for name, value in outputs.items()}


def perturbations(model):
    """Yields (name, view) of each parameter, or of each expert in a parameter of stacked experts."""
    for name, parameter in model.named_parameters():
        if parameter.dim() >= 2 and re.search(r"experts\.[a-z_]+$", name):
            for expert in range(parameter.shape[0]):
                yield f"{name}[{expert}]", parameter.data[expert]
        else:
            yield name, parameter.data


def effects(model, arguments, call, exact, tolerances):
    """Returns {parameter: largest change of an output, in tolerances, when the parameter's values change by up to a tenth}."""
    result, random = {}, torch.Generator().manual_seed(1)
    for name, values in perturbations(model):
        kept = values.clone()
        values.mul_(1 + 0.2 * (torch.rand(values.shape, generator=random, dtype=torch.float64) - 0.5))
        changed = to_numpy(reference.call(model, torch.float64, arguments, call))
        values.copy_(kept)
        result[name] = max(float((np.abs(changed[output] - exact[output]) / (entry["atol"] + entry["rtol"] * np.abs(exact[output]))).max())
                           for output, entry in tolerances.items())
    return result


class Build:
    """One case: `run` makes the folder."""

    def __init__(self, family, case, seed, log=lambda text: None):
        self.family, self.case, self.seed, self.log = family, case, seed, log
        self.config, self.stored_config = family.configuration(case), family.stored_configuration(case)
        self.name = family.folder(case)
        # Where there is a generation_config.json, the reference reads no id from config.json.
        ids = {key: self.config[key] for key in GENERATION_IDS if isinstance(self.config.get(key), int)}
        self.generation = {**ids, **(case.generation or {})} if case.generation or case.ends else None
        self.adapter = adapters.Adapter(case.adapter, seed) if case.adapter else None
        self.arguments = None

    def random(self, attempt=0):
        return np.random.default_rng([weights.gen_weights.fnv1a64(self.name.encode()), self.seed, attempt])

    def write_model(self, folder):
        """Writes config.json, generation_config.json and model.safetensors; returns the generated tensors."""
        write(os.path.join(folder, "config.json"), self.config)
        if self.generation:
            write(os.path.join(folder, "generation_config.json"), self.generation)
        tensors = weights.file_tensors(folder, self.case.architecture)
        for name, shape in self.case.add.items():
            tensors[name] = np.zeros(shape, np.float32)
        values = weights.generated(tensors, self.seed, self.family.constant)
        weights.gen_weights.save(os.path.join(folder, "model.safetensors"), values, {"format": "pt"})
        return values

    def load(self, folder):
        """Returns the model in both precisions."""
        models = {}
        for dtype in (torch.float32, torch.float64):
            models[dtype], problems = reference.load(folder, self.case.architecture, dtype, self.case.attention)
            missing = [name for name in problems.pop("missing_keys",
                                                     []) if not any(re.search(pattern, name) for pattern in self.family.constant)]
            if problems or missing:
                raise BuildError(f"{self.name}: the reference finds {problems}, missing {missing}")
            if self.adapter:
                self.adapter.attach(models[dtype])
        return models

    def call_object(self):
        call = {"function": self.case.call.function}
        if self.case.call.function == "incremental":
            call["steps"] = list(self.case.call.steps)
        else:
            call["kwargs"] = dict(self.case.call.kwargs)
        return call

    def run_both(self, models, call, arguments):
        """Returns the outputs in f64 and in f32."""
        exact, single = (to_numpy(reference.call(models[dtype], dtype, arguments, call)) for dtype in (torch.float64, torch.float32))
        wanted = self.case.call.outputs
        return reference.select(exact, wanted), reference.select(single, wanted), exact

    def judge_generation(self, models, call):
        """Draws prompts until the choice of every id withstands noise; returns outputs and the noise."""
        for attempt in range(ATTEMPTS):
            self.arguments = input_maker.make(self.case, self.config, self.random(attempt))
            exact, single, every = self.run_both(models, call, self.arguments)
            scores = np.sort(every["step_scores"].astype(np.float64), -1)
            margins = np.where(np.isinf(scores[..., -2]), np.inf, scores[..., -1] - scores[..., -2])
            noise = float(f"{margins.min() / NOISE_MARGIN:.0e}") if np.isfinite(margins.min()) else 1.0
            generated = exact["sequences"][:, -scores.shape[1]:]
            if noise >= LEAST_NOISE and np.array_equal(exact["sequences"], single["sequences"]) and len(np.unique(generated)) > 2:
                return exact, single, noise
        raise BuildError(f"{self.name}: in {ATTEMPTS} draws no generation withstands noise and has more than two ids")

    def choose_end(self, models, call):
        """Returns an id that the first row generates after a few others, and no other row before its end, becomes eos_token_id."""
        sequences = self.judge_generation(models, call)[0]["sequences"]
        prompt = 1 if self.config.get("is_encoder_decoder") else self.arguments["input_ids"].shape[1]
        first, others = list(sequences[0, prompt:]), sequences[1:, prompt:-1]
        for place, token in enumerate(first[:-2]):
            if place >= 2 and token not in first[:place] and token not in others:
                return int(token)
        return int(first[2])

    def run(self, folder, thorough=True):
        """Writes the case to |folder|; returns a line about it."""
        case = self.case
        with tempfile.TemporaryDirectory() as scratch:
            tensors = self.write_model(scratch)
            models, call = self.load(scratch), self.call_object()
            noise = None
            if case.call.function == "generate":
                if case.ends:
                    self.generation = {**self.generation, "eos_token_id": self.choose_end(models, call)}
                    write(os.path.join(scratch, "generation_config.json"), self.generation)
                    models = self.load(scratch)
                exact, single, noise = self.judge_generation(models, call)
            else:
                self.arguments = input_maker.make(case, self.config, self.random())
                exact, single, _ = self.run_both(models, call, self.arguments)
            if not exact:
                raise BuildError(f"{self.name}: the reference gives none of {case.call.outputs}")
            entries = {name: describe(value, single[name]) for name, value in exact.items()}
            self.check_precision(exact, entries)
            weakest = self.check_effects(models[torch.float64], call, exact, entries) if thorough and noise is None else ""
            self.save(folder, tensors, call, exact, entries, noise, models)
        if case.weights != "generated" and not case.pack:
            self.check_file(folder, call, exact)
        size = sum(os.path.getsize(os.path.join(folder, name)) for name in os.listdir(folder))
        errors = [entry["fp32_max_abs_err"] / entry["max_abs"] for entry in entries.values() if entry.get("max_abs")]
        return f"{self.name}: {len(entries)} outputs, {size} bytes" + (f", error {max(errors):.1e}" if errors else "") + weakest

    def check_precision(self, exact, entries):
        for name, entry in entries.items():
            if exact[name].dtype != np.int64 and not np.isfinite(exact[name]).all():
                raise BuildError(f"{self.name}: '{name}' is not finite")
            if entry.get("max_abs") and entry["fp32_max_abs_err"] > LARGEST_ERROR * entry["max_abs"]:
                error = f"differs by {entry['fp32_max_abs_err']:.1e} between f32 and f64"
                raise BuildError(f"{self.name}: '{name}' {error}, of {entry['max_abs']}")

    def check_effects(self, model, call, exact, entries):
        tolerances = {name: entry for name, entry in entries.items() if "atol" in entry}
        found = effects(model, self.arguments, call, exact, tolerances)
        inert = {name for name in found if any(re.search(pattern, name) for pattern in (*self.family.inert, *self.case.inert))}
        if self.case is not self.family.cases[0]:  # an expert that no token chose; in a family's first case each is chosen
            inert |= {name for name, effect in found.items() if effect == 0 and name.endswith("]")}
        weak = {name: effect for name, effect in found.items() if effect < LEAST_EFFECT and name not in inert}
        if weak:
            listed = ", ".join(f"{name} ({effect:.2g})" for name, effect in weak.items())
            raise BuildError(f"{self.name}: no output moves by {LEAST_EFFECT} tolerances with {listed}")
        name = min((name for name in found if name not in inert), key=found.get)
        return f", least effect {found[name]:.0f} tolerances ({name})"

    def check_file(self, folder, call, exact):
        """Checks that the reference gets the same model from the stored file, whose tensors may have other names."""
        with tempfile.TemporaryDirectory() as scratch:
            write(os.path.join(scratch, "config.json"), self.config)
            os.symlink(os.path.abspath(os.path.join(folder, "model.safetensors")), os.path.join(scratch, "model.safetensors"))
            model, problems = reference.load(scratch, self.case.architecture, torch.float64, self.case.attention)
        again = to_numpy(reference.call(model, torch.float64, self.arguments, call))
        for name, value in exact.items():
            if not np.allclose(again[name], value, rtol=1e-9, atol=1e-9):
                raise BuildError(f"{self.name}: '{name}' differs with the stored file, of which the reference says {problems}")

    def save(self, folder, tensors, call, exact, entries, noise, models):
        case = self.case
        os.makedirs(folder, exist_ok=True)
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
        write(os.path.join(folder, "config.json"), self.stored_config)
        if self.generation:
            write(os.path.join(folder, "generation_config.json"), self.generation)
        if case.weights != "generated":
            stored = weights.stored(tensors, models[torch.float32], case)
            weights.gen_weights.save(os.path.join(folder, "model.safetensors"), case.pack(stored) if case.pack else stored,
                                     {"format": "pt"})
        weights.gen_weights.save(os.path.join(folder, "inputs.safetensors"), self.arguments)
        weights.gen_weights.save(os.path.join(folder, "expected.safetensors"),
                                 {name: value if value.dtype == np.int64 else value.astype(np.float32) for name, value in exact.items()})
        document = {"format": 1, "name": self.name, "family": self.stored_config["model_type"],
                    "architecture": self.stored_config["architectures"][0],
                    "reference": reference.VERSION,
                    "exercises": case.exercises}
        if case.notes:
            document["notes"] = case.notes
        document["weights"] = {"source": "generated", "seed": self.seed} if case.weights == "generated" else {"source": "file"}
        if self.adapter:
            self.adapter.save(os.path.join(folder, "adapter"), models[torch.float32])
            document["weights"]["adapters"] = ["adapter"]
        document["call"] = call
        document["inputs"] = {name: {"dtype": weights.gen_weights.CODES[value.dtype], "shape": list(value.shape)} for name,
                              value in self.arguments.items()}
        document["outputs"] = entries
        if noise is not None:
            document["robust_to_logit_noise"] = noise
        if call["function"] == "incremental":
            document["step_vs_full_forward_max_abs_diff_fp64"] = significant(self.difference_of_steps(models[torch.float64], exact), 2)
        write(os.path.join(folder, "case.json"), document)

    def difference_of_steps(self, model, exact):
        whole = reference.call(model, torch.float64, self.arguments, {"function": "forward"})["logits"].numpy()
        return float(np.abs(whole - exact["logits"]).max())

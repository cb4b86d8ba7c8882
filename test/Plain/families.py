# ===- families.py - Golden cases by the plain path ---------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""families.py FOLDER [all]: what importers make of the golden cases in FOLDER, run by the plain path, has the results of
the reference within the case's tolerances.

Cases of generation are left out: the plain path runs calls of the model. Without `all`, the cases COMPILED are, too."""

import json
import os
import subprocess
import sys

# Cases that Integration/golden-families.test compiles without long mode. Other cases have their operations, too.
COMPILED = (
    "albert_model bert_generation_causal big_bird_scaled bloom_holes cohere2_pattern deepseek_v2_groups exaone4_forward "
    "gemma3_text_forward glm4_forward gpt_neo_forward gpt_neox_parallel gptj_forward granitemoeshared_forward "
    "jina_bert_query_norms mistral_window modernbert_mean mpnet_model nomic_bert_custom olmo2_forward opt_projected_steps "
    "pegasus_steps phi3_longrope_across_steps squeezebert_scores t5_byt5 umt5_steps xlm_languages"
).split()


def run(*command):
    done = subprocess.run(["attune", *command], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def check(folder):
    with open(f"{folder}/case.json") as f:
        case = json.load(f)
    call = case["call"]
    if call["function"] == "generate":
        return None
    # The plain path does not return caches.
    flags = ["--outputs=" + ",".join(name for name in case["outputs"] if not name.startswith("past_key_values"))]
    settings = [f"--adapter={folder}/{path}" for path in case["weights"].get("adapters", [])]
    if "steps" in call:
        settings.append("--steps=" + ",".join(map(str, call["steps"])))
    name = os.path.basename(folder)
    inputs, output = f"--input={folder}/inputs.safetensors", f"--output={name}.safetensors"
    found = run("run", "--from-phase=import", folder, inputs, output, *flags, *settings)
    return found or run("diff", f"{name}.safetensors", f"{folder}/expected.safetensors", f"--case={folder}/case.json", *flags)


passed = failed = 0
names = sorted(os.listdir(sys.argv[1]))
assert set(COMPILED) < set(names), set(COMPILED) - set(names)
for name in names:
    if name in COMPILED and "all" not in sys.argv[2:]:
        continue
    result = check(os.path.join(sys.argv[1], name))
    if result:
        print(f"{name}:\n{result}")
        failed += 1
    elif result is not None:
        passed += 1
print(f"{passed} cases pass, {failed} fail")
sys.exit(failed != 0)

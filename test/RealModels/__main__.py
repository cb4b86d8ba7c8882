# ===- __main__.py - Trained models against the reference --------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command behind scripts/real-models."""

import argparse
import logging
import os
import pathlib
import sys
import tempfile
import time
import warnings

os.environ["HF_HUB_OFFLINE"] = os.environ["TRANSFORMERS_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ.setdefault("TQDM_DISABLE", "1")
warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)

import torch  # noqa: E402
import transformers  # noqa: E402

from . import checks, folders, texts  # noqa: E402
from .ours import Attune, CommandFailed  # noqa: E402


def report(name, model, result, dtypes):
    """Prints a table of results."""
    print(f"\n### {name}: {model.package}, {model.license}\n")
    print(f"| | reference | {' | '.join(dtypes)} |\n|---|---|{'---|' * len(dtypes)}")
    for what, reference, values in result.rows:
        cells = [str(values.get(dtype, values.get("", "") if dtype == dtypes[0] else "")) for dtype in dtypes]
        print(f"| {what} | {reference} | {' | '.join(cells)} |")
    for failure in result.failures:
        print(f"\nFAILED: {failure}")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(prog="real-models", description="Compares trained models from packages with the reference.")
    parser.add_argument("--attune", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--cache", required=True, type=pathlib.Path, help="folder of packages and model folders")
    parser.add_argument("--models", default=",".join(folders.MODELS), help="names, separated by commas (all)")
    parser.add_argument("--checks", default="", help="names of checks, separated by commas (all)")
    parser.add_argument("--dtypes", default="f32,bf16,int8", help="types of matrix products (f32,bf16,int8)")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="threads of both sides (all CPUs)")
    parser.add_argument("--quick", action="store_true", help="a tenth of the texts")
    parser.add_argument("--list", action="store_true", help="print the models and make nothing")
    parser.add_argument("--folders", action="store_true", help="make the model folders, print their paths, compare nothing")
    arguments = parser.parse_args()
    if arguments.list:
        for model in folders.MODELS.values():
            print(f"{model.name:22} {model.package:32} {model.license:11} {model.subject}")
        return 0
    names = arguments.models.split(",")
    unknown = [name for name in names if name not in folders.MODELS]
    if unknown:
        print(f"real-models: error: --models: expected {', '.join(folders.MODELS)}, got '{unknown[0]}'", file=sys.stderr)
        return 1
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(arguments.threads)
    failed = 0
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as work:
        attune = Attune(arguments.attune, work, arguments.threads)
        for name in names:
            model = folders.MODELS[name]
            folder = folders.folder_of(model, arguments.cache)
            if arguments.folders:
                print(folder)
                continue
            setting = checks.Setting(attune, folder, arguments.dtypes.split(","), not arguments.quick)
            result = checks.Result()
            for check in checks.CHECKS[name]:
                if arguments.checks and check.__name__ not in arguments.checks.split(","):
                    continue
                begin = time.monotonic()
                try:
                    check(setting, result)
                except CommandFailed as error:
                    result.expect(False, f"{check.__name__}: {error}")
                except texts.MissingTexts as error:
                    print(f"real-models: error: {error}", file=sys.stderr)
                    return 1
                print(f"{name}: {check.__name__}: {time.monotonic() - begin:.0f} s", file=sys.stderr)
            report(name, model, result, setting.dtypes)
            failed += bool(result.failures)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

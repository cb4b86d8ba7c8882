# ===- conftest.py - Models for the tests ----------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tests compare the package with the command line, which ATTUNE_COMMAND names."""

from __future__ import annotations

import os
import pathlib
import shutil
import struct
import subprocess
import threading
from typing import Callable

import hypothesis
import pytest

import attune

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = os.environ["ATTUNE_COMMAND"]

hypothesis.settings.register_profile("attune", database=None, deadline=None, max_examples=40)
hypothesis.settings.load_profile("attune")


def run_attune(*arguments: object, input: str | None = None) -> str:
    """Runs the command line; returns what it prints."""
    done = subprocess.run([COMMAND, *map(str, arguments)], input=input, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def run_threads(work: Callable[[int], None], count: int) -> None:
    """Runs |work| with the numbers from 0 to |count| - 1, each in a thread of its own, and waits for all."""
    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


class Folder:
    """A model folder, the shared object of it, and the opened model."""

    def __init__(self, folder: pathlib.Path, config: str, **flags: object) -> None:
        self.path = folder / config
        run_attune("init", ROOT / "examples/configs" / config, "-o", self.path)
        self.object = folder / (config + ".so")
        attune.compile(self.path, self.object, progress=False, **flags)
        self.model = attune.Model(self.object, threads=2)


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="session")
def bert(folders: pathlib.Path) -> Folder:
    return Folder(folders, "bert-tiny")


def init_headed(folder: pathlib.Path, architecture: str, name: str, more: str = "") -> pathlib.Path:
    """Makes the model folder |name| in |folder|: sentence-tiny as |architecture|, without the modules of sentences; |more| are
    members of its config.json."""
    source, config = ROOT / "examples/configs/sentence-tiny", folder / (name + "-config")
    config.mkdir()
    for path in source.glob("*token*"):
        shutil.copy(path, config)
    text = (source / "config.json").read_text().replace("BertModel", architecture)
    if more:
        text = text.replace("{", "{" + more + ",", 1)
    (config / "config.json").write_text(text)
    run_attune("init", config, "-o", folder / name)
    return folder / name


@pytest.fixture(scope="session")
def plain(folders: pathlib.Path) -> attune.Model:
    """A BERT with a tokenizer."""
    path = init_headed(folders, "BertModel", "plain")
    return attune.Model(path, threads=2, progress=False, padding="skip")


@pytest.fixture(scope="session")
def finder(folders: pathlib.Path) -> attune.SentenceTransformer:
    """A model of sentence-transformers with the prompts query and document."""
    run_attune("init", ROOT / "examples/configs/sentence-tiny", "-o", folders / "finder")
    return attune.SentenceTransformer(folders / "finder", threads=2, progress=False)


@pytest.fixture(scope="session")
def chat(folders: pathlib.Path) -> Folder:
    return Folder(folders, "chat-tiny")


@pytest.fixture(scope="session")
def translate(folders: pathlib.Path) -> Folder:
    return Folder(folders, "translate-tiny")


@pytest.fixture(scope="session")
def toy(folders: pathlib.Path) -> attune.Model:
    """y = x on rows of 8 floats: a call is almost all overhead."""
    import json

    values = struct.pack("<64f", *(float(i % 9 == 0) for i in range(64)))
    header = json.dumps({"w": {"dtype": "F32", "shape": [8, 8], "data_offsets": [0, 256]}}).encode()
    (folders / "toy.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + values)
    (folders / "toy.mlir").write_text(
        """xfmr.weight @w : tensor<8x8xf32> = #xfmr.tensor<"w" : tensor<8x8xf32>>
func.func @forward(%x: tensor<?x8xf32> {xfmr.input = #xfmr.input<"x", [batch, 8]>})
    -> (tensor<?x8xf32> {xfmr.output = #xfmr.output<"y", [batch, 8]>}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  %w = xfmr.weight_ref @w : tensor<8x8xf32>
  %y = xfmr.linear %x, %w : tensor<?x8xf32>, tensor<8x8xf32>
  return %y : tensor<?x8xf32>
}
"""
    )
    return attune.Model(folders / "toy.mlir", weights=folders / "toy.safetensors", threads=1, progress=False)

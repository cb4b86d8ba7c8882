# ===- conftest.py - Models for the tests ----------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tests compare the package with the command line, which ATTUNE_COMMAND names."""
from __future__ import annotations

import os
import pathlib
import subprocess

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


@pytest.fixture(scope="session")
def chat(folders: pathlib.Path) -> Folder:
    return Folder(folders, "chat-tiny")


@pytest.fixture(scope="session")
def translate(folders: pathlib.Path) -> Folder:
    return Folder(folders, "translate-tiny")

# ===- test_examples.py - The programs of python/examples --------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the example of scikit-learn, which is skipped without it, and the cells of the notebook in one namespace."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from conftest import ROOT

EXAMPLES = ROOT / "python/examples"


def test_notebook(plain, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FOLDER", plain.path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    notebook = json.loads((EXAMPLES / "from_folder_to_kernels.ipynb").read_text())
    names: dict[str, object] = {}
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for cell in cells:
        assert cell["outputs"] == [] and cell["execution_count"] is None
        exec(compile("".join(cell["source"]), "from_folder_to_kernels.ipynb", "exec"), names)
    printed = capsys.readouterr().out
    assert "the second text has the same bits alone: True" in printed
    for kernel in plain.kernels[:1]:
        assert kernel.operation in printed
    assert printed.count("MiB") >= 4 and len(names["times"]) == 5


def test_classifier(finder):
    pytest.importorskip("sklearn")
    command = [sys.executable, EXAMPLES / "classify_texts.py", finder.model.path, "--ask", "Boil the water."]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    summary, answer = done.stdout.splitlines()
    assert summary.startswith("48 texts, 4 labels: ") and answer.endswith("\tBoil the water.")


def test_transformer_of_scikit_learn(plain):
    pytest.importorskip("sklearn")
    import pickle

    import numpy as np
    from attune.integrations import TextEncoder
    from sklearn.base import clone
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline

    encoder = TextEncoder(plain.path, truncate_dim=8)
    texts = ["a fox", "the dog", "a lazy fox", "the quick dog"] * 3
    labels = [0, 1, 0, 1] * 3
    features = encoder.fit_transform(texts)
    assert features.shape == (12, 8) and list(encoder.get_feature_names_out())[:2] == ["embedding0", "embedding1"]
    copy = clone(encoder).set_params(truncate_dim=4)
    assert copy.get_params()["truncate_dim"] == 4 and encoder.get_params()["truncate_dim"] == 8
    assert np.array_equal(copy.transform(np.array(texts)), features[:, :4])
    assert np.array_equal(pickle.loads(pickle.dumps(encoder)).transform(texts), features)
    search = GridSearchCV(
        make_pipeline(encoder, LogisticRegression()), {"textencoder__normalize_embeddings": [False, True]}, cv=3
    )
    search.fit(texts, labels)
    assert search.predict(texts[:2]).shape == (2,)

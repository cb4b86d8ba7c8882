#!/usr/bin/env python3
# ===- classify_texts.py - A classifier of texts by scikit-learn ------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""classify_texts.py MODEL [TEXTS.tsv] [--ask TEXT…]: trains a classifier of scikit-learn on the embeddings of MODEL, a
folder of sentence-transformers, and prints how many texts it gets right in a cross validation.

A line of TEXTS.tsv is a label, a tab and a text; topics.tsv is beside this file. Texts behind --ask are classified by what
was learned from all lines.
"""

from __future__ import annotations

import argparse
import pathlib

from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline

from attune.integrations import TextEncoder


def read_texts(path: pathlib.Path) -> tuple[list[str], list[str]]:
    """Returns the texts and the labels of a file."""
    texts, labels = [], []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        label, tab, text = line.partition("\t")
        if not (label and tab and text):
            raise SystemExit(f"{path}:{number}: expected a label, a tab and a text")
        texts.append(text)
        labels.append(label)
    return texts, labels


def make_classifier(model: str) -> Pipeline:
    """Returns an untrained classifier on embeddings of the length 1."""
    return make_pipeline(TextEncoder(model, normalize_embeddings=True), LogisticRegression(C=10, max_iter=1000))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("texts", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).with_name("topics.tsv"))
    parser.add_argument("--ask", nargs="*", default=[], metavar="TEXT")
    arguments = parser.parse_args()
    texts, labels = read_texts(arguments.texts)
    classifier = make_classifier(arguments.model)
    folds = StratifiedKFold(n_splits=4, shuffle=True, random_state=0)
    scores = cross_val_score(classifier, texts, labels, cv=folds)
    print(f"{len(texts)} texts, {len(set(labels))} labels: {scores.mean():.0%} right")
    if arguments.ask:
        for text, label in zip(arguments.ask, classifier.fit(texts, labels).predict(arguments.ask)):
            print(f"{label}\t{text}")


if __name__ == "__main__":
    main()

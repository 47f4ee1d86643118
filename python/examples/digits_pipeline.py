#!/usr/bin/env python3
"""Digits told apart: pixels, features of an RBM, a deep belief net, and a classification RBM.

    PYTHONPATH=build/release/python python3 python/examples/digits_pipeline.py [--updates 5000]
"""

import argparse

from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from harmonium import DBN, RBM, ClassificationRBM, load_digits


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--updates", type=int, default=5000, help="of every machine")
    updates = parser.parse_args().updates
    X, y = load_digits("train")
    X_test, y_test = load_digits("test")
    classifier = LogisticRegression(C=10, max_iter=2000)
    models = {
        "logistic regression of pixels": classifier,
        "… of an RBM's hidden units": make_pipeline(RBM(n_components=200, updates=updates, random_state=0), classifier),
        "… of a deep belief net's": make_pipeline(DBN(layers=(200, 100), updates=updates, random_state=0), classifier),
        "classification RBM, hybrid": ClassificationRBM(200, objective="hybrid", updates=updates, random_state=0),
    }
    for name, model in models.items():
        print(f"{name:32} {100 * (1 - model.fit(X, y).score(X_test, y_test)):5.2f} % errors")


if __name__ == "__main__":
    main()

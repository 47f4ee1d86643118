#!/usr/bin/env python3
"""How probable does a model trained elsewhere hold data it has not seen? Trains one with scikit-learn and judges it.

    PYTHONPATH=build/release/python python3 python/examples/imported_likelihood.py [--n-iter 20]
"""

import argparse
import os
import tempfile

import numpy as np
from sklearn.neural_network import BernoulliRBM

import harmonium


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n-iter", type=int, default=20, help="passes over the data")
    parser.add_argument("--betas", type=int, default=2000, help="steps of the estimates")
    arguments = parser.parse_args()
    X, _ = harmonium.load_digits("train")
    X_test, _ = harmonium.load_digits("test")

    theirs = BernoulliRBM(n_components=64, learning_rate=0.05, n_iter=arguments.n_iter, random_state=0).fit(X)
    path = os.path.join(tempfile.mkdtemp(), "theirs.npz")
    np.savez(
        path,
        components_=theirs.components_,
        intercept_visible_=theirs.intercept_visible_,
        intercept_hidden_=theirs.intercept_hidden_,
    )

    imported = harmonium.load(path)
    updates = arguments.n_iter * len(X) // 10
    ours = harmonium.RBM(64, batch_size=10, particles=100, updates=updates, random_state=0).fit(X)
    for name, model in (("scikit-learn's", imported), ("ours", ours)):
        found = model.log_likelihood(X_test, method="sandwich", betas=arguments.betas, chains=200)
        print(f"{name:15} {found}\n{'':15} {found.verdict}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Updates per second: BernoulliRBM, this package, and the tool, in turns. 784 × 500 units, batches of 100, MNIST.

    HARMONIUM_DATA=… PYTHONPATH=build/release/python python3 python/examples/speed.py [--tool build/release/harmonium]

All make a step of plain gradient with persistent chains (optimizer sgd); data are bits, drawn once. Clock time, and
time of the processor, which others at work on the machine disturb less.
"""

import argparse
import json
import os
import resource
import subprocess
import tempfile
import time

import numpy as np
from sklearn.neural_network import BernoulliRBM

import harmonium


def processor_seconds(who=resource.RUSAGE_SELF):
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def timed(work):
    clock, processor = time.perf_counter(), processor_seconds()
    work()
    return time.perf_counter() - clock, processor_seconds() - processor


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="mnist:train")
    parser.add_argument("--updates", type=int, default=600, help="of ours and the tool; BernoulliRBM makes a fifth")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--tool", help="the program, to compare with")
    arguments = parser.parse_args()
    rows, _ = harmonium._core.load_dataset(arguments.data)
    X = (rows.numpy() > np.random.RandomState(0).rand(*rows.numpy().shape)).astype(np.uint8)
    fewer = max(1, arguments.updates // 5)
    part = X[: 100 * fewer].astype(np.float64)
    folder = tempfile.mkdtemp()
    np.save(os.path.join(folder, "bits.npy"), X)

    def theirs():
        BernoulliRBM(500, batch_size=100, n_iter=1, learning_rate=0.05, random_state=0).fit(part)

    def ours(updates):
        rbm = harmonium.RBM(
            500, optimizer="sgd", learning_rate=0.05, updates=updates, n_threads=arguments.threads, random_state=0
        )
        return rbm.fit(X)

    def tool():
        command = [
            arguments.tool, "train", "--data", os.path.join(folder, "bits.npy"), "--hidden", "500", "--optimizer", "sgd",
            "--rate-weights", "0.05", "--rate-bias", "0.05", "--updates", str(arguments.updates), "--valid", "none",
            "--log-every", str(arguments.updates), "--checkpoint-every", str(arguments.updates), "--json",
            "--threads", str(arguments.threads), "--overwrite", "--out", os.path.join(folder, "run"),
        ]  # fmt: skip
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    best = {}

    def note(name, rate):
        best[name] = max(best.get(name, 0), rate)
        print(f"  {name:28} {rate:8.1f} updates/s", flush=True)

    ours(10)
    for number in range(arguments.rounds):
        print(f"round {number + 1}")
        clock, processor = timed(theirs)
        note("BernoulliRBM, clock", fewer / clock)
        note("BernoulliRBM, processor", fewer / processor)
        fitted = []
        clock, processor = timed(lambda: fitted.append(ours(arguments.updates)))
        note("RBM.fit, all of it, clock", arguments.updates / clock)
        note("RBM.fit, all of it, processor", arguments.updates / processor)
        note("RBM.fit, its updates, clock", arguments.updates / fitted[0]._learner.seconds)
        if arguments.tool:
            note("tool, its updates, clock", tool()["updates_per_second"])
    print(f"RBM.fit : BernoulliRBM  {best['RBM.fit, all of it, clock'] / best['BernoulliRBM, clock']:.2f} by the clock, "
          f"{best['RBM.fit, all of it, processor'] / best['BernoulliRBM, processor']:.2f} by processor time")  # fmt: skip
    if arguments.tool:
        print(f"RBM.fit : tool  {best['RBM.fit, its updates, clock'] / best['tool, its updates, clock']:.3f}")


if __name__ == "__main__":
    main()

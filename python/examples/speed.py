#!/usr/bin/env python3
"""Updates per second: BernoulliRBM, this package, and the tool, in turns. 784 × 500 units, batches of 100, MNIST.

    HARMONIUM_DATA=… PYTHONPATH=build/release/python python3 python/examples/speed.py [--tool build/release/harmonium]

All make a step of plain gradient with persistent chains (optimizer sgd); data are bits, drawn once. Clock time, and
time of the processor, which others at work on the machine disturb less. For the tool and for fit, what a longer run takes
more than a shorter one: preparations are left out.
"""

import argparse
import json
import os
import resource
import statistics
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

    def tool(updates):
        command = [
            arguments.tool, "train", "--data", os.path.join(folder, "bits.npy"), "--hidden", "500", "--optimizer", "sgd",
            "--rate-weights", "0.05", "--rate-bias", "0.05", "--updates", str(updates), "--valid", "none",
            "--log-every", str(updates), "--checkpoint-every", str(updates), "--json",
            "--threads", str(arguments.threads), "--overwrite", "--out", os.path.join(folder, "run"),
        ]  # fmt: skip
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    def processor_per_update(train, who):
        """Seconds of processor time."""
        spent = []
        for updates in (arguments.updates // 4, arguments.updates):
            before = processor_seconds(who)
            train(updates)
            spent.append(processor_seconds(who) - before)
        return (spent[1] - spent[0]) / (arguments.updates - arguments.updates // 4)

    found = {}

    def note(name, rate):
        found.setdefault(name, []).append(rate)
        print(f"  {name:34} {rate:8.1f} updates/s", flush=True)

    ours(10)
    for number in range(arguments.rounds):
        print(f"round {number + 1}")
        clock, processor = timed(theirs)
        note("BernoulliRBM, clock", fewer / clock)
        note("BernoulliRBM, processor", fewer / processor)
        clock, processor = timed(lambda: ours(arguments.updates))
        note("RBM.fit, all of it, clock", arguments.updates / clock)
        note("RBM.fit, all of it, processor", arguments.updates / processor)
        if arguments.tool:
            note("RBM.fit, updates alone, processor", 1 / processor_per_update(ours, resource.RUSAGE_SELF))
            note("tool, updates alone, processor", 1 / processor_per_update(tool, resource.RUSAGE_CHILDREN))
    for what in ("clock", "processor"):
        ratios = [a / b for a, b in zip(found[f"RBM.fit, all of it, {what}"], found[f"BernoulliRBM, {what}"])]
        print(f"RBM.fit : BernoulliRBM  {min(ratios):.2f} … {max(ratios):.2f} by {what} time")
    if arguments.tool:
        rates = [statistics.median(found[name]) for name in ("RBM.fit, updates alone, processor", "tool, updates alone, processor")]
        print(f"RBM.fit : tool  {rates[0] / rates[1]:.3f} by processor time of updates, medians")


if __name__ == "__main__":
    main()

#!/usr/bin/python3
"""Times scikit-learn's BernoulliRBM, whose partial_fit is one update of persistent contrastive divergence (PCD-1).

The reference of `make bench`: the same data shape, batch and negative phase as ours, timed on the same machine in the
same run. Run it with Debian's own interpreter, which sees python3-sklearn:

    /usr/bin/python3 bench/reference/sklearn_pcd.py --threads 2 [--data batches.npy]

Prints one JSON object: {"updates_per_second": ..., "sklearn": ..., ...}. The speed is the median over blocks of
updates, which a stray pause of the machine does not move.
"""

import argparse
import json
import os
import statistics
import sys
import time


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help=".npy of rows x visible in [0, 1]; synthetic binary data when left out")
    parser.add_argument("--visible", type=int, default=784, help="columns of the synthetic data (default %(default)s)")
    parser.add_argument("--hidden", type=int, default=500, help="hidden units (default %(default)s)")
    parser.add_argument("--batch", type=int, default=100, help="rows an update (default %(default)s)")
    parser.add_argument("--blocks", type=int, default=7, help="blocks whose median counts (default %(default)s)")
    parser.add_argument("--updates", type=int, default=20, help="updates a block (default %(default)s)")
    parser.add_argument("--type", choices=["float32", "float64"], default="float32", help="default %(default)s")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="of the BLAS (default: all cores)")
    parser.add_argument("--seed", type=int, default=0, help="default %(default)s")
    arguments = parser.parse_args()
    for name in ("visible", "hidden", "batch", "blocks", "updates", "threads"):
        if getattr(arguments, name) < 1:
            parser.error(f"--{name} must be at least 1")
    return arguments


def load_batches(arguments, numpy):
    """Rows cut into whole batches: (batches, batch, visible)."""
    if arguments.data:
        rows = numpy.load(arguments.data)
        if rows.ndim != 2 or len(rows) < arguments.batch:
            sys.exit(f"{arguments.data}: shape {rows.shape}; need two dimensions and at least {arguments.batch} rows")
    else:
        # One pixel in eight is on, about as many as in a handwritten digit; speed does not depend on which.
        random = numpy.random.RandomState(arguments.seed)
        rows = random.random_sample((20 * arguments.batch, arguments.visible)) < 0.125
    count = len(rows) // arguments.batch
    return rows[: count * arguments.batch].astype(arguments.type).reshape(count, arguments.batch, -1)


def main():
    arguments = parse_arguments()
    # The BLAS reads these once, when numpy is first imported.
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[variable] = str(arguments.threads)
    import numpy
    import sklearn
    from sklearn.neural_network import BernoulliRBM

    batches = load_batches(arguments, numpy)
    rbm = BernoulliRBM(
        n_components=arguments.hidden, batch_size=arguments.batch, learning_rate=0.01, random_state=arguments.seed
    )

    speeds = []
    update = 0
    for block in range(arguments.blocks + 1):
        start = time.perf_counter()
        for _ in range(arguments.updates):
            rbm.partial_fit(batches[update % len(batches)])
            update += 1
        seconds = time.perf_counter() - start
        if block > 0:  # the first one pays for start-up
            speeds.append(arguments.updates / seconds)
    if not numpy.isfinite(rbm.components_).all():
        sys.exit("the reference diverged; its time says nothing")

    print(
        json.dumps(
            {
                "updates_per_second": statistics.median(speeds),
                "slowest_block": min(speeds),
                "fastest_block": max(speeds),
                "visible": batches.shape[2],
                "hidden": arguments.hidden,
                "batch": arguments.batch,
                "type": arguments.type,
                "threads": arguments.threads,
                "sklearn": sklearn.__version__,
            }
        )
    )


if __name__ == "__main__":
    main()

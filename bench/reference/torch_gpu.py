"""What a careful PyTorch user gets on the same GPU: Gibbs sweeps and FANG updates of a 784x500 binary RBM.

    python3 bench/reference/torch_gpu.py [--compile]

CUDA graphs of ten steps, TF32 or bf16 products, torch.bernoulli. --compile adds torch.compile (minutes). Data are random:
the time of an update does not depend on them."""
import statistics
import sys

import torch

device, visible, hidden = "cuda", 784, 500


def microseconds(step, per_call, calls=20, turns=7):
    for _ in range(3):
        step()
    torch.cuda.synchronize()
    times = []
    for _ in range(turns):
        start, end = torch.cuda.Event(True), torch.cuda.Event(True)
        start.record()
        for _ in range(calls):
            step()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end) / calls / per_call * 1e3)
    return statistics.median(times)


def graph_of(step, count=10):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(count):
            step()
    return graph.replay


def sweeps(rows, compiled):
    weights = torch.randn(visible, hidden, device=device) * 0.05
    a, b = torch.zeros(visible, device=device), torch.zeros(hidden, device=device)
    best = {}
    for name, kind in (("tf32", torch.float32), ("bf16", torch.bfloat16)):
        w, va, hb = weights.to(kind), a.to(kind), b.to(kind)
        v = (torch.rand(rows, visible, device=device) < 0.2).to(kind)

        def sweep():
            h = torch.bernoulli(torch.sigmoid(torch.addmm(hb, v, w)))
            v.copy_(torch.bernoulli(torch.sigmoid(torch.addmm(va, h, w.t()))))

        best[name] = microseconds(graph_of(sweep), 10)
        if compiled:

            @torch.compile(mode="max-autotune-no-cudagraphs")
            def fused(state, w, va, hb):
                h = (torch.rand(rows, hidden, device=device) < torch.sigmoid(torch.addmm(hb, state, w))).to(state.dtype)
                return (torch.rand_like(state) < torch.sigmoid(torch.addmm(va, h, w.t()))).to(state.dtype)

            best[name + " compiled"] = microseconds(lambda: v.copy_(fused(v, w, va, hb)), 1, calls=200)
    return best


def fang(rows=2000):
    """A FANG update: new bits for the batch, one sweep of the chains, moments, the factorized step; statistics of the
    chains every 10 updates and a new factorization every 100."""
    n = visible + hidden
    data = torch.rand(60000, visible, device=device)
    weights, a, b = torch.randn(visible, hidden, device=device) * 0.05, torch.zeros(visible, device=device), torch.zeros(hidden, device=device)
    averages = [x.clone() for x in (weights, a, b)]
    h = (torch.rand(rows, hidden, device=device) < 0.5).float()
    second, mean, inverse = torch.zeros(n, n, device=device), torch.zeros(n, device=device), torch.eye(n, device=device)
    alpha, beta, variance = (torch.zeros(visible, hidden, device=device) for _ in range(3))

    def update():
        x = torch.bernoulli(data[torch.randint(0, 60000, (rows,), device=device)])
        hp = torch.sigmoid(b + x @ weights)
        v = torch.bernoulli(torch.sigmoid(a + h @ weights.t()))
        hn = torch.sigmoid(b + v @ weights)
        h.copy_(torch.bernoulli(hn))
        da, db, gradient = x.mean(0) - v.mean(0), hp.mean(0) - hn.mean(0), (x.t() @ hp - v.t() @ hn) / rows
        step = (gradient - alpha * da[:, None] - beta * db[None]) / variance
        unary = inverse @ torch.cat([da, db])
        weights.add_(1e-3 * step)
        a.add_(1e-2 * unary[:visible] - 1e-3 * (step * alpha).sum(1))
        b.add_(1e-2 * unary[visible:] - 1e-3 * (step * beta).sum(0))
        for average, value in zip(averages, (weights, a, b)):
            average.lerp_(value, 0.01)

    def observe(weight=0.1):
        v = torch.sigmoid(a + h @ weights.t())
        u = torch.cat([v, h], 1)
        s = u.t() @ u / rows + torch.diag(torch.cat([(v * (1 - v)).mean(0), torch.zeros(hidden, device=device)]))
        second.lerp_(s, weight)
        mean.lerp_(u.mean(0), weight)

    def refit(damping=0.01):
        c = second - torch.outer(mean, mean) + damping * torch.eye(n, device=device)
        inverse.copy_(torch.cholesky_inverse(torch.linalg.cholesky(c)))
        p, q, r = mean[:visible, None], mean[None, visible:], second[:visible, visible:]
        f, g, cov = p * (1 - p) + damping, q * (1 - q) + damping, r - p * q
        x, y, det = r * (1 - p), r * (1 - q), (p * (1 - p) + damping) * (q * (1 - q) + damping) - (r - p * q) ** 2
        alpha.copy_((g * x - cov * y) / det)
        beta.copy_((f * y - cov * x) / det)
        variance.copy_(r * (1 - r) + damping - (alpha * x + beta * y))

    observe(1.0)
    refit()
    replay = graph_of(update)

    def hundred():
        for ten in range(10):
            observe()
            if ten == 0:
                refit()
            replay()

    return microseconds(hundred, 100, calls=3)


if __name__ == "__main__":
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = True
    for rows in (100, 2000, 5000, 20000):
        best = sweeps(rows, "--compile" in sys.argv and rows == 20000)
        print(f"sweep, {rows} chains: " + ", ".join(f"{name} {value:.1f}" for name, value in best.items()) + " µs", flush=True)
    print(f"fang update, batch and particles 2000: {fang():.1f} µs", flush=True)
    big = torch.randn(8192, 8192, device=device, dtype=torch.bfloat16)
    print(f"matrix product of 8192², bf16: {2 * 8192**3 / microseconds(lambda: big @ big, 1) * 1e-6:.0f} TFLOP/s")

"""How far training is: a bar where somebody watches, lines in the manner of scikit-learn elsewhere."""

import sys


def _in_notebook():
    shell = sys.modules.get("IPython")
    shell = shell.get_ipython() if shell is not None else None
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"


def _duration(seconds):
    whole = int(seconds + 0.5)
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}" if whole >= 3600 else f"{whole // 60}:{whole % 60:02}"


class Progress:
    """Is called with (update, total, seconds, epoch, metrics) about ten times a second."""

    LINES = 20  # at most so many where nobody watches

    def __init__(self, name):
        self.name = name
        self.bar = sys.stdout.isatty() or _in_notebook()
        self.drawn = False
        self.shown = 0
        self.before = 0.0

    def __call__(self, update, total, seconds, epoch, metrics):
        if self.bar:
            self._draw(update, total, seconds, metrics)
        elif update == total or update >= (self.shown + 1) * total / self.LINES:
            self.shown = update * self.LINES // total
            pseudo = metrics.get("pseudo_log_likelihood")
            text = "" if pseudo is None else f" pseudo-likelihood = {pseudo:.2f},"
            print(f"[{self.name}] Iteration {max(1, round(epoch))},{text} time = {seconds - self.before:.2f}s", flush=True)
            self.before = seconds

    def _draw(self, update, total, seconds, metrics):
        cells = 30
        full = cells * update // total
        rate = update / seconds if seconds > 0 else 0
        left = _duration((total - update) / rate) if rate > 0 else "?"
        watched = "".join(
            f"  {label} {metrics[key]:.4g}"
            for key, label in (
                ("classification_error", "error"),
                ("pseudo_log_likelihood", "pseudo-LL"),
                ("free_energy_gap", "gap"),
            )
            if key in metrics
        )
        bar = "━" * full + "─" * (cells - full)
        text = f"{self.name} {bar} {100 * update // total:3} %  {update}/{total}  {rate:.0f}/s  {left}{watched}"
        print("\r" + text + " " * 8, end="", flush=True)
        self.drawn = True

    def close(self):
        if self.drawn:
            print(flush=True)


def show_work(what, done, total):
    """A piece of an estimate, on one line where somebody watches."""
    if sys.stdout.isatty() or _in_notebook():
        print(f"\r{what}  {100 * done // max(1, total):3} %   ", end="\n" if done == total else "", flush=True)

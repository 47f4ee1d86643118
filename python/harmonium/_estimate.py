"""A number that says what it is."""

from dataclasses import dataclass
from typing import Optional, Tuple


@dataclass(frozen=True)
class Estimate:
    """A log-likelihood (or log Z) in nats: its value, a 95 % interval, what kind of statement it is, and how it was got.

    kind is "exact", "estimate", "lower bound", "upper bound", "estimated lower bound" or "unbiased estimate" (of Z).
    `verdict` says in words what can be trusted, where there is something to say; `lower` and `upper` are bounds found on
    the way, where there are any.
    """

    value: float
    interval: Tuple[float, float]
    kind: str
    method: str
    n: int = 0
    binarization: str = ""
    verdict: str = ""
    log_z: Optional["Estimate"] = None
    lower: Optional["Estimate"] = None
    upper: Optional["Estimate"] = None

    def __float__(self):
        return self.value

    def __str__(self):
        if self.kind == "exact":
            return f"{self.value:.6f} nats, exact"
        low, high = self.interval
        return f"{self.value:.3f} nats [{low:.3f}, {high:.3f}], {self.kind}"

"""A number that says what it is."""

from dataclasses import dataclass, replace
from html import escape
from typing import Optional, Tuple


@dataclass(frozen=True)
class Estimate:
    """A log-likelihood (or log Z) in nats: its value, a 95 % interval, what kind of statement it is, and how it was got.

    `trusted` says whether the value can be relied on. Where it is False, `bracket` is what the truth lies between as
    far as is known (None: that side is open), and `str()` shows that in place of the value. `interval` is None where
    fewer than 20 effective samples would have to say how sure they are.

    kind is "exact", "estimate", "lower bound", "upper bound", "estimated lower bound" or "unbiased estimate" (of Z).
    `verdict` says in words what can be trusted, where there is something to say; `log_z` is the log of the
    partition function it rests on, `lower` a bound on the log-likelihood (RAISE) and `upper_log_z` one on log Z, where
    they were found on the way.
    """

    value: float
    kind: str
    method: str
    interval: Optional[Tuple[float, float]] = None
    n: int = 0
    binarization: str = ""
    verdict: str = ""
    log_z: Optional["Estimate"] = None
    lower: Optional["Estimate"] = None
    upper_log_z: Optional["Estimate"] = None
    trusted: bool = True
    bracket: Tuple[Optional[float], Optional[float]] = (None, None)
    remark: str = ""

    def __float__(self):
        return self.value

    def __str__(self):
        if self.kind == "exact":
            return f"{self.value:.6f} nats, exact"
        if not self.trusted:
            return self.remark
        if self.interval is None:
            return f"{self.value:.3f} nats, too few effective samples for an interval, {self.kind}"
        low, high = self.interval
        return f"{self.value:.3f} nats [{low:.3f}, {high:.3f}], {self.kind}"

    def _repr_html_(self):
        """For notebooks: value, interval, kind and verdict."""
        unit = "nats per row" if self.n else "nats"
        cells = [("value", f"<b>{self.value:.6g}</b> {unit}" if self.trusted else f"<b>{escape(self.remark)}</b>")]
        cells.append(("kind", escape(self.kind)))
        if self.kind != "exact" and self.trusted:
            shown = "too few effective samples" if self.interval is None else "[{:.6g}, {:.6g}]".format(*self.interval)
            cells.append(("95 % interval", shown))
        cells.append(("method", escape(self.method)))
        if self.n:
            cells.append(("rows", f"{self.n}, binarization {escape(self.binarization)}"))
        for name, part in (("log Z", self.log_z), ("lower bound", self.lower), ("upper bound of log Z", self.upper_log_z)):
            if part is not None:
                cells.append((name, escape(str(part))))
        if self.verdict:
            cells.append(("verdict", f"<b>{escape(self.verdict)}</b>"))
        rows = "".join(f"<tr><th style='text-align:left'>{name}</th><td>{text}</td></tr>" for name, text in cells)
        return f"<table>{rows}</table>"

    @classmethod
    def _of(cls, found):
        """From what the engine says."""
        found = dict(found)
        log_z = found.pop("log_z", None)
        upper_log_z = found.pop("upper_log_z", None)
        lower = found.pop("lower", None)
        self = cls(**found)
        parts = {}
        if log_z is not None:
            parts["log_z"] = cls(**log_z)
        if upper_log_z is not None:
            parts["upper_log_z"] = cls(**upper_log_z)
        if lower is not None:
            parts["lower"] = cls(**lower)
        return replace(self, **parts)

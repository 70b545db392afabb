"""Evidence of made numbers, to test the checks of claims with: it is the real class with other rows."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from kernsemble.report.ledger import Finding
from kernsemble.report.published import read_claims
from kernsemble.report.verdicts import Verdict, of_claim
from kernsemble.trials.evidence import Evidence, Row
from kernsemble.trials.plan import Key

ROOT = Path(__file__).parents[2]
Value = Callable[[str, str, str], object]


def made_evidence(
    value: Value,
    methods: Iterable[str] = ("any",),
    datasets: Iterable[str] = ("any",),
    *,
    runs: int = 20,
    noise: float = 1e-3,
    missing: Callable[[Key], bool] | None = None,
    metrics: Iterable[str] = (),
) -> Evidence:
    """Return evidence whose metrics are ``value(metric, dataset, method)``: a number or a curve.

    Numbers whose name begins with "error" get the same noise in all cells of a run, so that a bootstrap has
    something to resample and the order of methods stays what it is. ``missing`` says which rows are not
    there. Any metric may be asked for; ``metrics`` are the columns of ``frame``.
    """
    methods, datasets = tuple(methods), tuple(datasets)
    keys = [Key(label, method, run) for label in datasets for method in methods for run in range(runs)]
    there = [key for key in keys if missing is None or not missing(key)]
    exhibit = SimpleNamespace(name="made", columns=_AnyMetric(metrics))
    plan = SimpleNamespace(
        exhibit=exhibit, stamps=dict.fromkeys(keys, ""), methods=methods, datasets=datasets
    )
    rows = {key: Row(key, _MadeMetrics(value, key, noise), 1.0, "") for key in there}
    return Evidence(plan, rows)


def made_study(
    evidence: Evidence | Mapping[str, Evidence], protocol: Mapping[str, object] | None = None, key: str = ""
) -> SimpleNamespace:
    """Return what a check sees of a study; one evidence serves all exhibits, or each has its own.

    ``key`` names the paper whose printed numbers it has.
    """
    return SimpleNamespace(
        key=key,
        root=ROOT,
        evidence=lambda exhibit: evidence if isinstance(evidence, Evidence) else evidence[exhibit],
        protocol=lambda exhibit: dict(protocol or {}),
    )


def decided(claim_id: str, finding: Finding) -> Verdict:
    """Return the verdict on a claim by our numbers alone; parts that cannot be tested are left out."""
    (claim,) = (claim for claim in read_claims(ROOT / "published" / "claims.yaml") if claim.id == claim_id)
    ours = {name: replace(answer, printed=None) for name, answer in finding.holds.items()}
    verdicts = replace(finding, holds=ours).verdicts(claim)
    return of_claim(verdict for verdict in verdicts.values() if verdict != Verdict.UNTESTED)


class _AnyMetric(tuple):
    """Columns of an exhibit that has whatever metric is asked for."""

    def __contains__(self, metric: object) -> bool:
        return True


class _MadeMetrics(dict):
    """Metrics of a row, as text, made when they are read."""

    def __init__(self, value: Value, key: Key, noise: float) -> None:
        super().__init__()
        self.value, self.key, self.noise = value, key, noise

    def __missing__(self, metric: str) -> str:
        made = self.value(metric, self.key.dataset, self.key.method)
        if np.ndim(made):
            return "".join(f" {float(number)!r}" for number in made)
        return repr(float(made) + self._noise(metric))

    def get(self, metric: str, default: str | None = None) -> str:
        return self[metric]

    def _noise(self, metric: str) -> float:
        if not metric.startswith("error"):
            return 0.0
        rng = np.random.default_rng([self.key.trial, zlib.crc32(metric.encode())])
        return float(rng.normal(0.0, self.noise))

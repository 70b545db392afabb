"""How the time of a fit grows with the number of samples: results/benchmarks_scaling.csv and .svg."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from race import Row, fastest

from kernsemble import AdaBoost, CGEns, MultiBoost

SIZES = (1_000, 10_000, 100_000, 1_000_000)
ROUNDS = 10
MODELS = {
    "AdaBoost": lambda n, rounds: AdaBoost(rounds),
    "CGEns": lambda n, rounds: CGEns(C=1.0 / n, n_rounds=rounds, tol=None),
    "MultiBoost-cw": lambda n, rounds: MultiBoost(C=1e4, n_rounds=rounds, tol=None),
}
COLUMNS = ["model", "n_samples", "first_round", "later_round", "fit"]
TABLE = Path(__file__).parent.parent / "results" / "benchmarks_scaling.csv"


def samples(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Continuous features without ties, noisy labels."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 50))
    return X, X[:, :5].sum(axis=1) + rng.normal(size=n) > 0


def measure() -> Iterator[tuple]:
    """Measure the seconds of fits of one round and of eleven."""
    for n in SIZES:
        X, y = samples(n)
        for name, make in MODELS.items():
            fits = [partial(make(n, rounds).fit, X, y) for rounds in (1, 1 + ROUNDS)]
            first, many = (fastest(fit, 3 if n < 50_000 else 1)[0] for fit in fits)
            yield name, n, first, (many - first) / ROUNDS, many


def slope(n: np.ndarray, seconds: np.ndarray) -> float:
    """Power of n with which seconds grow, over the sizes from 10^4 on: below, constant costs count."""
    large = n >= 10_000
    return float(np.polyfit(np.log(n[large]), np.log(seconds[large]), 1)[0])


def draw(table: pd.DataFrame) -> None:
    """Draw the seconds of a fit, with slopes in the legend."""
    from kernsemble.report.figures import render, subplots

    figure, axes = subplots(size=(5.0, 3.4))
    for name, part in table.groupby("model", sort=False):
        power = slope(part.n_samples.to_numpy(), part.fit.to_numpy())
        axes.plot(part.n_samples, part.fit, "o-", label=f"{name}, slope {power:.2f}")
    n = np.array([SIZES[1], SIZES[-1]])
    axes.plot(n, table.fit.max() / SIZES[-1] * 0.2 * n, "--", color="0.5", label="slope 1")
    axes.set(
        xscale="log", yscale="log", xlabel="samples (50 continuous features)",
        ylabel=f"seconds of a fit, {1 + ROUNDS} rounds",
    )  # fmt: skip
    axes.legend()
    TABLE.with_suffix(".svg").write_text(render(figure), encoding="utf-8")


def rows() -> list[Row]:
    """Write and draw the seconds; no race, so no rows."""
    records = []
    for record in measure():
        records.append(record)
        table = pd.DataFrame(records, columns=COLUMNS)
        table.to_csv(TABLE, index=False, float_format="%.4g")  # at once: a run that is stopped keeps it
    draw(table)
    return []

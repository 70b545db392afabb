"""What to use when, read off the comparison: every sentence is made of computed numbers."""

from __future__ import annotations

import numpy as np

from kernsemble.report.comparisons import significant
from kernsemble.report.tables import Cell, Table, save_table, scale_note
from kernsemble.trials.study import Study
from atlas.compare import (
    KINDS,
    LEVEL,
    ROPE,
    Comparison,
    Kind,
    against,
    best_peer,
    compare,
    critical_difference,
    friedman,
)

_FEWEST_SETS = 3  # that ranks are worth computing for
_WANTED = {
    "a short training": ("fit_seconds", "s"),
    "fast predictions": ("predict_seconds", "s for 1000 rows"),
    "a small model": ("kilobytes", "kB"),
}


def show_answers(study: Study) -> Table:
    """Return which method serves which wish best, with the numbers behind it."""
    rows = []
    for kind in KINDS[:2]:
        comparison = compare(study, kind)
        if len(comparison.datasets) < _FEWEST_SETS:
            rows.append((Cell(kind), Cell("any"), Cell("…"), Cell("too few sets are complete")))
            continue
        rows.append((Cell(kind), *_smallest_error(comparison)))
        rows += [(Cell(kind), *_cheapest(comparison, wish)) for wish in _WANTED]
    caption = (
        f"{scale_note(study)}Short, fast and small: the least of the methods whose mean error is within "
        f"{ROPE:g} point of the least."
    )
    table = Table(("classes", "you want", "take", "numbers"), tuple(rows), caption)
    save_table(study, table, "answers")
    return table


def _smallest_error(comparison: Comparison) -> tuple[Cell, Cell, Cell]:
    ranks = comparison.ranks.sort_values()
    limit = critical_difference(len(comparison.methods), len(comparison.datasets))
    apart = [name for name in ranks.index[1:] if ranks[name] - ranks.iloc[0] >= limit]
    close = [name for name in ranks.index[1:] if name not in apart]
    best = str(ranks.index[0])
    error = comparison.by_method("error", best).mean()
    note = f"average rank {ranks.iloc[0]:.1f} of {len(ranks)}, mean error {error:.1f} %; "
    if len(apart) < len(close):
        note += f"told apart from: {', '.join(apart) or 'none'}"
    else:
        note += f"not told apart from: {', '.join(close) or 'none'}"
    return Cell("the smallest error"), Cell(best), Cell(note)


def _cheapest(comparison: Comparison, wish: str) -> tuple[Cell, Cell, Cell]:
    metric, unit = _WANTED[wish]
    errors, cost = comparison.errors.mean(axis=0), comparison.typical(metric)
    good = np.flatnonzero(errors <= errors.min() + ROPE)
    first = int(good[cost[good].argmin()])
    best = int(errors.argmin())
    note = (
        f"{significant(cost[first], 2)} {unit}, mean error {errors[first]:.1f} %; "
        f"{comparison.methods[best]}: {significant(cost[best], 2)} {unit}, {errors[best]:.1f} %"
    )
    return Cell(wish), Cell(comparison.methods[first]), Cell(note)


def show_ranks(study: Study) -> Table:
    """Return Friedman's test and the critical difference of each comparison."""
    rows = []
    for kind in KINDS:
        comparison = compare(study, kind)
        n_sets, n_methods = len(comparison.datasets), len(comparison.methods)
        counts = Cell(str(n_sets)), Cell(str(n_methods))
        if n_sets < _FEWEST_SETS:
            rows.append((Cell(kind), *counts, Cell("…"), Cell("…"), Cell("…")))
            continue
        statistic, p_value = friedman(comparison)
        ranks = comparison.ranks
        first = f"{ranks.idxmin()} ({ranks.min():.1f})"
        p_text = "< 0.0001" if p_value < 1e-4 else significant(p_value, 2)
        limit = f"{critical_difference(n_methods, n_sets):.2f}"
        rows.append((Cell(kind), *counts, Cell(f"{statistic:.1f} (p {p_text})"), Cell(limit), Cell(first)))
    header = ("comparison", "sets", "methods", "Friedman", "critical difference", "best rank")
    caption = f"{scale_note(study)}Critical difference of average ranks: Nemenyi's test at {100 * LEVEL:g} %."
    table = Table(header, tuple(rows), caption)
    save_table(study, table, "ranks")
    return table


def show_probabilities(study: Study, kind: Kind) -> Table:
    """Return for each method the probabilities against the best method of today."""
    comparison = compare(study, kind)
    if len(comparison.datasets) < _FEWEST_SETS:
        rows, rival = (
            ((Cell("…"), Cell("too few sets are complete"), Cell(""), Cell("")),),
            "the best of today",
        )
    else:
        rival = best_peer(comparison)
        found = against(comparison, rival)
        ordered = sorted(found, key=lambda method: comparison.ranks[method])
        rows = tuple((Cell(m), *(Cell(f"{share:.2f}") for share in found[m])) for m in ordered)
    header = (f"{kind}, against {rival}", "better", "equal", "worse")
    caption = (
        f"{scale_note(study)}Bayesian signed-rank test over sets; equal: within {ROPE:g} point of error."
    )
    table = Table(header, rows, caption)
    save_table(study, table, f"probabilities_{kind.replace(' ', '_')}")
    return table


def show_masters(study: Study) -> Table:
    """Return objectives and gaps of both masters over both oracles, and whether they agree."""
    evidence = study.evidence("masters")
    rows = []
    for label in evidence.datasets:
        for family in ("stumps", "kernels"):
            pair = [f"{family} / {master}" for master in ("CGENS", "CG-Boost")]
            if set(pair) <= set(evidence.methods):
                rows.append((Cell(label), Cell(family), *_pair_cells(evidence, label, pair)))
    header = ("set", "hypotheses", "CGENS", "columns", "CG-Boost", "columns", "difference", "sum of gaps")
    caption = (
        f"{scale_note(study)}Objectives of the first run, the largest difference over runs and the largest "
        "sum of the two certified gaps."
    )
    table = Table(header, tuple(rows), caption)
    save_table(study, table, "masters")
    return table


def _pair_cells(evidence, label: str, pair: list[str]) -> list[Cell]:
    values = {
        metric: [evidence.sample(metric, dataset=label, method=method).values for method in pair]
        for metric in ("objective", "gap", "columns")
    }
    if not all(len(some) for some in values["objective"]):
        return [Cell("…")] * 6
    shared = min(map(len, values["objective"]))
    objectives, gaps = (np.array([some[:shared] for some in values[m]]) for m in ("objective", "gap"))
    cells = []
    for k in range(2):
        cells += [Cell(significant(objectives[k, 0], 5)), Cell(f"{values['columns'][k][0]:.0f}")]
    difference, allowed = np.abs(np.diff(objectives, axis=0)).max(), gaps.sum(axis=0).max()
    mark = "✓" if (np.abs(np.diff(objectives, axis=0))[0] <= gaps.sum(axis=0)).all() else "✗"
    return [*cells, Cell(f"{difference:.1e}", mark=mark), Cell(f"{allowed:.1e}")]

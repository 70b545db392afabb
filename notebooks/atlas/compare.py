"""Bayesian signed-rank test: with what probability is one method better than another on the next dataset?

With differences z_1 .. z_n over datasets and a pseudo-difference z_0 = 0 of weight s, a Dirichlet process has
the posterior weights w ~ Dir(s, 1, .., 1), and the shares of pairs::

    theta_better = sum_ij w_i w_j [z_i + z_j < -2 r],  theta_worse = sum_ij w_i w_j [z_i + z_j > 2 r],

the rest are practically equal, r being the half-width of the region of practical equivalence (rope). The
probability of each outcome is the share of draws of w in which its theta is the largest.

Benavoli, Corani, Demsar and Zaffalon, Time for a change: a tutorial for comparing multiple classifiers
through Bayesian analysis, JMLR 18, 2017, section 4.2.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from kernsemble.report.ledger import Reading
from kernsemble.report.words import joined
from kernsemble.trials.evidence import Evidence, IncompleteEvidenceError
from kernsemble.trials.study import Study
from atlas.full import FULL_SETS, OUT_OF_MEMORY, OUT_OF_TIME
from atlas.trials import (
    ALL_SETS,
    BINARY_SETS,
    DIVERSITY_SETS,
    LIMIT_SETS,
    MASTER_SETS,
    MULTICLASS_SETS,
    SAME_ROWS,
)

_DRAWS = 20_000


class Outcome(NamedTuple):
    """Probabilities that the first method is better, practically equal, or worse; they sum to one."""

    better: float
    equal: float
    worse: float


def signed_rank(differences: np.ndarray, rope: float, *, prior: float = 0.5, seed: int = 0) -> Outcome:
    """Return the probabilities for errors of the first method minus those of the second.

    Parameters
    ----------
    differences : ndarray of shape (n_datasets,)
        One a dataset, negative where the error of the first method is lower.
    rope : float
        Differences between -rope and rope count as none.
    prior : float, default=0.5
        Weight of the pseudo-difference 0.
    seed : int, default=0
        Draws the weights.

    Examples
    --------
    >>> import numpy as np
    >>> from atlas.compare import signed_rank
    >>> signed_rank(np.array([-3.0, -2.0, -4.0, -2.5, -3.5, -5.0]), rope=1.0).better > 0.95
    True
    """
    z = np.append(0.0, differences)
    sums = z[:, np.newaxis] + z
    weights = np.random.default_rng(seed).dirichlet([prior, *np.ones(len(differences))], _DRAWS)
    # One pass over the draws for each region: w' M w.
    better, worse = (
        np.einsum("ti,ti->t", weights @ region.astype(np.float64), weights)
        for region in (sums < -2.0 * rope, sums > 2.0 * rope)
    )
    theta = np.column_stack([better, 1.0 - better - worse, worse])
    counts = np.bincount(theta.argmax(axis=1), minlength=3)
    return Outcome(*(counts / _DRAWS).tolist())


reading = Reading("atlas", [])
Kind = Literal["two classes", "more classes", "all sets"]
KINDS: tuple[Kind, ...] = ("two classes", "more classes", "all sets")
PEERS = ("SVM-Gauss", "RandomForest", "HistGB", "LightGBM", "XGBoost")
# Fixed before there were results: one row in a hundred decides nothing.
ROPE = 1.0  # points of error
LEVEL = 0.05


@dataclass(frozen=True)
class Comparison:
    """Means over the runs of every set that all methods were run on.

    Attributes
    ----------
    datasets, methods : tuple of str
    values : dict of str to ndarray of shape (n_datasets, n_methods)
        By metric; seconds, sizes and errors.
    """

    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    values: dict[str, np.ndarray]

    @property
    def errors(self) -> np.ndarray:
        """Mean test errors in percent, (n_datasets, n_methods)."""
        return self.values["error"]

    @property
    def ranks(self) -> pd.Series:
        """Average rank of each method over the sets, 1 the best; equal errors share their ranks."""
        ranked = stats.rankdata(self.errors.round(10), axis=1)
        return pd.Series(ranked.mean(axis=0), index=list(self.methods))

    def typical(self, metric: str) -> np.ndarray:
        """Return the geometric mean over sets for each method."""
        return np.exp(np.log(np.maximum(self.values[metric], 1e-6)).mean(axis=0))

    def by_method(self, metric: str, method: str) -> np.ndarray:
        """Return a method's means over the sets."""
        return self.values[metric][:, self.methods.index(method)]


METRICS = ("error", "fit_seconds", "tuning_seconds", "predict_seconds", "kilobytes", "size")


def compare(study: Study, kind: Kind) -> Comparison:
    """Return the comparison over two-class sets, over the others, or over all with the methods for both.

    Only sets with all runs of all methods count, and of two sets of the same rows only one.
    """
    evidence = study.evidence("arena")
    labels = labels_of(evidence, kind)
    twice = {other for one, other in SAME_ROWS.items() if one in labels}
    methods = serving(evidence, labels)
    complete = tuple(
        label for label in labels if label not in twice and evidence.is_complete(label, *methods)
    )
    values = {
        metric: np.array([[_mean(evidence, metric, label, m) for m in methods] for label in complete])
        for metric in METRICS
    }
    return Comparison(complete, methods, values)


def labels_of(evidence: Evidence, kind: Kind) -> list[str]:
    """Return the sets of the scale that a comparison is about."""
    chosen = {"two classes": BINARY_SETS, "more classes": MULTICLASS_SETS, "all sets": ALL_SETS}[kind]
    return [label for label in evidence.datasets if label in chosen]


def serving(evidence: Evidence, labels: list[str]) -> tuple[str, ...]:
    """Return the methods that are there for all of the sets."""
    return tuple(
        method
        for method in evidence.methods
        if labels and all(evidence.sample("error", dataset=x, method=method).expected for x in labels)
    )


def _mean(evidence: Evidence, metric: str, label: str, method: str) -> float:
    return evidence.sample(metric, dataset=label, method=method).mean


def friedman(comparison: Comparison) -> tuple[float, float]:
    """Return Friedman's statistic and its p-value: are all average ranks the same?"""
    found = stats.friedmanchisquare(*comparison.errors.round(10).T)
    return float(found.statistic), float(found.pvalue)


def told_apart(comparison: Comparison, limit: float) -> list[tuple[int, int]]:
    """Return the longest runs of methods, by rank, that lie within the critical difference: (first, last)."""
    ranks = np.sort(comparison.ranks.to_numpy())
    last = np.searchsorted(ranks, ranks + limit) - 1
    runs = [(first, int(end)) for first, end in enumerate(last) if end > first]
    return [run for run in runs if not any(a <= run[0] and run[1] <= b and (a, b) != run for a, b in runs)]


def critical_difference(n_methods: int, n_datasets: int, level: float = LEVEL) -> float:
    """Return the difference of average ranks from which on Nemenyi's test tells two methods apart.

    Examples
    --------
    >>> from atlas.compare import critical_difference
    >>> round(critical_difference(4, 14), 2)  # Demsar 2006, section 3.2.4
    1.25
    """
    quantile = stats.studentized_range.ppf(1.0 - level, n_methods, np.inf)
    return float(quantile * _rank_error(n_methods, n_datasets))


def _rank_error(n_methods: int, n_datasets: int) -> float:
    """Return the standard error of an average rank where methods are alike."""
    return float(np.sqrt(n_methods * (n_methods + 1) / (12.0 * n_datasets)))


def best_peer(comparison: Comparison) -> str:
    """Return the method of today with the best average rank."""
    ranks = comparison.ranks
    return str(ranks[[name for name in PEERS if name in ranks.index]].idxmin())


def against(comparison: Comparison, rival: str) -> dict[str, Outcome]:
    """Return for each other method the probabilities that it is better than a rival, equal, or worse."""
    theirs = comparison.by_method("error", rival)
    return {
        method: signed_rank(comparison.by_method("error", method) - theirs, ROPE)
        for method in comparison.methods
        if method != rival
    }


def front(cost: np.ndarray, error: np.ndarray) -> list[int]:
    """Return the places of the points that no other beats in both, cheapest first.

    Examples
    --------
    >>> import numpy as np
    >>> from atlas.compare import front
    >>> front(np.array([1.0, 2.0, 3.0, 1.5]), np.array([5.0, 4.0, 4.5, 6.0]))
    [0, 1]
    """
    chosen, best = [], np.inf
    for place in np.lexsort((error, cost)):
        if error[place] < best:
            chosen.append(int(place))
            best = error[place]
    return chosen


def full_means(evidence: Evidence, metric: str, label: str) -> dict[str, float]:
    """Return a metric of each method on all rows of a set; nan where a limit has ended it, or no row is."""
    return {method: _mean(evidence, metric, label, method) for method in evidence.methods}


# What the article says.


def whole(study: Study, kind: Kind) -> Comparison:
    """Return a comparison; raise unless every set of the paper scale is in it."""
    found, evidence = compare(study, kind), study.evidence("arena")
    chosen = {"two classes": BINARY_SETS, "more classes": MULTICLASS_SETS, "all sets": ALL_SETS}[kind]
    wanted = set(chosen) - {other for one, other in SAME_ROWS.items() if one in chosen}
    if set(found.datasets) != wanted:
        told = f"arena: {len(found.datasets)} of {len(wanted)} sets are complete ({kind})"
        raise IncompleteEvidenceError(told, stale=bool(evidence.stale))
    return found


@reading.facts(
    "limit",
    *("heart", "pima", "near", "ionosphere_times", "sonar_times", "ionosphere_left", "sonar_left", "far"),
)
def how_far_the_run_gets(study: Study) -> dict[str, float | str]:
    """Say with how many stumps no decision differs; how near errors are from 20 on; what 500 leave."""
    evidence, counts = study.evidence("limit"), np.array(study.protocol("limit")["counts"])
    mean = {
        (label, metric): np.mean(evidence.runs(metric, label, "CGENS-Stump"), axis=0)
        for label in LIMIT_SETS
        for metric in ("excess", "disagreement", "error")
    }

    def arrival(label: str) -> str:
        equal = np.flatnonzero(mean[label, "disagreement"] == 0)
        return str(counts[equal[0]]) if len(equal) else f"more than {counts[-1]}"

    def apart(label: str) -> np.ndarray:
        errors = mean[label, "error"]
        return np.abs(errors[:-1] - errors[-1])

    at = int(np.flatnonzero(counts == 500)[0])
    return {
        "heart": arrival("heart"),
        "pima": arrival("pima"),
        "near": max(apart(label)[counts >= 20].max() for label in ("heart", "pima")),
        "far": max(apart(label)[at] for label in ("ionosphere", "sonar")),
        **{f"{label}_times": 1.0 + mean[label, "excess"][at] for label in ("ionosphere", "sonar")},
        **{f"{label}_left": mean[label, "disagreement"][at] for label in ("ionosphere", "sonar")},
    }


@reading.facts("masters", "share", "pairs", "differ", "most")
def how_masters_agree(study: Study) -> dict[str, float]:
    """Return the largest difference over the gaps' sum, and in how many runs test errors differ."""
    evidence = study.evidence("masters")
    share, apart = [], []
    for label in MASTER_SETS:
        for family in ("stumps", "kernels"):
            pair = [f"{family} / {master}" for master in ("CGENS", "CG-Boost")]
            metrics = ("objective", "gap", "error")
            objective, gap, error = (evidence.array(metric, (label,), pair)[:, 0] for metric in metrics)
            share += list(np.abs(np.diff(objective)[:, 0]) / gap.sum(axis=1))
            apart += list(np.abs(np.diff(error)[:, 0]))
    apart = np.array(apart)
    return {"share": max(share), "pairs": len(apart), "differ": int((apart > 0).sum()), "most": apart.max()}


@reading.facts(
    "diversity",
    *("cgens_apart", "cgens_members", "cgens", "adaboost", "bagged_apart", "bagged", "exrm"),
)
def what_members_are_worth(study: Study) -> dict[str, float]:
    """Return means over the six sets: how often members differ, their error, and the ensemble's."""
    evidence = study.evidence("diversity")

    def mean(metric: str, method: str) -> float:
        return float(np.mean([evidence.array(metric, (d,), (method,)).mean() for d in DIVERSITY_SETS]))

    return {
        "cgens_apart": mean("disagreement", "CGENS"),
        "cgens_members": mean("member_error", "CGENS"),
        "cgens": mean("error", "CGENS"),
        "adaboost": mean("error", "AdaBoost"),
        "bagged_apart": mean("disagreement", "bagged SVMs"),
        "bagged": mean("error", "bagged SVMs"),
        "exrm": mean("error", "ExRM"),
    }


STUMPS = ("AdaBoost-Stump", "LPBoost", "CGENS-Stump", "CGENS-SLS", "MultiBoost-cw")
SMOOTH = ("SVM-Stump", "SVM-Perc", *PEERS)


@reading.facts(
    "ranks",
    *("sets", "methods", "chance", "pairs", "told_apart", "smooth", "others", "places", "perc", "perc_place"),
)
def how_methods_rank(study: Study) -> dict[str, float | str]:
    """Return Friedman's chance in percent, pairs told apart, and the groups of more classes."""
    two, more, every = (whole(study, kind) for kind in KINDS)
    limit = critical_difference(len(two.methods), len(two.datasets))
    ranks = two.ranks.to_numpy()
    distances = np.abs(ranks[:, np.newaxis] - ranks)[np.triu_indices(len(ranks), 1)]
    smooth = [more.ranks[name] for name in more.methods if name in SMOOTH]
    others = [more.ranks[name] for name in more.methods if name not in SMOOTH]
    order = list(more.ranks.sort_values().index)
    kernels = sorted(order.index(name) + 1 for name in ("SVM-Perc", "SVM-Gauss", "SVM-Stump"))
    return {
        "sets": len(two.datasets),
        "methods": len(two.methods),
        "chance": 100.0 * friedman(two)[1],
        "pairs": len(distances),
        "told_apart": int((distances >= limit).sum()),
        "smooth": f"{min(smooth):.1f} to {max(smooth):.1f}",
        "others": f"{min(others):.1f} to {max(others):.1f}",
        "places": joined([str(place) for place in kernels]),
        "perc": every.ranks["SVM-Perc"],
        "perc_place": list(every.ranks.sort_values().index).index("SVM-Perc") + 1,
    }


@reading.facts("probable", "peer", "perc", "gauss", "stumps", "more_peer", "more_level", "better")
def how_probable_it_is(study: Study) -> dict[str, float | str]:
    """Return probabilities against the best method of today: practically equal, or worse for stumps.

    more_level: methods that are not most probably worse than it; better: the largest of the papers' methods.
    """
    two, more = (whole(study, kind) for kind in KINDS[:2])
    found, others = against(two, best_peer(two)), against(more, best_peer(more))
    worse = [found[name].worse for name in STUMPS if name in found]
    level = [f"{name} ({o.equal:.2f})" for name, o in others.items() if o.worse < max(o)]
    return {
        "peer": best_peer(two),
        "perc": found["SVM-Perc"].equal,
        "gauss": found["SVM-Gauss"].equal if "SVM-Gauss" in found else np.nan,
        "stumps": f"{min(worse):.1f} to {max(worse):.1f}",
        "more_peer": best_peer(more),
        "more_level": joined(level) or "none",
        "better": max(o.better for by in (found, others) for name, o in by.items() if name not in PEERS),
    }


@reading.facts(
    "costs",
    *("machine", "ensemble", "machine_ms", "ensemble_ms", "faster", "machine_kb", "ensemble_kb"),
    *("columns", "columns_ms", "columns_error", "light", "forest", "light_times", "forest_times"),
)
def what_it_costs(study: Study) -> dict[str, float]:
    """Return errors, and geometric means over the sets of two classes of milliseconds and kilobytes."""
    found = whole(study, "two classes")

    def typical(metric: str, method: str) -> float:
        return float(found.typical(metric)[found.methods.index(method)])

    def error(method: str) -> float:
        return float(found.by_method("error", method).mean())

    def longer(method: str) -> float:
        return typical("fit_seconds", method) / typical("fit_seconds", "SVM-Perc")

    return {
        "machine": error("SVM-Stump"),
        "ensemble": error("CGENS-Stump"),
        "machine_ms": 1e3 * typical("fit_seconds", "SVM-Stump"),
        "ensemble_ms": 1e3 * typical("fit_seconds", "CGENS-Stump"),
        "faster": typical("predict_seconds", "SVM-Stump") / typical("predict_seconds", "CGENS-Stump"),
        "machine_kb": typical("kilobytes", "SVM-Stump"),
        "ensemble_kb": typical("kilobytes", "CGENS-Stump"),
        "columns": float(np.median(found.by_method("size", "CG-Boost-l1"))),
        "columns_ms": 1e3 * typical("predict_seconds", "CG-Boost-l1"),
        "columns_error": error("CG-Boost-l1"),
        "light": error("SVM-Perc") - error("LightGBM"),
        "forest": error("SVM-Perc") - error("RandomForest"),
        "light_times": longer("LightGBM"),
        "forest_times": longer("RandomForest"),
    }


@reading.facts(
    "full",
    *("trials", "time", "memory", "seconds", "megabytes", "everywhere", "stump", "gauss", "light"),
    *("stump_error", "light_error", "generated", "both", "best", "readable", "smoother", "sooner"),
)
def what_is_left_at_full_size(study: Study) -> dict[str, float | str]:
    """Say how many fits a limit ended, who ends on every set, and what machines and trees do on covertype."""
    evidence, limits = study.evidence("arena_full"), study.protocol("arena_full")["full_limits"]
    if not evidence.complete or set(evidence.datasets) != set(FULL_SETS):
        raise IncompleteEvidenceError("arena_full is incomplete", stale=bool(evidence.stale))
    found = {
        metric: {label: full_means(evidence, metric, label) for label in evidence.datasets}
        for metric in ("censored", "error", "fit_seconds")
    }
    reasons = [int(reason) for by in found["censored"].values() for reason in by.values() if reason == reason]
    errors = found["error"]

    def sets(method: str) -> int:
        return sum(bool(np.isfinite(by[method])) for by in errors.values())

    def on_the_largest(metric: str, method: str) -> str:
        value = found[metric]["covertype"][method]
        return f"{value:.3g}" if np.isfinite(value) else "more than its limit allows"

    pair = ("SVM-Perc, generated", "SVM-Perc, spread")
    both = [by for by in errors.values() if all(np.isfinite(by[name]) for name in pair)]
    readable = [label for label, by in errors.items() if np.isfinite(by["EBM"] + by["SVM-Stump"])]
    ratios = [
        found["fit_seconds"][label]["EBM"] / found["fit_seconds"][label]["SVM-Stump"] for label in readable
    ]
    best = {label: min((x for x in by if np.isfinite(by[x])), key=by.get) for label, by in errors.items()}
    return {
        "trials": len(reasons),
        "time": reasons.count(OUT_OF_TIME),
        "memory": reasons.count(OUT_OF_MEMORY),
        "seconds": limits["seconds"],
        "megabytes": limits["megabytes"],
        "everywhere": joined([name for name in evidence.methods if sets(name) == len(FULL_SETS)]),
        "stump": on_the_largest("fit_seconds", "SVM-Stump"),
        "light": on_the_largest("fit_seconds", "LightGBM"),
        "stump_error": on_the_largest("error", "SVM-Stump"),
        "light_error": on_the_largest("error", "LightGBM"),
        "gauss": sets("SVM-Gauss"),
        "generated": sum(by[pair[0]] < by[pair[1]] for by in both),
        "both": len(both),
        "readable": len(readable),
        "smoother": sum(errors[label]["SVM-Stump"] < errors[label]["EBM"] for label in readable),
        "sooner": float(np.exp(np.mean(np.log(ratios)))) if ratios else np.nan,
        "best": joined([f"{best[label]} on {label}" for label in best]),
    }
